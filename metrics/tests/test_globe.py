"""Distances on the globe against directions in space, computed with 60 decimal digits."""

import random
from decimal import Decimal, localcontext

import numpy as np
import pytest

import metrics

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
Place = tuple[float, float]


def sine(angle: Decimal) -> Decimal:
    """The series of Taylor; exact to 60 digits for angles up to some turns."""
    term = total = angle
    for step in range(1, 200):
        term *= -angle * angle / (2 * step * (2 * step + 1))
        total += term
        if abs(term) < Decimal(10) ** -65:
            break
    return total


def cosine(angle: Decimal) -> Decimal:
    return sine(PI / 2 - angle)


def direction(place: Place) -> tuple[Decimal, Decimal, Decimal]:
    height, turn = (Decimal(number) * PI / 180 for number in place)
    return cosine(height) * cosine(turn), cosine(height) * sine(turn), sine(height)


def angle_between(first: Place, second: Place) -> Decimal:
    """The angle whose sine is the length of the cross product, and its cosine the scalar product."""
    (a, b, c), (x, y, z) = direction(first), direction(second)
    cross = (b * z - c * y, c * x - a * z, a * y - b * x)
    high, wide = sum((part * part for part in cross), Decimal()).sqrt(), a * x + b * y + c * z
    angle = Decimal(float(np.arctan2(float(high), float(wide))))
    for _ in range(4):  # Newton's steps; each doubles the digits
        angle += high * cosine(angle) - wide * sine(angle)
    return angle


def near(place: Place, step: float, dice: random.Random) -> Place:
    """A place about so many degrees away."""
    height, turn = place[0] + step * dice.uniform(-1, 1), place[1] + step * dice.uniform(-1, 1)
    return max(-90.0, min(90.0, height)), max(-180.0, min(360.0, turn))


def opposite(place: Place) -> Place:
    return -place[0], place[1] - 180 if place[1] > 0 else place[1] + 180


def pairs() -> list[tuple[Place, Place]]:
    dice = random.Random(17)
    found = [
        ((0.0, 0.0), (0.0, 180.0)),
        ((90.0, 5.0), (-90.0, 77.0)),
        ((0.0, -180.0), (0.0, 180.0)),
        ((0.0, 0.0), (0.0, 0.0)),
    ]
    found += [
        ((12.0, 359.0), (12.0, -1.0)),
        ((90.0, 10.0), (90.0, 190.0)),
        ((5.0, 179.9999999999), (5.0, -179.9999999999)),
    ]
    for step in (0.0, 1e-13, 1e-10, 1e-7, 1e-4, 0.1, 30.0):
        for _ in range(6):
            place = dice.uniform(-90, 90), dice.uniform(-180, 360)
            pole = dice.choice((-1, 1)) * (90 - 10 ** dice.uniform(-12, 0)), dice.uniform(-180, 360)
            seam = dice.uniform(-90, 90), dice.choice((-180.0, 180.0))
            for start in (place, pole, seam):
                found += [(start, near(start, step, dice)), (start, near(opposite(start), step, dice))]
    return found


@pytest.mark.thorough
def test_the_distance_has_all_its_digits_between_any_two_places() -> None:
    with localcontext() as context:
        context.prec = 60
        for first, second in pairs():
            truth, said = (f"id,latitude,longitude\n1,{h!r},{t!r}\n".encode() for h, t in (first, second))
            found = metrics.evaluate("mean_haversine", truth, said, {"radius": 1}).overall
            wanted = angle_between(first, second)
            assert abs(Decimal(found) - wanted) <= Decimal("1e-15") * abs(wanted) + Decimal("1e-50"), (first, second)


def test_the_angle_between_directions_has_all_its_digits_where_they_are_opposite() -> None:
    for step in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        truth, said = (
            b"id,azimuth,zenith\n1,0,0.5\n",
            f"id,azimuth,zenith\n1,{np.pi!r},{np.pi - 0.5 - step!r}\n".encode(),
        )
        found = metrics.evaluate("mean_angular_error", truth, said).overall
        assert found == pytest.approx(np.pi - step, abs=1e-15)
