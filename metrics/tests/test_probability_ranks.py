"""Scores that only sort the rows or the labels are judged as scikit-learn, Kaggle's scripts or the definition do."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

import metrics
from metrics.core.evaluate import value_of
from metrics.core.uncertainty import Part
from metrics.tests.arrays import binary, close, score, shares, table, tied
from metrics.tests.graders import bias_auc

seeds = pytest.mark.parametrize("seed", range(5))


def test_a_row_without_labels_is_right_by_row_and_weightless_by_label() -> None:
    truth, said = [[0, 0, 0], [1, 0, 1]], [[1, 2, 3], [3, 2, 1]]
    assert score("label_ranking_average_precision", truth, said) == close(11 / 12)
    assert score("label_ranking_average_precision", truth, said, weights="labels") == close(5 / 6)
    assert score("label_ranking_average_precision", [[0, 1, 0]], [[1, 1, 1]]) == close(1 / 3)


@seeds
def test_columns_of_one_class_are_left_out_if_the_host_says_so(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 20, columns=3), tied(dice, 20, 3)
    truth[:, 1] = 0
    expected = sk.average_precision_score(truth[:, [0, 2]], said[:, [0, 2]], average="macro")
    assert score("columnwise_average_precision", truth, said, skip=True) == pytest.approx(expected, rel=1e-12)


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
    expected = bias_auc(truth.tolist(), said[:, None].tolist(), power)
    file, sent = table(["target", "x", "y", "z"], truth), table(["prediction"], said)
    assert metrics.evaluate("bias_auc", file, sent, {"power": power}).overall == pytest.approx(expected, rel=1e-12)


def test_a_subgroup_that_is_all_wrong_makes_its_mean_nothing() -> None:
    file = table(["y", "s", "t"], [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])
    said = table(["y"], [0.4, 0.5, 0.9, 0.1])
    # All rows 3/4; within s 0, within t 1; the 0s of t and the 1s outside 0; the 1s of both and the 0s outside 1.
    assert metrics.evaluate("bias_auc", file, said).overall == (3 / 4 + 0 + 0 + 1) / 4


def test_two_equal_columns_are_as_doubtful_as_one() -> None:
    dice = np.random.default_rng(5)
    truth, said = binary(dice, 50), tied(dice, 50)
    twice = (np.column_stack([truth, truth]), np.column_stack([said, said]))
    parameters: dict[str, dict[str, Any]] = {
        "roc_auc": {"skip": False},
        "average_precision": {"skip": False, "padding": 0},
    }
    for key, own in parameters.items():
        one, two = metrics.get(key).computation.influence, metrics.get(f"columnwise_{key}").computation.influence
        assert one is not None
        assert two is not None
        assert two(*twice, **own) == pytest.approx(one(truth, said), rel=1e-12)
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


def classes(seed: int, rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and a share for each in the order of their names."""
    dice = np.random.default_rng(seed)
    truth = np.array(list("abcd"))[np.r_[:4, dice.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])]]
    return truth, shares(dice, len(truth), 4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("average", "theirs"),
    [
        ("macro", {"average": "macro", "multi_class": "ovr"}),
        ("weighted", {"average": "weighted", "multi_class": "ovr"}),
        ("micro", {"average": "micro", "multi_class": "ovr"}),
        ("pairs", {"average": "macro", "multi_class": "ovo"}),
    ],
)
def test_the_area_of_several_classes_equals_scikit_learn(average: str, theirs: dict[str, str], seed: int) -> None:
    truth, said = classes(seed)
    expected = sk.roc_auc_score(truth, said, **theirs)
    sent = table(list("abcd"), said)
    assert metrics.evaluate("roc_auc", table(["y"], truth), sent, {"average": average}).overall == close(expected)
    one_hot = table(list("abcd"), (truth[:, None] == np.array(list("abcd"))).astype(int))
    assert metrics.evaluate("roc_auc", one_hot, sent, {"average": average}).overall == close(expected)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", "pairs"])
def test_the_interval_of_several_classes_is_as_wide_as_resampling_says(average: str) -> None:
    truth, said = classes(5, 300)
    prepared = metrics.prepare("roc_auc", table(["y"], truth), {"average": average})
    prediction, _, _ = prepared.read_submission(table(list("abcd"), said))
    part = Part(None, lambda: prepared.answers, lambda: prediction)
    dice = np.random.default_rng(1)
    again = [value_of(prepared, part.cut(dice.integers(0, len(truth), len(truth)))) for _ in range(300)]
    doubt = prepared.evaluate(table(list("abcd"), said), uncertainty=True).uncertainty["overall"]
    assert doubt.standard_error == pytest.approx(np.std(np.array(again, float)), rel=0.15)


def test_a_class_without_a_row_in_a_split_is_left_out_and_one_class_alone_is_the_hosts_error() -> None:
    truth = b"id,y,Usage\n1,a,Public\n2,b,Public\n3,a,Private\n4,b,Private\n5,c,Private\n"
    sent = b"id,a,b,c\n1,3,2,1\n2,1,2,3\n3,2,2,2\n4,1,3,2\n5,1,1,1\n"
    for average, public in (("macro", 0.75), ("weighted", 0.75), ("pairs", 0.75)):
        found = metrics.evaluate("roc_auc", truth, sent, {"average": average})
        assert found.public == public
    with pytest.raises(metrics.GroundTruthError, match="all its answers are the same"):
        metrics.prepare("roc_auc", table(["y"], ["a", "a"]), {"average": "macro"})


def test_an_answer_in_words_is_scored_by_the_label_that_counts() -> None:
    truth, scores = table(["y"], ["yes", "no", "no", "yes"]), table(["y"], [0.4, 0.1, 0.5, 0.9])
    for label, expected in (("yes", 0.75), (" no ", 0.25)):
        assert metrics.evaluate("roc_auc", truth, scores, {"label": label}).overall == expected
        prepared = metrics.prepare("roc_auc", truth, {"label": label})
        assert prepared.evaluate(prepared.perfect_submission()).overall == 1.0
    for label, words in (("maybe", 'none of its answers is "maybe"'), ("yes", 'all its answers are "yes"')):
        with pytest.raises(metrics.GroundTruthError, match=words):
            metrics.prepare("roc_auc", table(["y"], ["yes", "yes"]), {"label": label})


@pytest.mark.parametrize("key", ["roc_auc", "average_precision"])
def test_bo_who_sends_labels_where_an_order_counts_gets_a_score_and_a_hint(key: str) -> None:
    truth = table(["y"], [0, 1, 1, 0])
    prepared = metrics.prepare(key, truth)
    labels = prepared.evaluate(table(["y"], [0, 1, 0, 0]))
    assert [warning.code for warning in labels.warnings] == ["hint"]
    assert prepared.check(table(["y"], [0, 1, 0, 0])) == labels.warnings
    assert prepared.evaluate(table(["y"], [0, 1, 0.5, 0])).warnings == ()


@seeds
@pytest.mark.parametrize("limit", [0.03, 0.1, 0.5, 0.8, 1.0])
def test_a_partial_area_equals_scikit_learn_on_both_sides(limit: float, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 40), tied(dice, 40)
    expected = float(sk.roc_auc_score(truth, said, max_fpr=limit))
    assert score("partial_roc_auc", truth, said, limit=limit) == close(expected)
    turned = float(sk.roc_auc_score(1 - truth, -said, max_fpr=limit))
    assert score("partial_roc_auc", truth, said, limit=limit, side="tpr") == close(turned)
    area = (turned * 2 - 1) * (limit - limit**2 / 2) + limit**2 / 2 if limit < 1 else turned
    assert score("partial_roc_auc", truth, said, limit=limit, side="tpr", scale="area") == close(area)
    assert score("partial_roc_auc", truth, said, limit=limit, side="tpr", scale="share") == close(area / limit)
    prepared = metrics.prepare("partial_roc_auc", table(["y"], truth), {"limit": limit, "scale": "area"})
    assert prepared.evaluate(prepared.perfect_submission()).overall == limit


@seeds
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_the_area_of_several_columns_equals_scikit_learn(average: str, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 40, columns=3), tied(dice, 40, 3)
    expected = float(sk.roc_auc_score(truth, said, average=average))
    assert score("columnwise_roc_auc", truth, said, average=average) == close(expected)
    prepared = metrics.prepare("columnwise_roc_auc", table(["c0", "c1", "c2"], truth), {"average": average})
    sent = table(["c0", "c1", "c2"], said)
    prediction, _, _ = prepared.read_submission(sent)
    part = Part(None, lambda: prepared.answers, lambda: prediction)
    again = [value_of(prepared, part.cut(dice.integers(0, 40, 40))) for _ in range(300)]
    doubt = prepared.evaluate(sent, uncertainty=True).uncertainty["overall"]
    known = np.array([value for value in again if value is not None])
    assert doubt.standard_error == pytest.approx(known.std(), rel=0.25)
