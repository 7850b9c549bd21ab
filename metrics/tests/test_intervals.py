"""The 95 % intervals hold the value of a large sample nearly as often as they say, also where a class is rare."""

import numpy as np
import pytest

import metrics
from bench.intervals import KINDS, LEAST, MOST, SIZES, Kind, coverage, uncertainties

PROMISED = [kind for kind in KINDS if kind.is_promised]
SEVEN = ("accuracy", "rmse", "roc_auc", "f1", "balanced_accuracy", "cohen_kappa", "map_at_k")
HARDEST = [next(kind for kind in PROMISED if kind.metric == key) for key in SEVEN]
SETS = 120
NOISE = 2.5 * (0.95 * 0.05 / SETS) ** 0.5
"""Two and a half standard errors of the share of so many intervals."""


@pytest.mark.parametrize("kind", HARDEST, ids=lambda kind: kind.metric)
def test_the_interval_holds_the_true_value_in_90_to_98_of_100_small_classes(kind: Kind) -> None:
    assert LEAST - NOISE <= coverage(kind, 50, SETS) <= MOST + NOISE


@pytest.mark.long
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", PROMISED, ids=lambda kind: f"{kind.metric}-{kind.words}")
def test_the_interval_holds_the_true_value_in_90_to_98_of_100_classes(kind: Kind, rows: int) -> None:
    noise = 3 * (0.95 * 0.05 / 500) ** 0.5
    assert LEAST - noise <= coverage(kind, rows, 500) <= MOST + noise


@pytest.mark.parametrize("key", ["f1", "balanced_accuracy"])
def test_the_simulation_tells_an_interval_that_trusts_the_standard_error_alone(key: str) -> None:
    kind = HARDEST[SEVEN.index(key)]
    held = []
    for found in uncertainties(kind, 50, SETS):
        assert found.standard_error is not None
        middle = float(np.mean(found.replicates))
        held.append(abs(middle - kind.value) <= 1.96 * found.standard_error)
    assert np.mean(held) < LEAST - NOISE


def csv(cells: str) -> bytes:
    return ("id,y\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells))).encode()


def said_of(key: str, truth: str, sent: str) -> metrics.Uncertainty:
    return metrics.prepare(key, csv(truth)).evaluate(csv(sent), uncertainty=True).uncertainty["overall"]


def test_adas_file_without_a_mistake_may_make_some_on_other_rows() -> None:
    found = said_of("accuracy", "ab" * 25, "ab" * 25)
    assert (found.standard_error, found.high) == (0.0, 1.0)
    assert found.low == pytest.approx(0.9287, abs=1e-4)  # Wilson's interval for 50 of 50


@pytest.mark.parametrize("key", ["f1", "balanced_accuracy", "roc_auc"])
def test_two_right_rows_of_a_rare_class_say_less_than_fifty_of_each(key: str) -> None:
    rare, common = "1" * 2 + "0" * 98, "1" * 50 + "0" * 50
    few, many = (said_of(key, truth, truth) for truth in (rare, common))
    assert few.low < many.low - 0.1
    assert few.low > 0.2


def test_bo_and_cy_who_are_equally_good_are_seldom_told_apart_where_a_class_is_rare() -> None:
    """Both are right as often, on rows of their own. The paired differences without a regard for the two or three rows
    of the rarest class told every fourth pair apart."""
    dice, right, pairs = np.random.default_rng(5), np.array([0.85, 0.80, 0.60]), 150
    apart = 0
    for _ in range(pairs):
        truth = dice.choice(3, 50, p=[0.60, 0.35, 0.05])
        prepared = metrics.prepare("balanced_accuracy", csv("".join(map(str, truth))))
        results = []
        for _ in ("bo", "cy"):
            sent = np.where(dice.random(50) < right[truth], truth, (truth + dice.integers(1, 3, 50)) % 3)
            results.append(prepared.evaluate(csv("".join(map(str, sent))), uncertainty=True))
        found = metrics.compare(results[0], results[1])
        apart += not found.low <= 0 <= found.high
    assert apart / pairs < 0.15


def test_an_error_of_numbers_reaches_further_up_than_down() -> None:
    result = metrics.prepare("rmse", csv("0" * 60)).evaluate(csv("0123456" * 8 + "0123"), uncertainty=True)
    found = result.uncertainty["overall"]
    assert 0 < found.low < result.overall < found.high
    assert found.high / result.overall == pytest.approx(result.overall / found.low)
