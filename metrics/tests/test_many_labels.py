"""A file may name millions of labels that the truth does not know; it may not cost more than its size explains."""

import gc
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import pyarrow as pa
import pytest

import metrics

pytestmark = pytest.mark.thorough

SETS: dict[str, dict[str, Any]] = {
    "hamming_loss": {},
    "exact_match": {},
    "jaccard": {"average": "macro"},
    "multilabel_f1": {"average": "macro"},
    "map_at_k": {"k": 10_000},
    "mrr_at_k": {"k": 10_000},
    "precision_at_k": {"k": 10_000},
    "recall_at_k": {"k": 10_000},
    "hit_rate_at_k": {"k": 10_000},
    "ndcg_at_k": {"k": 10_000},
}
SINGLE: dict[str, dict[str, Any]] = {
    "accuracy": {},
    "error_rate": {},
    "f1": {},
    "balanced_accuracy": {},
    "cohen_kappa": {"weights": "quadratic"},
    "matthews_correlation": {},
    "adjusted_rand": {},
    "normalised_mutual_information": {},
    "v_measure": {},
}
MANY = 10_000
PER_CELL = 500


def hidden(rows: int, cell: Callable[[int], str]) -> bytes:
    lines = (f"{row},{cell(row)},{'Public' if row % 3 else 'Private'}\n" for row in range(rows))
    return ("id,label,Usage\n" + "".join(lines)).encode()


def sent(rows: int, cell: Callable[[int], str]) -> bytes:
    return ("id,label\n" + "".join(f"{row},{cell(row)}\n" for row in range(rows))).encode()


def several(key: str, labels: int) -> tuple[Any, bytes]:
    """Every cell of the file holds hundreds of labels, all of them different."""
    rows = labels // PER_CELL
    grade = ":1" if key == "ndcg_at_k" else ""
    truth = metrics.prepare(key, hidden(rows, lambda row: f"{'abc'[row % 5 % 3]}{grade}"), SETS[key])
    return truth, sent(rows, lambda row: " ".join(f"x{row * PER_CELL + one}" for one in range(PER_CELL)))


def one_each(key: str, labels: int) -> tuple[Any, bytes]:
    truth = metrics.prepare(key, hidden(labels, lambda row: "abc"[row % 5 % 3]), SINGLE[key])
    return truth, sent(labels, lambda row: f"x{row}")


def cost(truth: Any, file: bytes) -> tuple[float, int]:
    """Processor seconds, the lesser of two, and bytes at the highest; both with what the site asks for."""
    seconds = []
    for _ in range(2):
        begun = process_time()
        truth.evaluate(file, uncertainty=True, with_parts=True)
        seconds.append(process_time() - begun)
    gc.collect()
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    truth.evaluate(file, uncertainty=True, with_parts=True)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(seconds), highest + max(0, pa.total_allocated_bytes() - before)


@pytest.mark.parametrize("key", [*SETS, *SINGLE])
@pytest.mark.attack("millions of labels that nobody has, so that a metric takes minutes")
def test_four_times_the_labels_cost_four_times_the_time_and_memory(key: str) -> None:
    make = several if key in SETS else one_each
    (less, least), (more, most) = (cost(*make(key, labels)) for labels in (MANY, 4 * MANY))
    assert more < 0.2 + 7 * less
    assert most < 4_000_000 + 6 * least


@pytest.mark.parametrize("key", SETS)
@pytest.mark.attack("millions of labels that nobody has, so that a metric takes minutes")
def test_labels_that_the_truth_does_not_know_cost_hardly_more_than_those_that_it_knows(key: str) -> None:
    """So who makes them up gains nothing over who repeats a known one as often."""
    truth, unknown = several(key, 4 * MANY)
    known = sent(
        4 * MANY // PER_CELL, lambda row: " ".join("abc"[(row + one * one) % 97 % 3] for one in range(PER_CELL))
    )
    (usual, _), (hostile, memory) = cost(truth, known), cost(truth, unknown)
    assert hostile < 0.1 + 6 * usual
    assert memory < 400 * 4 * MANY
