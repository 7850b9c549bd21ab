"""Mean distance on the globe between true and predicted places, in kilometres.

$$d = 2R\\,\\arcsin\\sqrt{\\sin^2\\frac{\\hat\\varphi - \\varphi}{2}
+ \\cos\\varphi\\,\\cos\\hat\\varphi\\,\\sin^2\\frac{\\hat\\lambda - \\lambda}{2}}$$

and the mean over rows. Both files have two columns in degrees: latitude $\\varphi$ from -90 to 90 and longitude
$\\lambda$ from -180 to 360 (359 and -1 are one meridian). If their names do not begin with `lat` and `lon`, the
latitude is the first. `radius` $R$ is 6371 km; another one gives another unit, such as 3958.8 for miles.

0 is perfect. The earth is taken as a sphere: one degree of latitude is 111.195 km everywhere, one degree of longitude
as much at the equator, half at 60°, nothing at a pole. No two places are further apart than 20,015.09 km. The arc sine
itself would lose half of the digits between opposite places; the same angle is computed by an arc tangent, which keeps
them.

Source: "ECML/PKDD 15: Taxi Trajectory Prediction" on Kaggle; equals scikit-learn's `haversine_distances` times $R$.
"""

import math
from typing import Annotated

import numpy as np

from ..core.contract import ByParameters, Example, Metric
from ..core.messages import Message
from ..core.parameters import Range
from ..numerics.averages import mean_over_rows
from ..reading.number_kinds import Fields, Number

Radius = Annotated[float, Range(0, 1e9, exclusive_minimum=True), "Radius of the globe; its unit is the score's."]
PLACE = Fields(
    Message("latitude, longitude"),
    by_name=True,
    latitude=Number(minimum=-90, maximum=90),
    longitude=Number(minimum=-180, maximum=360),
)


def arc(height: np.ndarray, mirrored: np.ndarray, turn: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The angle in radians between two points of a sphere.

    ``height`` and ``turn`` are the differences of latitude and longitude in radians, ``mirrored`` is the sum of both
    latitudes (the difference of latitude between one point and the other's mirror image across the equator), and
    ``widths`` the product of the cosines of both latitudes.

    The arc cosine of the scalar product loses half of the digits for small angles, the arc sine of the haversine for
    angles near 180°. Here the squares of the sine and of the cosine of the half angle are sums without a cancellation.
    """
    sine = np.sin(height / 2) ** 2 + widths * np.sin(turn / 2) ** 2
    cosine = np.sin(mirrored / 2) ** 2 + widths * np.cos(turn / 2) ** 2
    return 2 * np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))


def distance(truth: np.ndarray, prediction: np.ndarray, *, radius: Radius = 6371.0) -> np.ndarray:
    height = np.radians(prediction[:, 0] - truth[:, 0])
    mirrored = np.radians(prediction[:, 0] + truth[:, 0])
    turn = np.radians(_turn(truth[:, 1], prediction[:, 1]))
    widths = _width(truth[:, 0]) * _width(prediction[:, 0])
    return radius * arc(height, mirrored, turn, widths)


def _width(latitude: np.ndarray) -> np.ndarray:
    """The cosine of a latitude, computed so that it is also exact near the poles."""
    return np.sin(np.radians(90 - np.abs(latitude)))


def _turn(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The difference of longitudes in degrees, at most 180."""
    first, second = (np.where(one > 180, one - 360, one) for one in (first, second))
    direct = np.abs(first - second)
    across = (180 - np.abs(first)) + (180 - np.abs(second))
    return np.where(direct > 180, across, direct)


def worst(*, radius: Radius = 6371.0) -> float:
    return math.pi * radius


mean_haversine = Metric(
    title="Mean haversine distance",
    group="Numbers",
    direction="minimize",
    truth=PLACE,
    computation=mean_over_rows(distance),
    by_parameters=ByParameters(worst=worst),
    example=Example(
        truth="id,latitude,longitude\n1,0,0\n2,60,10\n3,41.15,-8.61\n",
        submission="id,latitude,longitude\n1,0,1\n2,60,11\n3,41.15,-8.61\n",
        score=55.597286905233204,
    ),
)
