"""Every metric equals an independent implementation on random classes: scikit-learn where it has one, else the
definition written down as slowly and plainly as possible."""

import csv
import io
import math
import random
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.preprocessing import MultiLabelBinarizer

import metrics
from metrics.tests.worlds import World, world

seeds = pytest.mark.parametrize("seed", range(12))
Columns = tuple[list[list[str]], list[list[str]]]


def columns_of(found: World) -> Columns:
    answers = {row[0]: row[1:] for row in found.submission}
    return [row[1:] for row in found.truth], [answers[row[0]] for row in found.truth]


def score(key: str, found: World, **params: Any) -> float:
    return metrics.evaluate(key, found.truth_csv(), found.submission_csv(), params).overall


def numbers(rows: list[list[str]]) -> np.ndarray:
    return np.array(rows, float)


BINARY: dict[str, Callable[..., float]] = {
    "binary_f1": lambda t, p: sk.f1_score(t, p, zero_division=0.0),
    "precision": lambda t, p: sk.precision_score(t, p, zero_division=0.0),
    "recall": lambda t, p: sk.recall_score(t, p, zero_division=0.0),
    "fbeta": lambda t, p: sk.fbeta_score(t, p, beta=1.0, zero_division=0.0),
    "accuracy": sk.accuracy_score,
    "roc_auc": sk.roc_auc_score,
    "concordance_index": sk.roc_auc_score,
    "log_loss": sk.log_loss,
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
}


@seeds
@pytest.mark.parametrize("key", BINARY)
def test_it_equals_scikit_learn(key: str, seed: int) -> None:
    found = world(metrics.get(key), seed, split=False)
    truth, prediction = columns_of(found)
    if key == "accuracy":
        expected = BINARY[key](*(np.array(rows)[:, 0] for rows in (truth, prediction)))
    else:
        expected = BINARY[key](numbers(truth)[:, 0], numbers(prediction)[:, 0])
    params = {"clip": float(np.finfo(float).eps)} if key == "log_loss" else {}  # where scikit-learn clips
    assert score(key, found, **params) == pytest.approx(float(expected), rel=1e-12, abs=1e-13)


@seeds
@pytest.mark.parametrize("average", ["samples", "micro", "macro", "weighted"])
def test_multilabel_f1_equals_scikit_learn_where_no_row_is_empty(average: str, seed: int) -> None:
    found = world(metrics.get("multilabel_f1"), seed, split=False)
    for row in [*found.truth, *found.submission]:
        row[1] = row[1] or "rust"
    truth, prediction = ([row[0].split() for row in rows] for rows in columns_of(found))
    labels = MultiLabelBinarizer().fit([*truth, *prediction])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = sk.f1_score(
            labels.transform(truth), labels.transform(prediction), average=average, zero_division=0.0
        )
    assert score("multilabel_f1", found, average=average) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@seeds
@pytest.mark.parametrize("average", ["samples", "micro", "macro", "weighted"])
def test_thresholded_f1_equals_scikit_learn_where_no_row_is_empty(average: str, seed: int) -> None:
    found = world(metrics.get("thresholded_f1"), seed, split=False)
    for row in [*found.truth, *found.submission]:
        row[1] = "1"
    truth, prediction = map(numbers, columns_of(found))
    expected = sk.f1_score(truth, prediction > 0.5, average=average, zero_division=1.0)
    assert score("thresholded_f1", found, average=average) == pytest.approx(expected, rel=1e-12)


def test_thresholded_f1_with_a_count_takes_the_leftmost_of_ties() -> None:
    truth, scores = b"id,b,a\n1,1,0\n2,1,0\n", b"id,a,b\n1,0.9,0.9\n2,0.9,0.95\n"
    assert metrics.evaluate("thresholded_f1", truth, scores, {"count": 1}).overall == 1.0
    assert metrics.evaluate("thresholded_f1", truth, scores, {"count": 0}).overall == 0.0


@seeds
def test_survival_concordance_equals_the_definition(seed: int) -> None:
    found = world(metrics.get("survival_concordance"), seed, rows=60, split=False)
    truth, risk = map(numbers, columns_of(found))
    right = pairs = 0.0
    for (t, event, r), (u, other, s) in product(zip(truth[:, 0], truth[:, 1], risk[:, 0], strict=True), repeat=2):
        if event == 1 and (t < u or (t == u and other == 0)):
            pairs += 1
            right += (r > s) + (r == s) / 2
    assert score("survival_concordance", found) == right / pairs


@seeds
def test_global_average_precision_equals_the_definition(seed: int) -> None:
    found = world(metrics.get("global_average_precision"), seed, rows=60, split=False)
    truth, prediction = columns_of(found)
    given = [(float(p[0].split()[1]), p[0].split()[0] == t[0]) for t, p in zip(truth, prediction, strict=True) if p[0]]
    sought = sum(bool(row[0]) for row in truth)
    total = 0.0
    for confidence, is_right in given:
        ranked = [right for other, right in given if other >= confidence]
        total += is_right * sum(ranked) / len(ranked)
    assert score("global_average_precision", found) == pytest.approx(total / sought, rel=1e-12)


def jaccard(one: str, other: str) -> float:
    a, b = set(one.lower().split()), set(other.lower().split())
    return len(a & b) / len(a | b) if a | b else 1.0


@seeds
def test_word_jaccard_equals_the_definition(seed: int) -> None:
    found = world(metrics.get("word_jaccard"), seed, split=False)
    truth, prediction = columns_of(found)
    values = [jaccard(t[0], p[0]) for t, p in zip(truth, prediction, strict=True)]
    assert score("word_jaccard", found) == pytest.approx(math.fsum(values) / len(values), rel=1e-12)


def count_per_truth(true: list[str], said: list[str], threshold: float) -> tuple[int, int, int]:
    taken, tp = set(), 0
    for phrase in true:
        best = max((jaccard(phrase, other) for other in said), default=0.0)
        if said and best >= threshold:
            tp += 1
            taken.add([jaccard(phrase, other) for other in said].index(best))
    return tp, len(said) - len(taken), len(true) - tp


def count_per_prediction(true: list[str], said: list[str], threshold: float) -> tuple[int, int, int]:
    tp = sum(any(jaccard(other, phrase) >= threshold for phrase in true) for other in said)
    fn = sum(all(jaccard(phrase, other) == 0 for other in said) for phrase in true)
    return tp, len(said) - tp, fn


@seeds
@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.75])
@pytest.mark.parametrize(
    ("matching", "count"), [("per_truth", count_per_truth), ("per_prediction", count_per_prediction)]
)
def test_coleridge_counts_equal_the_definition(
    seed: int, threshold: float, matching: str, count: Callable[..., tuple[int, int, int]]
) -> None:
    found = world(metrics.get("coleridge_fbeta"), seed, split=False)
    truth, prediction = columns_of(found)
    counts = [
        count(*(sorted(part for part in cell.split("|") if part.strip()) for cell in (t[0], p[0])), threshold)
        for t, p in zip(truth, prediction, strict=True)
    ]
    params = {"threshold": threshold, "matching": matching}
    result = metrics.evaluate("coleridge_fbeta", found.truth_csv(), found.submission_csv(), params)
    assert tuple(result.parts["overall"].values()) == tuple(map(sum, zip(*counts, strict=True)))


def test_counting_below_equals_counting_one_by_one() -> None:
    from metrics.numerics.ranks import crossings

    dice = random.Random(8)
    for size in (1, 2, 17, 64):
        keys = np.array([dice.randint(0, 9) for _ in range(size)])
        values = np.array([dice.randint(0, 12) for _ in range(size)])
        below, equal, _, _ = crossings(9 - keys, values)
        for i in range(size):
            assert below[i] == sum((keys > keys[i]) & (values < values[i]))
            assert equal[i] == sum((keys > keys[i]) & (values == values[i]))


def test_the_perfect_file_is_a_csv_with_the_right_header() -> None:
    truth = metrics.prepare("word_jaccard", b'id,y\n1,"a, ""b"""\n2,c\n')
    assert list(csv.reader(io.StringIO(truth.perfect_submission().decode()))) == [
        ["id", "y"],
        ["1", 'a, "b"'],
        ["2", "c"],
    ]
