"""Scores that only sort the rows or the labels are judged as scikit-learn, Kaggle's scripts or the definition do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

import metrics
from metrics.core.arrays import take
from metrics.core.contract import sums_of
from metrics.core.parameters import chosen
from metrics.reading.class_columns import Classes
from metrics.tests.arrays import binary, close, score, table, tied

seeds = pytest.mark.parametrize("seed", range(5))


@seeds
def test_label_weighted_ranking_precision_equals_the_definition(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 12, columns=5), dice.permuted(np.tile(np.arange(5), (12, 1)), axis=1)
    found = []
    for answers, scores in zip(truth.tolist(), said.tolist(), strict=True):
        ranked = [answer for _, answer in sorted(zip(scores, answers, strict=True), reverse=True)]
        found += [sum(ranked[: place + 1]) / (place + 1) for place, answer in enumerate(ranked) if answer]
    value = score("label_ranking_average_precision", truth, said, weights="labels")
    assert value == pytest.approx(sum(found) / len(found), rel=1e-12)


def test_a_row_without_labels_is_right_by_row_and_weightless_by_label() -> None:
    truth, said = [[0, 0, 0], [1, 0, 1]], [[1, 2, 3], [3, 2, 1]]
    assert score("label_ranking_average_precision", truth, said) == close(11 / 12)
    assert score("label_ranking_average_precision", truth, said, weights="labels") == close(5 / 6)
    assert score("label_ranking_average_precision", [[0, 1, 0]], [[1, 1, 1]]) == close(1 / 3)


@seeds
def test_padded_average_precision_is_that_of_a_padded_file(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 20, columns=3), tied(dice, 20, 3)
    truth[:, 1] = 0
    added = np.ones((5, 3))
    expected = sk.average_precision_score(np.vstack([truth, added]), np.vstack([said, added]), average="macro")
    assert score("columnwise_average_precision", truth, said, padding=5) == pytest.approx(expected, rel=1e-12)
    kept = [0, 2]
    expected = sk.average_precision_score(truth[:, kept], said[:, kept], average="macro")
    assert score("columnwise_average_precision", truth, said, skip=True) == pytest.approx(expected, rel=1e-12)
    expected = sk.roc_auc_score(truth[:, kept], said[:, kept], average="macro")
    assert score("columnwise_roc_auc", truth, said, skip=True) == pytest.approx(expected, rel=1e-12)


def corners(truth: np.ndarray, said: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """The ROC curve: shares of 0s and of 1s at each distinct score, from the highest down."""
    ones, zeros = int((truth == 1).sum()), int((truth == 0).sum())
    points = [(Fraction(0), Fraction(0))]
    for least in sorted(set(said.tolist()), reverse=True):
        taken = truth[said >= least]
        points.append((Fraction(int((taken == 0).sum()), zeros), Fraction(int((taken == 1).sum()), ones)))
    return points


def area_between(points: list[tuple[Fraction, Fraction]], low: Fraction, high: Fraction) -> Fraction:
    """The area right of the curve between two heights."""
    area = Fraction()
    for (left, start), (right, end) in itertools.pairwise(points):
        bottom, top = max(start, low), min(end, high)
        if top > bottom:
            at = [left + (right - left) * (height - start) / (end - start) for height in (bottom, top)]
            area += (top - bottom) * (1 - (at[0] + at[1]) / 2)
    return area


REGIONS = [("0, 0.4, 1", "2, 1"), ("0 0.2 0.4 0.6 0.8 1", "4 3 2 1 0"), ("0,1", "3")]


@seeds
@pytest.mark.parametrize(("thresholds", "weights"), REGIONS)
def test_weighted_auc_is_the_exact_area_of_its_regions(thresholds: str, weights: str, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth = binary(dice, 3 + 6 * seed)
    edges = [Fraction(word) for word in thresholds.replace(",", " ").split()]
    each = [int(word) for word in weights.replace(",", " ").split()]
    for said in (tied(dice, len(truth)), dice.random(len(truth)), np.zeros(len(truth))):
        points = corners(truth, said)
        slices = list(zip(each, edges, edges[1:], strict=False))
        area = sum(weight * area_between(points, low, high) for weight, low, high in slices)
        expected = float(area / sum(weight * (high - low) for weight, low, high in slices))
        found = score("weighted_roc_auc", truth, said, thresholds=thresholds, weights=weights)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)
        if len(each) == 1:
            assert found == close(sk.roc_auc_score(truth, said))


@seeds
def test_weighted_auc_equals_the_competitions_scripts_where_no_scores_are_equal(seed: int) -> None:
    """Flavours cuts the curve at each height and takes differences; ALASKA2 closes each region at the right side."""
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 60), dice.permutation(60) / 60
    fpr, tpr, _ = sk.roc_curve(truth, said)
    alaska = 0.0
    for weight, low, high in ((2, 0.0, 0.4), (1, 0.4, 1.0)):
        inside = (tpr > low) & (tpr < high)
        x, y = [*fpr[inside], 1.0], [*tpr[inside], high]
        edge = fpr[inside][-1]
        x.insert(-1, edge)
        y.insert(-1, high)
        alaska += weight * sk.auc(x, np.array(y) - low) / 1.4
    assert score("weighted_roc_auc", truth, said) == pytest.approx(alaska, rel=1e-12)
    edges, weights = [0, 0.2, 0.4, 0.6, 0.8, 1], [2, 1.5, 1, 0.5, 0]
    cuts = [sk.auc(fpr, np.minimum(tpr, edge)) for edge in edges]
    flavours = sum(weight * (b - a) for weight, a, b in zip(weights, cuts, cuts[1:], strict=False)) / (
        0.2 * sum(weights)
    )
    found = score("weighted_roc_auc", truth, said, thresholds="0,0.2,0.4,0.6,0.8,1", weights="2,1.5,1,0.5,0")
    assert found == pytest.approx(flavours, rel=1e-12)


def kaggles_gini(truth: Sequence[float], order: Sequence[int]) -> float:
    """The area between the growing share of the answers and that of a guess, rows taken in the given order."""
    found, area, whole = 0.0, 0.0, sum(truth)
    for row in order:
        found += truth[row]
        area += found / whole
    return (area - (len(truth) + 1) / 2) / len(truth)


def normalised_gini(truth: Sequence[float], order: Sequence[int]) -> float:
    best = sorted(range(len(truth)), key=lambda row: -truth[row])
    return kaggles_gini(truth, order) / kaggles_gini(truth, best)


@seeds
def test_gini_equals_kaggles_definition_where_no_scores_are_equal(seed: int) -> None:
    dice = np.random.default_rng(seed)
    for truth in (binary(dice, 40), dice.integers(0, 5, 40), dice.exponential(1e3, 40)):
        said = dice.permutation(40)
        expected = normalised_gini(truth.tolist(), np.argsort(-said).tolist())
        assert score("gini", truth, said) == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_equal_scores_give_the_mean_over_all_orders_of_the_file() -> None:
    truth, said = [3.0, 0.0, 1.0, 2.0, 0.5], [1, 1, 2, 1, 2]
    orders = [order for order in itertools.permutations(range(5)) if {*order[:2]} == {2, 4}]
    assert len(orders) == 12
    expected = sum(normalised_gini(truth, order) for order in orders) / 12
    assert score("gini", truth, said) == pytest.approx(expected, rel=1e-12)


@seeds
def test_gini_keeps_its_digits_where_large_answers_differ_little(seed: int) -> None:
    dice = np.random.default_rng(seed)
    amounts, said = 1e9 + dice.integers(0, 2**20, 40) / 2**20, dice.permutation(40) / 1.0
    found = {name: score("gini", answers, said) for name, answers in {"far": amounts, "near": amounts - 1e9}.items()}
    assert found["far"] == pytest.approx(found["near"], rel=1e-12)
    assert score("gini", amounts, amounts) == 1.0
    assert score("gini", amounts, -amounts) == -1.0


@seeds
def test_gini_of_two_classes_is_twice_the_auc_less_one(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 30), tied(dice, 30)
    assert score("gini", truth, said) == close(2 * sk.roc_auc_score(truth, said) - 1)


@seeds
@pytest.mark.parametrize("power", [-5.0, -1.0])
def test_bias_auc_equals_jigsaws_definition(power: float, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = dice.integers(0, 2, (60, 4)), tied(dice, 60)
    answer, groups = truth[:, 0], truth[:, 1:].T
    means = []
    for kind in ("within", "1s outside", "0s outside"):
        areas = []
        for group in groups:
            inside = {
                "within": group == 1,
                "1s outside": ((group == 1) & (answer == 0)) | ((group == 0) & (answer == 1)),
                "0s outside": ((group == 1) & (answer == 1)) | ((group == 0) & (answer == 0)),
            }[kind]
            areas.append(sk.roc_auc_score(answer[inside], said[inside]))
        means.append((sum(area**power for area in areas) / len(areas)) ** (1 / power))
    expected = 0.25 * sk.roc_auc_score(answer, said) + sum(0.25 * mean for mean in means)
    file, sent = table(["target", "x", "y", "z"], truth), table(["prediction"], said)
    assert metrics.evaluate("bias_auc", file, sent, {"power": power}).overall == pytest.approx(expected, rel=1e-12)


def test_a_subgroup_that_is_all_wrong_makes_its_mean_nothing() -> None:
    file = table(["y", "s", "t"], [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])
    said = table(["y"], [0.4, 0.5, 0.9, 0.1])
    # All rows 3/4; within s 0, within t 1; the 0s of t and the 1s outside 0; the 1s of both and the 0s outside 1.
    assert metrics.evaluate("bias_auc", file, said).overall == (3 / 4 + 0 + 0 + 1) / 4


def value_of(metric: metrics.Metric, truth: Any, prediction: np.ndarray, params: dict[str, Any]) -> float:
    """The score of arrays, by the whole column where the metric has such a function."""
    if metric.computation.score is not None:
        return metric.computation.score(truth, prediction, **chosen(metric.computation.score, params))
    assert metric.computation.rows is not None
    assert metric.computation.total is not None
    sums = sums_of(metric.computation.rows(truth, prediction, **chosen(metric.computation.rows, params)), None)
    value = metric.computation.total(np.array(list(map(float, sums))), **chosen(metric.computation.total, params))
    assert value is not None
    return value


INFLUENCES: list[tuple[str, int, dict[str, Any]]] = [
    ("average_precision", 1, {}),
    ("columnwise_average_precision", 3, {"skip": False, "padding": 0}),
    ("columnwise_average_precision", 3, {"skip": False, "padding": 2}),
    ("weighted_roc_auc", 1, {"thresholds": "0, 0.41, 1", "weights": "2, 1"}),
    ("weighted_roc_auc", 1, {"thresholds": "0, 0.11, 0.32, 0.77, 1", "weights": "1, 3, 0, 2"}),
    ("gini", 1, {}),
    ("multiclass_log_loss", 3, {"clip": 1e-15, "normalise": True, "class_weights": "1,2,3"}),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("key", "columns", "params"), INFLUENCES)
def test_the_influence_of_a_row_is_the_derivative_by_its_weight(
    key: str, columns: int, params: dict[str, Any], seed: int
) -> None:
    """With 300 copies of each row, one copy more or less of a row is a small change of its weight."""
    copies, dice = 300, np.random.default_rng(seed)
    metric, truth = metrics.get(key), binary(dice, 11, columns=columns).astype(float)
    said = dice.integers(1, 8, truth.shape) / 10
    answers: Any = truth
    if key == "multiclass_log_loss":
        answers = Classes(dice.integers(0, 3, 11), ("a", "b", "c"))
    if key == "gini":
        answers = dice.integers(0, 4, 11) * 1.0
    if "padding" in params:
        said = said + 0.4
    assert metric.computation.influence is not None
    claimed = metric.computation.influence(answers, said, **chosen(metric.computation.influence, params))
    grown = {**params, "padding": params["padding"] * copies} if "padding" in params else params
    for row in range(11):
        values = []
        for more in (1, -1):
            times = np.full(11, copies)
            times[row] += more
            rows = np.repeat(np.arange(11), times)
            values.append(value_of(metric, take(answers, rows), said[rows], grown))
        assert claimed[row] == pytest.approx((values[0] - values[1]) / 2 * copies, rel=1e-3, abs=2e-5)


def test_two_equal_columns_are_as_doubtful_as_one() -> None:
    dice = np.random.default_rng(5)
    truth, said = binary(dice, 50), tied(dice, 50)
    twice = (np.column_stack([truth, truth]), np.column_stack([said, said]))
    for key in ("roc_auc", "average_precision"):
        one, two = metrics.get(key).computation.influence, metrics.get(f"columnwise_{key}").computation.influence
        assert one is not None
        assert two is not None
        assert two(*twice) == pytest.approx(one(truth, said), rel=1e-12)
    whole = metrics.get("weighted_roc_auc").computation.influence
    assert whole is not None
    found = whole(truth, said, thresholds="0,1", weights="1")
    delong = metrics.get("roc_auc").computation.influence
    assert delong is not None
    factor = {one: math.sqrt((truth == one).sum() / ((truth == one).sum() - 1)) for one in (0, 1)}
    assert found * np.where(truth == 1, factor[1], factor[0]) == pytest.approx(delong(truth, said), rel=1e-9)


def test_a_class_of_its_own_mean_makes_the_doubt_of_the_mean_over_classes() -> None:
    dice = np.random.default_rng(6)
    truth, said = dice.integers(0, 3, 200), dice.integers(1, 9, (200, 3)) / 10
    lost = -np.log(said[np.arange(200), truth] / said.sum(axis=1))
    groups = [lost[truth == code] for code in range(3)]
    expected = math.sqrt(sum(group.var() / len(group) for group in groups)) / 3
    prepared = metrics.prepare(
        "multiclass_log_loss", table(["a", "b", "c"], np.eye(3, dtype=int)[truth]), {"average": "classes"}
    )
    doubt = prepared.evaluate(table(["a", "b", "c"], said), uncertainty=True).uncertainty["overall"]
    assert doubt.standard_error == pytest.approx(expected, rel=1e-12)
