"""How fast files are scored, each figure beside its goal and a baseline of the same run: ``python -m bench.metrics``.

Figures are medians of five, as ratios, because machines differ. "Floor" is pyarrow reading the submission and looking
its ids up among the truth's. ``python -m bench.metrics 100000`` uses fewer rows than a million.
"""

from __future__ import annotations

import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import metrics

DICE = np.random.default_rng(20)
LABELS = ["scab", "healthy", "frog_eye_leaf_spot", "rust", "complex", "scab frog_eye_leaf_spot"]
WORDS = np.array([f"word{number}" for number in range(2000)])
TITLES = [" ".join(DICE.choice(WORDS, DICE.integers(2, 7))) for _ in range(150)]

CELLS: dict[str, Callable[[int], np.ndarray | list[str]]] = {
    "label": lambda rows: DICE.choice(LABELS, rows),
    "word": lambda rows: DICE.choice(LABELS[:5], rows),
    "bit": lambda rows: DICE.integers(0, 2, rows).astype(str),
    "number": lambda rows: np.char.mod("%.6f", DICE.random(rows)),
    "ranked": lambda rows: np.char.add(np.char.add(DICE.choice(LABELS[:5], rows), " "), CELLS["number"](rows)),
    "text": lambda rows: [" ".join(words) for words in DICE.choice(WORDS, (rows, 8))],
    "phrases": lambda rows: ["|".join(DICE.choice(TITLES, count)) for count in DICE.integers(1, 5, rows)],
}
CASES = [
    ("accuracy", "label", "label", 2.0),
    ("multilabel_f1", "label", "label", 2.0),
    ("binary_f1", "bit", "bit", 2.0),
    ("rmse", "number", "number", 2.0),
    ("log_loss", "bit", "number", 2.0),
    ("roc_auc", "bit", "number", 2.0),
    ("global_average_precision", "word", "ranked", 2.0),
    ("coleridge_fbeta", "phrases", "phrases", 4.0),
    ("word_jaccard", "text", "text", 4.0),
]


def median(run: Callable[[], object], times: int = 5) -> float:
    """Seconds, after one run that does not count."""
    run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def files(truth: str, submission: str, rows: int) -> tuple[bytes, bytes]:
    """A truth with a split and a submission in another order."""
    ids = np.array([f"img_{number:08d}" for number in DICE.permutation(rows)])
    usage = DICE.choice(["Public", "Private"], rows)
    answers = zip(ids, CELLS[truth](rows), usage, strict=True)
    sent = zip(DICE.permutation(ids), CELLS[submission](rows), strict=True)
    return (
        ("id,y,Usage\n" + "".join(f"{name},{cell},{used}\n" for name, cell, used in answers)).encode(),
        ("id,y\n" + "".join(f"{name},{cell}\n" for name, cell in sent)).encode(),
    )


def floor(data: bytes, ids: pa.Array) -> object:
    """What cannot be avoided: read the table as text and find the ids."""
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(use_threads=False),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types={"id": pa.string(), "y": pa.string()}),
    )
    return pc.index_in(table["id"], value_set=ids)


def naive(data: bytes, truth: pd.DataFrame) -> object:
    """What one would write with pandas."""
    return truth.merge(pd.read_csv(io.BytesIO(data), dtype=str), on="id")


def say(what: str, value: str, goal: str, is_met: bool) -> None:
    print(f"{what:<58}{value:>14}   goal {goal:<12}{'' if is_met else ' missed'}", flush=True)


def against_the_floor(rows: int) -> None:
    for key, truth_cells, cells, goal in CASES:
        truth, submission = files(truth_cells, cells, rows)
        prepared = metrics.prepare(key, truth)
        least = median(partial(floor, submission, prepared.ids.array))
        taken = median(partial(prepared.evaluate, submission))
        ratio = taken / least
        say(f"{key}, {rows:,} rows: {taken * 1e3:,.0f} ms", f"{ratio:.2f} × floor", f"≤ {goal:g}", ratio <= goal)


def against_pandas(rows: int) -> None:
    truth, submission = files("label", "label", rows)
    prepared, frame = metrics.prepare("accuracy", truth), pd.read_csv(io.BytesIO(truth), dtype=str)
    ours = median(lambda: prepared.read_submission(submission))
    least = median(lambda: floor(submission, prepared.ids.array))
    theirs = median(lambda: naive(submission, frame), 3)
    say("bytes to aligned arrays", f"{theirs / ours:.1f} × pandas", "≥ 8", theirs / ours >= 8)
    say("bytes to aligned arrays", f"{ours / least:.2f} × floor", "≤ 1.3", ours / least <= 1.3)


def growth(rows: int) -> None:
    taken = []
    for size in (rows // 100, rows):
        truth, submission = files("label", "label", size)
        prepared = metrics.prepare("accuracy", truth)
        taken.append(median(partial(prepared.evaluate, submission)))
    say(f"{rows // 100:,} to {rows:,} rows", f"{taken[1] / taken[0]:.0f} × time", "≤ 110", taken[1] / taken[0] <= 110)


def small() -> None:
    for key, truth_cells, cells, _ in CASES:
        truth, submission = files(truth_cells, cells, 1000)
        prepared = metrics.prepare(key, truth)
        taken = median(partial(prepared.evaluate, submission), 21) * 1e3
        say(f"{key}, 1,000 rows", f"{taken:.2f} ms", "≤ 3 ms", taken <= 3)


COLD = """
import resource, time
start = time.perf_counter()
import metrics, pyarrow, pyarrow.csv, pyarrow.compute
print(time.perf_counter() - start, end=" ")
metrics.get("accuracy")(b"id,y\\n1,a\\n", b"id,y\\n1,a\\n")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def cold() -> None:
    runs = [
        subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(5)
    ]
    seconds = statistics.median(float(run[0]) for run in runs)
    memory = statistics.median(float(run[1]) for run in runs)
    say("imports of a cold worker", f"{seconds:.2f} s", "≤ 0.6 s", seconds <= 0.6)
    say("its memory after a first score", f"{memory:.0f} MB", "≤ 150 MB", memory <= 150)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    small()
    cold()
    against_pandas(count)
    growth(count)
    against_the_floor(count)
