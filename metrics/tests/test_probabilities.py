"""Probabilities are judged as scikit-learn, scipy, Kaggle's pages or the plain definition judge them."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import rel_entr
from sklearn import metrics as sk

import metrics
from metrics.tests.arrays import binary, close, names_of, score, shares, table, tied

seeds = pytest.mark.parametrize("seed", range(5))
EPSILON = float(np.finfo(float).eps)  # where scikit-learn clips

PLAIN: dict[str, Callable[..., float]] = {
    "brier": sk.brier_score_loss,
    "average_precision": sk.average_precision_score,
}


@seeds
@pytest.mark.parametrize("key", PLAIN)
def test_one_column_equals_scikit_learn(key: str, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth = binary(dice, 2 + 9 * seed)
    for said in (tied(dice, len(truth)), dice.random(len(truth)), np.full(len(truth), 0.3)):
        assert score(key, truth, said) == close(PLAIN[key](truth, said))


COLUMNS: dict[str, Callable[..., float]] = {
    "columnwise_roc_auc": lambda t, p: sk.roc_auc_score(t, p, average="macro"),
    "columnwise_average_precision": lambda t, p: sk.average_precision_score(t, p, average="macro"),
    "label_ranking_average_precision": sk.label_ranking_average_precision_score,
    "columnwise_log_loss": lambda t, p: float(
        np.mean([sk.log_loss(a, b, labels=[0, 1]) for a, b in zip(t.T, p.T, strict=True)])
    ),
}


@seeds
@pytest.mark.parametrize("key", COLUMNS)
def test_several_columns_equal_scikit_learn(key: str, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth = binary(dice, 3 + 9 * seed, columns=2 + seed)
    params = {"clip": EPSILON} if key == "columnwise_log_loss" else {}
    for said in (tied(dice, *truth.shape), dice.random(truth.shape), np.full(truth.shape, 0.3)):
        assert score(key, truth, said, **params) == close(COLUMNS[key](truth, said))


@pytest.mark.parametrize("key", ["average_precision", "weighted_roc_auc", "gini", "columnwise_roc_auc"])
def test_only_the_order_of_scores_matters_however_extreme_they_are(key: str) -> None:
    truth = [1, 0, 1, 0, 0, 1]
    tame, wild = [3, 2, 2, 1, 0, 0], [1e308, 0.0, -0.0, -5e-324, -1e308, -1e308]
    assert score(key, truth, wild) == score(key, truth, tame)


def test_a_sure_and_wrong_probability_costs_what_the_page_says() -> None:
    assert score("columnwise_log_loss", [[1, 0]] * 50, [[1.0, 0.0]] * 49 + [[0.0, 0.0]]) == pytest.approx(
        0.345, abs=5e-4
    )
    assert score("multiclass_log_loss", [[1, 0]], [[0.0, 1.0]]) == close(15 * math.log(10))
    assert score("multiclass_log_loss", [[1, 0]], [[5e-324, 1.0]]) == close(15 * math.log(10))
    assert score("kl_divergence", [[1, 0]], [[0, 1]]) == close(15 * math.log(10))
    assert score("kl_divergence", [[0.5, 0.5]], [[0.9, 0.1]]) == pytest.approx(0.511, abs=5e-4)


@seeds
def test_multiclass_log_loss_equals_scikit_learn_for_labels_and_for_columns(seed: int) -> None:
    dice = np.random.default_rng(seed)
    said = shares(dice, 4 + 6 * seed, 3)
    truth = dice.integers(0, 3, len(said))
    truth[:3] = [2, 0, 1]
    params = {"normalise": False, "clip": EPSILON}
    expected = sk.log_loss(truth, said)
    assert score("multiclass_log_loss", np.eye(3, dtype=int)[truth], said, **params) == close(expected)
    labels = table(["y"], [f"c{code}" for code in truth])
    found = metrics.evaluate("multiclass_log_loss", labels, table(names_of(said), said), params)
    assert found.overall == close(expected)
    scaled = dice.uniform(0.01, 1, (len(said), 1)) * said
    assert scaled.sum(axis=1).min() < 0.9
    assert score("multiclass_log_loss", np.eye(3, dtype=int)[truth], scaled, clip=EPSILON) == pytest.approx(
        expected, rel=1e-9
    )


def test_multiclass_log_loss_gives_the_value_of_kaggles_own_page() -> None:
    truth = [[1, 0]] * 3 + [[0, 1]] * 3
    said = [[0.5, 0.5], [0.1, 0.9], [0.01, 0.99], [0.9, 0.1], [0.75, 0.25], [0.001, 0.999]]
    assert score("multiclass_log_loss", truth, said) == close(1.881797068998267)


@seeds
@pytest.mark.parametrize("weights", [None, "2,0,1"])
def test_classes_count_equally_if_the_host_says_so(weights: str | None, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = dice.integers(0, 3, 5 + 4 * seed), shares(dice, 5 + 4 * seed, 3)
    truth[0] = 2
    lost: dict[int, list[float]] = {}
    for code, row in zip(truth.tolist(), said, strict=True):
        lost.setdefault(code, []).append(-math.log(max(row[code], 1e-15)))
    weight = [2, 0, 1] if weights else [1, 1, 1]
    by_class = sum(weight[code] * sum(one) / len(one) for code, one in lost.items()) / sum(
        weight[code] for code in lost
    )
    by_row = sum(weight[code] * sum(one) for code, one in lost.items()) / sum(
        weight[code] * len(one) for code, one in lost.items()
    )
    hot, params = np.eye(3, dtype=int)[truth], {"class_weights": weights}
    assert score("multiclass_log_loss", hot, said, average="classes", **params) == pytest.approx(by_class, rel=1e-12)
    assert score("multiclass_log_loss", hot, said, **params) == pytest.approx(by_row, rel=1e-12)


def test_a_row_of_zeros_counts_as_equal_probabilities() -> None:
    assert score("multiclass_log_loss", [[1, 0, 0]], [[0, 0, 0]]) == close(math.log(3))
    assert score("multiclass_log_loss", [[0, 0, 1]], [[0.5, 0.5, 1]]) == close(math.log(2))


def test_the_classes_are_all_labels_of_the_file_whatever_their_split() -> None:
    truth = b'id,y,Usage\n1,b,Public\n2,"a, or ""b""",Private\n3,c d,Ignored\n4,,Ignored\n'
    prepared = metrics.prepare("multiclass_log_loss", truth)
    assert prepared.submission_columns == ("id", 'a, or "b"', "b", "c d")
    assert prepared.evaluate(prepared.sample_submission()).public == close(math.log(3))
    assert prepared.evaluate(prepared.perfect_submission()).overall == 0.0
    numbers = metrics.prepare("top_k_accuracy", b"id,y\n1,10\n2,9\n3,2.5\n")
    assert numbers.submission_columns == ("id", "2.5", "9", "10")


@seeds
def test_top_k_accuracy_equals_scikit_learn_ties_included(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = dice.integers(0, 5, 30), tied(dice, 30, 5)
    for k in range(1, 5):
        expected = sk.top_k_accuracy_score(truth, said, k=k, labels=range(5))
        assert score("top_k_accuracy", np.eye(5, dtype=int)[truth], said, k=k) == expected


@seeds
def test_kl_divergence_equals_scipy(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = shares(dice, 1 + 5 * seed, 4), shares(dice, 1 + 5 * seed, 4)
    truth[0] = [0, 1, 0, 0]
    expected = rel_entr(truth, np.clip(said, 1e-15, 1 - 1e-15)).sum(axis=1).mean()
    assert score("kl_divergence", truth, said, normalise=False) == pytest.approx(expected, rel=1e-12, abs=1e-14)
    loose = said * dice.uniform(0.9992, 1.0, (len(said), 1))
    assert score("kl_divergence", truth, loose) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert score("kl_divergence", truth, loose, normalise=False) > score("kl_divergence", truth, loose)


@seeds
def test_a_weighted_column_equals_scikit_learn(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 4 + 5 * seed), tied(dice, 4 + 5 * seed)
    weight = dice.integers(0, 4, len(truth))
    weight[0] = 2
    file = table(["label", "weight"], np.column_stack([truth, weight]).astype(object))
    sent = table(["label"], said)
    found = metrics.evaluate("weighted_multilabel_log_loss", file, sent, {"clip": EPSILON}).overall
    assert found == close(sk.log_loss(truth, said, sample_weight=weight, labels=[0, 1]))


@seeds
def test_the_two_shapes_of_rsnas_files_get_the_same_score(seed: int) -> None:
    """One row per picture with label weights, or one row per picture and label; and exams that count equally."""
    dice = np.random.default_rng(seed)
    truth, said, weights = binary(dice, 12, columns=3), tied(dice, 12, 3).clip(0.05, 0.95), np.array([7, 1, 1])
    lost = -np.log(np.where(truth == 1, said, 1 - said))

    def long(each: np.ndarray) -> float:
        file = table(["label", "weight"], np.column_stack([truth.ravel(), each.ravel()]).astype(object))
        return metrics.evaluate("weighted_multilabel_log_loss", file, table(["label"], said.ravel())).overall

    wide = metrics.evaluate(
        "weighted_multilabel_log_loss",
        table(["any", "b", "c", "weight"], np.column_stack([truth, np.ones(12)]).astype(object)),
        table(["any", "b", "c"], said),
        {"label_weights": "7, 1, 1"},
    ).overall
    expected = (lost * weights).sum() / (12 * weights.sum())
    assert wide == pytest.approx(expected, rel=1e-12)
    assert long(np.tile(weights, (12, 1))) == pytest.approx(expected, rel=1e-12)
    doubled = weights * (1 + truth)
    per_exam = doubled / doubled.sum(axis=1, keepdims=True)
    assert long(per_exam) == pytest.approx((lost * per_exam).sum(axis=1).mean(), rel=1e-12)


@seeds
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_probabilistic_f1_equals_rsnas_definition(beta: float, seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = binary(dice, 25), tied(dice, 25)
    hits = sum(said[truth == 1])
    precision, recall = hits / sum(said), hits / sum(truth)
    expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    assert score("probabilistic_f1", truth, said, beta=beta) == pytest.approx(expected, rel=1e-12)
    sure = (said > 0.5).astype(int)
    assert score("probabilistic_f1", truth, sure, beta=beta) == score("fbeta", truth, sure, beta=beta)


def test_probabilistic_f1_without_any_positive() -> None:
    assert score("probabilistic_f1", [0, 0], [0, 0]) == 1.0
    assert score("probabilistic_f1", [0, 0], [0, 0.1]) == 0.0
    assert score("probabilistic_f1", [0, 1], [0.5, 0]) == 0.0


@pytest.mark.parametrize("key", ["multiclass_log_loss", "top_k_accuracy"])
def test_a_truth_of_labels_obeys_the_laws_too(key: str) -> None:
    """The worlds of the laws have a column for each class."""
    dice = random.Random(4)
    answers = [("abc"[dice.randrange(3)], ("Public", "Private", "Ignored")[row % 3]) for row in range(90)]
    said = [[dice.randrange(1, 9) / 10 for _ in "abc"] for _ in range(90)]
    assert metrics.check_truth(key, table(["y", "Usage"], answers)).ok
    found = []
    for _ in range(3):
        order = dice.sample(range(90), 90)
        lines = table(["y", "Usage"], answers).decode().splitlines()
        truth = metrics.prepare(key, "\n".join([lines[0], *(lines[row + 1] for row in order)]).encode())
        found.append(truth.evaluate(table(["c", "a", "b"], said), uncertainty=True))
        assert math.isfinite(truth.evaluate(truth.sample_submission()).overall)
    first, *others = found
    for other in others:
        assert (first.overall, first.public, first.private) == (other.overall, other.public, other.private)
        for split, doubt in first.uncertainty.items():
            assert doubt.low == other.uncertainty[split].low <= getattr(other, split) <= doubt.high


def complaints(key: str, truth: bytes, sent: bytes, **params: object) -> dict[str, str]:
    """What Bo is told about his file: codes and sentences."""
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate(key, truth, sent, params)
    return {problem.code: problem.message for problem in caught.value.problems}


LABELS = b"id,y\nx1,a\nx2,b\nx3,a\n"
DISTRIBUTIONS = b"id,a,b\nx1,0.5,0.5\nx2,1,0\nx3,0.25,0.75\n"


@pytest.mark.parametrize(
    ("key", "truth", "params"),
    [("multiclass_log_loss", LABELS, {"normalise": False}), ("kl_divergence", DISTRIBUTIONS, {})],
)
def test_bo_is_told_which_rows_do_not_sum_to_one(key: str, truth: bytes, params: dict[str, object]) -> None:
    told = complaints(key, truth, b"id,b,a\nx3,0.5,0.5\nx1,0.4,0.5985\nx2,1,0.5\n", **params)
    assert told == {
        "not_a_distribution": "2 rows whose probabilities do not sum to 1 (±0.001): "
        'line 3 (id "x1") sums to 0.9985, line 4 (id "x2") sums to 1.5.'
    }
    assert metrics.evaluate(key, truth, b"id,b,a\nx3,0.5,0.5\nx1,0.4,0.5991\nx2,1,0\n", params).overall > 0


def test_bo_is_told_of_all_faults_at_once() -> None:
    sent = b"id,a,b\nx1,1.5,0\nx2,0.2,\nx3,0.1,0.1\n"
    told = complaints("multiclass_log_loss", LABELS, sent, normalise=False)
    assert set(told) == {"not_a_probability", "missing_value", "not_a_distribution"}
    assert 'line 4 (id "x3") sums to 0.2' in told["not_a_distribution"]
    assert 'line 3 (id "x2")' in told["missing_value"]
    assert "column_missing" in complaints("multiclass_log_loss", LABELS, b"id,a\nx1,1\nx2,1\nx3,1\n")
    assert "column_extra" in complaints("top_k_accuracy", LABELS, b"id,a,b,c\nx1,1,1,1\n", k=1)


@pytest.mark.parametrize("key", ["brier", "log_loss", "probabilistic_f1", "columnwise_log_loss"])
@pytest.mark.parametrize("cell", ["1.00001", "-0.1", "nan", "", "1e999", "0,5", "high"])
def test_bo_is_told_that_a_cell_is_no_probability(key: str, cell: str) -> None:
    sent = f'id,y\nx1,0.5\nx2,"{cell}"\n'.encode()
    (message,) = complaints(key, b"id,y\nx1,0\nx2,1\n", sent).values()
    assert 'line 3 (id "x2")' in message


def refused(key: str, truth: bytes, **params: object) -> str:
    """What Ada is told about her truth file."""
    with pytest.raises(metrics.GroundTruthError) as caught:
        metrics.prepare(key, truth, params)
    return str(caught.value)


@pytest.mark.parametrize(
    ("key", "truth", "params", "words"),
    [
        ("multiclass_log_loss", b"id,a,b\n1,1,0\n2,1,1\n3,0,0\n", {}, '2 rows without exactly one 1: line 3 (id "2")'),
        ("multiclass_log_loss", b"id,y\n1,a\n2,\n", {}, "missing"),
        ("multiclass_log_loss", b"id,y\n1,a\n2,id\n", {}, "called like the id column"),
        ("multiclass_log_loss", b"id,y\n1,a\n2,b\n", {"class_weights": "1"}, "2 classes, and the parameter gives 1 w"),
        ("multiclass_log_loss", b"id,y,Usage\n1,a,Public\n2,b,Private\n", {"class_weights": "0,1"}, "weight 0"),
        ("top_k_accuracy", b"id,y\n1,a\n2,b\n", {}, "every file would score 1"),
        ("kl_divergence", b"id,a,b\n1,0.5,0.4\n", {}, 'line 2 (id "1") sums to 0.9.'),
        ("kl_divergence", b"id,a,b\n1,5,4\n", {}, "outside 0 to 1"),
        ("weighted_multilabel_log_loss", b"id,y,weight\n1,1,0\n2,0,0\n", {}, "all its weights are 0"),
        ("weighted_multilabel_log_loss", b"id,y,weight\n1,1,-1\n", {}, "below 0"),
        ("weighted_multilabel_log_loss", b"id,a,b,weight\n1,1,1,2\n", {"label_weights": "1 2 3"}, "gives 3 weights"),
        ("weighted_multilabel_log_loss", b"id,y\n1,1\n", {}, "needs a column with the weight"),
        ("columnwise_roc_auc", b"id,a,b\n1,1,0\n2,0,0\n", {}, "target column 2 are 0; both 0 and 1 are needed"),
        ("columnwise_roc_auc", b"id,a,b\n1,1,0\n2,1,0\n", {"skip": True}, "none of its columns has both"),
        ("columnwise_average_precision", b"id,a,b\n1,1,0\n2,1,1\n", {}, "target column 1 are 1"),
        ("average_precision", b"id,y\n1,0\n2,0\n", {}, "all its answers are 0"),
        ("weighted_roc_auc", b"id,y\n1,1\n2,1\n", {}, "all its answers are 1"),
        ("weighted_roc_auc", b"id,y\n1,1\n2,0\n", {"weights": "1,2,3"}, "2 regions, and there are 3 weights"),
        ("gini", b"id,y\n1,2\n2,2\n", {}, "all its answers are 2"),
        ("bias_auc", b"id,y,s\n1,1,1\n2,0,0\n", {}, "subgroup 1 and the other rows must each have both answers"),
        ("bias_auc", b"id,y\n1,1\n2,0\n", {}, "no column beside the answer"),
        ("gini", b"id,y\n1,2\n2,-1\n", {}, "below 0"),
        ("label_ranking_average_precision", b"id,a,b\n1,0,0\n", {"weights": "labels"}, "no true label"),
    ],
)
def test_ada_is_told_why_her_truth_cannot_be_scored(
    key: str, truth: bytes, params: dict[str, object], words: str
) -> None:
    assert words in refused(key, truth, **params)


def test_ada_is_told_that_a_thousand_classes_are_enough() -> None:
    lines = "".join(f"{row},label {row}\n" for row in range(1001))
    assert "1,001 different labels" in refused("multiclass_log_loss", f"id,y\n{lines}".encode())


@pytest.mark.parametrize(
    ("key", "given", "words"),
    [
        ("weighted_roc_auc", {"thresholds": "0.1, 1"}, "first must be 0"),
        ("weighted_roc_auc", {"thresholds": "0, 0.5, 0.5, 1"}, "larger than the one before"),
        ("weighted_roc_auc", {"weights": "2, x"}, '"x" is not a number'),
        ("weighted_roc_auc", {"weights": ""}, "needed"),
        ("multiclass_log_loss", {"class_weights": "1,-1"}, "cannot be negative"),
        ("weighted_multilabel_log_loss", {"label_weights": "0 0"}, "above 0"),
        ("weighted_multilabel_log_loss", {"label_weights": " , "}, "commas between"),
        ("kl_divergence", {"clip": 0.1}, "at most 0.001"),
        ("columnwise_average_precision", {"padding": -1}, "at least 0"),
    ],
)
def test_ada_is_told_what_is_wrong_with_a_list_of_numbers(key: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(metrics.ParameterError) as caught:
        metrics.clean_params(key, given)
    assert words in str(caught.value)
