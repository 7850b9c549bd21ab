"""Ranked lists of labels: each metric equals its definition, written down plainly, row by row."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from sklearn import metrics as sk

import metrics
from metrics.tests.answer_files import column, score

seeds = pytest.mark.parametrize("seed", range(5))
LABELS = ("a", "b", "c", "d", "Straße", "007", "7", "é", "ê")


def cells(seed: int, rows: int = 60) -> tuple[list[str], list[str]]:
    """Truths and lists with empty cells, repeats, unknown labels and any white space between them."""
    dice = random.Random(seed)
    truth = [" ".join(dice.choices(LABELS, k=dice.choice((0, 1, 1, 1, 2, 5)))) for _ in range(rows)]
    lists = []
    for _ in range(rows):
        space = dice.choice((" ", "  ", "\t", "\u00a0", "\u2003"))
        lists.append(space.join(dice.choices((*LABELS, "x", "y"), k=dice.choice((0, 1, 3, 7, 14, 40)))))
    return truth, lists


def hits_of(true: set[str], said: list[str], k: int) -> list[int]:
    """The ranks, from 1 on, at which a relevant label is said for the first time."""
    return [rank + 1 for rank, label in enumerate(said[:k]) if label in true and label not in said[:rank]]


def average_precision(true: set[str], said: list[str], k: int) -> float:
    total, hits = 0.0, 0
    for place, label in enumerate(said[:k]):
        if label in true and label not in said[:place]:
            hits += 1
            total += hits / (place + 1.0)
    return total / min(len(true), k)


def gain(true: set[str], said: list[str], k: int) -> float:
    most = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(true), k) + 1))
    return sum(1 / math.log2(rank + 1) for rank in hits_of(true, said, k)) / most


DEFINITIONS: dict[str, Callable[[set[str], list[str], int], float]] = {
    "map_at_k": average_precision,
    "ndcg_at_k": gain,
    "mrr_at_k": lambda true, said, k: next((1 / rank for rank in hits_of(true, said, k)), 0.0),
    "precision_at_k": lambda true, said, k: len(hits_of(true, said, k)) / min(k, len(true)),
    "recall_at_k": lambda true, said, k: len(hits_of(true, said, k)) / len(true),
    "hit_rate_at_k": lambda true, said, k: float(bool(hits_of(true, said, k))),
}


@seeds
@pytest.mark.parametrize("k", [1, 3, 5, 12, 10_000])
@pytest.mark.parametrize("key", DEFINITIONS)
def test_it_equals_the_definition(key: str, k: int, seed: int) -> None:
    truth, lists = cells(seed)
    if key == "recall_at_k":  # nobody can find more labels than count
        truth = [" ".join(text.split()[:k]) for text in truth]
    values = []
    for cell, answer in zip(truth, lists, strict=True):
        true, said = set(cell.split()), answer.split()
        values.append(DEFINITIONS[key](true, said, k) if true else float(not said))
    assert score(key, truth, lists, k=k) == pytest.approx(math.fsum(values) / len(values), rel=1e-12, abs=1e-15)


@seeds
def test_precision_divided_by_k_equals_the_definition(seed: int) -> None:
    truth, lists = cells(seed)
    truth = [cell and cell + " a b c" for cell in truth]
    values = [
        len(hits_of(set(cell.split()), answer.split(), 3)) / 3 if cell else float(not answer.split())
        for cell, answer in zip(truth, lists, strict=True)
    ]
    found = score("precision_at_k", truth, lists, k=3, divisor="k")
    assert found == pytest.approx(math.fsum(values) / len(values), rel=1e-12)


@seeds
@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_graded_ndcg_equals_scikit_learn(seed: int, gain: str) -> None:
    dice = np.random.default_rng(seed)
    grades = dice.integers(0, 5, (30, 12))
    grades[:, 0] = 3
    order = np.array([dice.permutation(12) for _ in range(30)])
    truth = [" ".join(f"{label}:{grade}" for label, grade in enumerate(row) if grade or label % 2) for row in grades]
    lists = [" ".join(map(str, row)) for row in order]
    scores = np.empty((30, 12))
    np.put_along_axis(scores, order, np.arange(12, 0, -1.0), axis=1)
    gains = grades if gain == "linear" else 2**grades - 1
    for k in (1, 5, 12, 38):
        expected = sk.ndcg_score(gains, scores, k=k)
        assert score("ndcg_at_k", truth, lists, k=k, gain=gain) == pytest.approx(expected, rel=1e-12)
    graded = metrics.prepare("ndcg_at_k", column([*truth, "", "7:0"]), {"gain": gain, "k": 3})
    assert graded.evaluate(graded.perfect_submission()).overall == 1.0


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("b:3 c", '"c" is not "label:grade"'),
        ("b:-1", '"b:-1" is not'),
        ("b:51", "from 0.001 to 50"),
        (":3", '":3" is not'),
        ("b:1 b:2", '"b" has two grades'),
        ("b:x", '"b:x" is not'),
    ],
)
def test_ada_is_told_which_grade_is_wrong(cell: str, words: str) -> None:
    with pytest.raises(metrics.GroundTruthError, match=words):
        metrics.prepare("ndcg_at_k", column(["a:1", cell]), {"gain": "linear"})
    metrics.prepare("ndcg_at_k", column(["a:1", cell]))


DOCUMENTED = [
    ("map_at_k", "b c", "b x c", 0.8333333333333333, {}),
    ("map_at_k", "b c", "b", 0.5, {}),
    ("map_at_k", "b c", "x y", 0.0, {}),
    ("map_at_k", "b", "x x b", 1 / 3, {}),
    ("map_at_k", "b b", "b", 1.0, {}),
    ("map_at_k", "", "", 1.0, {}),
    ("map_at_k", "", "b", 0.0, {}),
    ("map_at_k", "b", "", 0.0, {}),
    ("map_at_k", "b", "1 2 3 4 5 b", 0.0, {}),
    ("map_at_k", "b", "1 2 3 4 5 b", 1 / 6, {"k": 6}),
    ("ndcg_at_k", "b", "x b", 0.6309297535714575, {}),
    ("ndcg_at_k", "b", "x y b", 0.5, {}),
    ("ndcg_at_k", "b c", "b x c", 0.9197207891481876, {}),
    ("ndcg_at_k", "b:3 c:1", "c b", 0.7967075809905066, {"gain": "linear"}),
    ("ndcg_at_k", "b:3 c:1", "c b", 0.7098097413968655, {"gain": "exponential"}),
    ("ndcg_at_k", "b:0", "", 1.0, {"gain": "linear"}),
    ("ndcg_at_k", "b:0", "b", 0.0, {"gain": "linear"}),
    ("ndcg_at_k", "new b:1;c:2", "c;new b", 1.0, {"gain": "linear", "separator": ";"}),
    ("mrr_at_k", "b c", "b x c", 1.0, {}),
    ("mrr_at_k", "b c", "x y c", 1 / 3, {}),
    ("mrr_at_k", "b c", "x y", 0.0, {}),
    ("hit_rate_at_k", "b c", "x y c", 1.0, {"k": 3}),
    ("hit_rate_at_k", "b c", "x y c", 0.0, {"k": 2}),
    ("recall_at_k", "b c", "x c b", 1.0, {}),
    ("recall_at_k", "b c", "c", 0.5, {}),
    ("precision_at_k", "b c", "b x y", 0.5, {"k": 3}),
    ("precision_at_k", "b c d", "b x y", 1 / 3, {"k": 3, "divisor": "k"}),
    ("map_at_k", "new whale;w 1", "w 1 ; new whale", 1.0, {"separator": ";"}),
    ("map_at_k", "new whale;w 1", "w;new whale;;1", 0.25, {"separator": ";"}),
]


@pytest.mark.parametrize(("key", "truth", "said", "value", "params"), DOCUMENTED)
def test_the_page_says_what_one_list_gets(
    key: str, truth: str, said: str, value: float, params: dict[str, object]
) -> None:
    assert score(key, [truth], [said], **params) == value


@pytest.mark.parametrize("key", DEFINITIONS)
def test_a_truth_with_repeats_can_be_answered_perfectly(key: str) -> None:
    truth = metrics.prepare(key, b'id,items\n1,a a b\n2,\n3," c"\n', {})
    assert truth.evaluate(truth.perfect_submission()).overall == 1.0
    truth = metrics.prepare(key, b"id,items\n1,a x|b|a x\n2,\n", {"separator": "|"})
    assert truth.evaluate(truth.perfect_submission()).overall == 1.0


def test_ada_is_told_when_no_list_could_be_perfect() -> None:
    with pytest.raises(metrics.GroundTruthError, match="a row has 3 relevant labels, but only k = 2 count"):
        metrics.prepare("recall_at_k", b"id,items\n1,a b c\n2,a\n", {"k": 2})
    with pytest.raises(metrics.GroundTruthError, match="a row has 1 relevant label, so that divided by k = 2 nobody"):
        metrics.prepare("precision_at_k", b"id,items\n1,a b c\n2,a\n3,\n", {"k": 2, "divisor": "k"})
    metrics.prepare("recall_at_k", b"id,items\n1,a b a\n", {"k": 2})


def test_a_list_over_two_lines_is_refused() -> None:
    with pytest.raises(metrics.SubmissionError, match="several lines"):
        metrics.evaluate("map_at_k", b"id,items\n1,a\n2,b\n", b'id,items\n1,"a\nb"\n2,b\n')


def test_one_endless_list_harms_nobody() -> None:
    endless = " ".join(f"{number}" for number in range(12_000))
    lists = [endless, *(f"{number} a" for number in range(2000))]
    truth = ["9999", *["a"] * 2000]
    assert score("map_at_k", truth, lists, k=10_000) == (0.5 * 2000 + 1 / 10_000) / 2001


def test_every_row_tells_its_hits() -> None:
    told = metrics.explain("map_at_k", column(["a", "b c", ""]), column(["x a", "b x c", "x"]))
    assert told.parts == ("hits", "relevant", "average_precision", "rows")
    assert [list(row) for row in told.contributions] == [[1, 1, 0.5, 1], [2, 2, 0.8333333333333333, 1], [0, 0, 0, 1]]
    assert told.last_line == "average_precision / rows"
