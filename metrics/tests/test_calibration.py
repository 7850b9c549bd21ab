"""Probabilities are compared with the shares of answers that come true, bin by bin."""

import numpy as np
import pytest

import metrics
from metrics.core.figures import Curve, Grid
from metrics.tests.arrays import close, score, shares, table

seeds = pytest.mark.parametrize("seed", range(4))


def gaps(answers: np.ndarray, said: np.ndarray, bins: int) -> list[tuple[int, float]]:
    """Rows and gap of each bin, the lower end of a bin belonging to the bin below it."""
    edges, found = np.linspace(0, 1, bins + 1), []
    for place in range(bins):
        inside = (said > edges[place]) & (said <= edges[place + 1])
        inside |= (said == 0) & (place == 0)
        if inside.any():
            found.append((int(inside.sum()), abs(float(said[inside].mean() - answers[inside].mean()))))
    return found


@seeds
@pytest.mark.parametrize("bins", [1, 10, 15])
def test_it_equals_the_definition(bins: int, seed: int) -> None:
    dice = np.random.default_rng(seed)
    said = np.r_[0.0, 1.0, 0.1, 0.2, 0.3, dice.random(100).round(2)]
    answers = (dice.random(len(said)) < said**2).astype(int)
    found = gaps(answers, said, bins)
    mean = sum(rows * gap for rows, gap in found) / len(said)
    assert score("expected_calibration_error", answers, said, bins=bins) == close(mean)
    most = max(gap for _, gap in found)
    assert score("expected_calibration_error", answers, said, bins=bins, norm="max") == close(most)


@seeds
def test_of_several_classes_the_likeliest_is_judged(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = dice.integers(0, 3, 60), shares(dice, 60, 3)
    names = np.array(["ant", "bee", "cat"])
    right = (said.argmax(axis=1) == truth).astype(float)
    expected = sum(rows * gap for rows, gap in gaps(right, said.max(axis=1), 10)) / 60
    files = table(["y"], names[truth]), table(names.tolist(), said)
    assert metrics.evaluate("expected_calibration_error", *files, {"classes": "top"}).overall == close(expected)
    prepared = metrics.prepare("expected_calibration_error", files[0], {"classes": "top"})
    assert prepared.evaluate(prepared.perfect_submission()).overall == 0.0


def test_the_share_everywhere_is_calibrated_and_the_page_shows_the_bins() -> None:
    truth = [0, 1, 1, 1]
    assert score("expected_calibration_error", truth, [0.75] * 4) == 0.0
    told = metrics.explain("expected_calibration_error", table(["y"], truth), table(["y"], [0.25, 0.25, 0.75, 0.75]))
    curve, grid = told.figures
    assert isinstance(curve, Curve)
    assert isinstance(grid, Grid)
    assert curve.points == [(0.25, 0.5), (0.75, 1.0)]
    assert grid.cells == [[2, 0.25, 0.5, 0.25], [2, 0.75, 1.0, 0.25]]
