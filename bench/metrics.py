"""How fast files are scored, each figure next to its goal and a baseline of the same run: ``python -m bench.metrics``.

Figures are medians of five as ratios, because machines differ; what is compared takes turns and is measured in
processor time, because machines are busy at times. Nothing here uses more than one thread. "Floor" is pyarrow reading
the submission and looking its ids up among the truth's. The baselines are in ``bench.metrics_baselines``, the files in
``bench.metrics_data``.

``python -m bench.metrics 100000`` uses fewer rows than a million, ``python -m bench.metrics 1000000 evaluation memory``
prints these tables only.
"""

from __future__ import annotations

import io
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics as sk

import metrics
from bench import metrics_baselines as baselines
from bench.metrics_data import FRAMES, LABELS, NUMBERED, SCATTERED, files
from bench.metrics_data import frames as notebook
from metrics.core.arrays import Coded
from metrics.core.contract import chosen, sums_of
from metrics.reading.columns import Cells

CASES = [
    ("accuracy", "label", "label", 2.0),
    ("multilabel_f1", "label", "label", 2.0),
    ("binary_f1", "bit", "bit", 2.0),
    ("rmse", "number", "number", 2.0),
    ("mae", "long number", "long number", 2.0),
    ("log_loss", "bit", "number", 2.0),
    ("roc_auc", "bit", "number", 2.0),
    ("roc_auc", "bit", "long number", 2.0),
    ("global_average_precision", "word", "ranked", 2.0),
    ("coleridge_fbeta", "data set", "data set", 4.0),
    ("coleridge_fbeta", "phrases", "phrases", 4.0),
    ("word_jaccard", "text", "text", 4.0),
]


def race(*runs: Callable[[], object], times: int = 5) -> list[float]:
    """The median processor seconds of each, run in turns."""
    return [statistics.median(one) for one in turns(*runs, times=times)]


def turns(*runs: Callable[[], object], times: int = 5) -> list[list[float]]:
    """The processor seconds of each, turn by turn after one that does not count."""
    taken: list[list[float]] = [[] for _ in runs]
    for turn in range(times + 1):
        for place, run in enumerate(runs):
            start = time.process_time()
            run()
            if turn:
                taken[place].append(time.process_time() - start)
    return taken


def say(what: str, found: str, goal: str, is_met: bool) -> None:
    print(f"{what:<64}{found:>16}   goal {goal:<12}{'' if is_met else ' MISSED'}", flush=True)


def at_least(what: str, ratio: float, goal: float, than: str) -> None:
    say(what, f"{ratio:.3g} × {than}", f"≥ {goal:g}", ratio >= goal)


def named(key: str, cells: str, rows: int) -> str:
    return f"{key} ({cells}), {rows:,} rows"


def once(key: str, truth: Any, prediction: Any, **params: Any) -> float | None:
    """One score of arrays, computed in the fastest way that the metric has."""
    metric = metrics.get(key)
    if metric.computation.score is not None:
        return metric.computation.score(truth, prediction, **chosen(metric.computation.score, params))
    assert metric.computation.rows is not None
    assert metric.computation.total is not None
    sums = sums_of(metric.computation.rows(truth, prediction, **chosen(metric.computation.rows, params)), None)
    return metric.computation.total(np.array(list(map(float, sums))), **chosen(metric.computation.total, params))


def reading(rows: int) -> None:
    """Time reading a file into checked, aligned arrays, against pandas and the floor."""
    for words, ids_like in (("numbered ids", NUMBERED), ("ids as of a hash", SCATTERED)):
        truth, submission = files("label", "label", rows, ids_like)
        prepared, frame = metrics.prepare("accuracy", truth), pd.read_csv(io.BytesIO(truth), dtype=str)
        ours, least, theirs = race(
            partial(prepared.read_submission, submission),
            partial(baselines.floor, submission, prepared.ids.array),
            partial(baselines.naive, submission, frame),
        )
        what = f"bytes to arrays, {rows:,} rows, {words}: {ours * 1e3:,.0f} ms"
        at_least(what, theirs / ours, 8, "pandas")
        say(what, f"{ours / least:.2f} × floor", "≤ 1.3", ours / least <= 1.3)


def evaluation(rows: int) -> None:
    """Time evaluating a file, both splits with uncertainty, against the floor."""
    for key, cells, sent, goal in CASES:
        truth, submission = files(cells, sent, rows)
        prepared = metrics.prepare(key, truth)
        every = turns(
            partial(baselines.floor, submission, prepared.ids.array),
            partial(prepared.evaluate, submission),
            partial(prepared.evaluate, submission, uncertainty=True),
        )
        least, _, full = map(statistics.median, every)
        what = f"{named(key, sent, rows)}: {full * 1e3:,.0f} ms"
        say(what, f"{full / least:.2f} × floor", f"≤ {goal:g}", full / least <= goal)
        # Turn by turn: a machine that grows slower on the way is no difference between the two.
        more = (
            statistics.median(with_uncertainty - plain for _, plain, with_uncertainty in zip(*every, strict=True)) * 1e3
        )
        say("  200 resamples of both splits and of all", f"{more:+.0f} ms", "≤ 60 ms", more <= 60)


HIGH = """
from pathlib import Path
def peak():
    # Of this program alone: what getrusage says includes the parent before it became this program.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
"""
PEAK = (
    HIGH
    + """
import sys
import metrics, pyarrow, pyarrow.csv, pyarrow.compute
metrics.get(sys.argv[1])
before = peak()
prepared = metrics.prepare(sys.argv[1], Path(sys.argv[2]))
after = peak()
prepared.evaluate(Path(sys.argv[3]), uncertainty=True)
print(after - before, peak() - before)
"""
)


def memory(rows: int) -> None:
    """The peak above the imports, of a process that prepares a truth and scores one file, both given as paths."""
    for key, cells, sent, _ in CASES:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("truth.csv", "submission.csv")]
            for path, data in zip(paths, files(cells, sent, rows), strict=True):
                path.write_bytes(data)
            size = paths[1].stat().st_size / 1e6
            command = [sys.executable, "-c", PEAK, key, *map(str, paths)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        _, peak = map(float, done.stdout.split())
        say(f"{named(key, sent, rows)}, {size:.0f} MB: peak", f"{peak:.0f} MB", "≤ 400 MB", peak <= 400)


def texts_of(coded: Coded) -> list[str]:
    return [str(coded.values[code]) for code in coded.codes.tolist()]


def arrays(key: str, truth: str, sent: str, rows: int) -> tuple[Any, Any]:
    """Truth and prediction as the metric receives them."""
    prepared = metrics.prepare(key, files(truth, sent, rows)[0])
    return prepared.answers, prepared.read_submission(files(truth, sent, rows)[1])[0]


def fresh(coded: Coded) -> Coded:
    """A copy of a prediction without the results that `Coded.once` has stored."""
    return Coded(coded.codes, array=coded.array)


def loops(rows: int) -> None:
    """Time one score of arrays against plain loops over lists."""
    some = rows // 10
    for key, cells, goal, loop in (
        ("accuracy", "label", 20, baselines.accuracy),
        ("multilabel_f1", "label", 2, baselines.f1_by_row),
        ("word_jaccard", "text", 2, baselines.word_jaccard),
        ("coleridge_fbeta", "data set", 20, baselines.coleridge),
        ("coleridge_fbeta", "phrases", 20, baselines.coleridge),
    ):
        many = {"accuracy": rows, "coleridge_fbeta": rows // 50}.get(key, some)
        truth, said = arrays(key, cells, cells, many)
        lists = texts_of(truth), texts_of(said)
        ours, theirs = race(lambda: once(key, truth, fresh(said)), lambda: loop(*lists))  # noqa: B023
        at_least(named(key, cells, many), theirs / ours, goal, "a loop")
    truth, said = arrays("multilabel_f1", "label", "label", some)
    columns, names = (pd.Series(texts_of(truth)), pd.Series(texts_of(said))), LABELS[:5]
    ours, theirs = race(
        lambda: once_micro(truth, fresh(said)),
        lambda: baselines.micro_f1(*columns, names),
    )
    at_least(f"multilabel_f1 pooled, {some:,} rows", theirs / ours, 10, "a loop")
    loops_over_numbers(rows)


def once_micro(truth: Any, said: Any) -> float | None:
    metric = metrics.get("multilabel_f1")
    assert metric.computation.rows is not None
    assert metric.computation.total is not None
    return metric.computation.total(
        np.array(list(map(float, sums_of(metric.computation.rows(truth, said), None)))), average="micro"
    )


def loops_over_numbers(rows: int) -> None:
    some, dice = rows // 10, np.random.default_rng(3)
    truth, said = dice.integers(0, 2, (2, rows)).astype(float)
    lists = truth.astype(int).tolist(), said.astype(int).tolist()
    ours, theirs = race(lambda: once("binary_f1", truth, said), lambda: baselines.confusion(*lists))
    at_least(f"confusion matrix, {rows:,} rows", theirs / ours, 20, "a loop")

    has, scores = (dice.random((some // 5, 10)) > 0.7).astype(float), dice.random((some // 5, 10))
    sums = partial(once_thresholded, has, scores)
    ours, theirs = race(sums, lambda: baselines.thresholded_f1(has, scores, 0.5, 3))
    at_least(f"thresholded_f1 of 10 classes, {some // 5:,} rows", theirs / ours, 6, "a loop")

    events, risks = dice.integers(0, 2, 5000).astype(float), np.round(dice.random(5000), 3)
    pairs = events.astype(int).tolist(), risks.tolist()
    ours, theirs = race(
        lambda: once("concordance_index", events, risks), lambda: baselines.concordance(*pairs), times=3
    )
    at_least("concordance_index, 5,000 rows", theirs / ours, 1000, "a loop")

    true, ranked = arrays("global_average_precision", "word", "ranked", rows)
    names = [f"img_{row}" for row in range(rows)]
    wanted = dict(zip(names, texts_of(true), strict=True))
    labels = [LABELS[code] if code >= 0 else "" for code in ranked.codes.tolist()]
    given = dict(zip(names, zip(labels, ranked.confidence.tolist(), strict=True), strict=True))
    ours, theirs = race(
        lambda: once("global_average_precision", true, ranked),
        lambda: baselines.global_average_precision(wanted, given),
    )
    at_least(f"global_average_precision, {rows:,} rows", theirs / ours, 30, "a loop")


def once_thresholded(truth: np.ndarray, scores: np.ndarray) -> float | None:
    metric = metrics.get("thresholded_f1")
    assert metric.computation.rows is not None
    assert metric.computation.total is not None
    return metric.computation.total(
        np.array(list(map(float, sums_of(metric.computation.rows(truth, scores, threshold=0.5, count=3), None))))
    )


def scikit_learn(rows: int) -> None:
    """Time one F1 score of columns that are read already, against scikit-learn."""
    truth, submission = files("label", "label", rows)
    prepared = metrics.prepare("f1", truth)
    table = prepared.read_submission(submission)[1]
    texts = np.array(texts_of(prepared.answers)), np.array(table.column("y").to_pylist())

    def from_texts() -> float | None:
        prediction = prepared.metric.submission.read([Cells(table, "y", "id")], prepared.target)
        return once("f1", prepared.answers, prediction, **prepared.params)

    average = prepared.params["average"]
    ours, theirs = race(from_texts, lambda: sk.f1_score(*texts, average=average), times=3)
    at_least(f"f1 from texts, {rows:,} rows", theirs / ours, 15, "scikit-learn")
    dice = np.random.default_rng(4)
    answers, long = dice.integers(0, 2, rows).astype(float), dice.random(rows)
    for key, theirs_of, goal in (
        ("roc_auc", sk.roc_auc_score, 4),
        ("average_precision", sk.average_precision_score, 5),
    ):
        for words, scores in (("six digits", np.round(long, 6)), ("all digits", long)):
            ours, theirs = race(partial(once, key, answers, scores), partial(theirs_of, answers, scores))
            at_least(f"{key} ({words}), {rows:,} rows", theirs / ours, goal, "scikit-learn")


THEIRS: dict[str, Callable[..., float]] = {
    "rmse": sk.root_mean_squared_error,
    "log_loss": sk.log_loss,
    "roc_auc": sk.roc_auc_score,
    "accuracy": sk.accuracy_score,
}


def frames(rows: int) -> None:
    """Two frames to their score, without and with its interval, against merging them and scikit-learn."""
    for cells, (key, *_) in FRAMES.items():
        for words, ids_like, is_shuffled in (
            ("numbers as ids, in order", "", False),
            ("numbers as ids", "", True),
            ("texts as ids", NUMBERED, True),
        ):
            truth, sent = notebook(cells, rows, ids_like=ids_like, is_shuffled=is_shuffled)
            ours, full, theirs = race(
                partial(metrics.evaluate, key, truth, sent),
                partial(metrics.score, key, truth, sent),
                partial(baselines.merged, truth, sent, THEIRS[key]),
                times=3,
            )
            for what, taken in ((f"{key} ({cells}), {words}", ours), ("  with its interval", full)):
                say(what, f"{taken / theirs:.2f} × merge", "≤ 3", taken <= 3 * theirs)


def growth(rows: int) -> None:
    """A hundred times the rows."""
    prepared = [
        (metrics.prepare("accuracy", truth), submission)
        for truth, submission in (files("label", "label", size) for size in (rows // 100, rows))
    ]
    few, many = race(*(partial(truth.evaluate, submission, uncertainty=True) for truth, submission in prepared))
    say(f"accuracy, {rows // 100:,} to {rows:,} rows", f"{many / few:.0f} × time", "≤ 110", many / few <= 110)


def small(_: int) -> None:
    """A class's usual file."""
    for key, cells, sent, _goal in CASES:
        truth, submission = files(cells, sent, 1000)
        prepared = metrics.prepare(key, truth)
        (taken,) = race(partial(prepared.evaluate, submission, uncertainty=True), times=21)
        say(named(key, sent, 1000), f"{taken * 1e3:.2f} ms", "≤ 3 ms", taken <= 0.003)


COLD = (
    HIGH
    + """
import time
start = time.perf_counter()
import metrics, pyarrow, pyarrow.csv, pyarrow.compute
truth = metrics.prepare("accuracy", b"id,y\\n1,a\\n")
print(time.perf_counter() - start, end=" ")
truth.evaluate(b"id,y\\n1,a\\n", uncertainty=True)
print(peak())
"""
)


def cold(_: int) -> None:
    """A worker's first file."""
    runs = [
        subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(5)
    ]
    seconds, size = (statistics.median(float(run[place]) for run in runs) for place in (0, 1))
    say("imports of a cold worker, and its first truth", f"{seconds:.2f} s", "≤ 0.6 s", seconds <= 0.6)
    say("its memory after a first score", f"{size:.0f} MB", "≤ 150 MB", size <= 150)


TABLES = (small, cold, reading, frames, scikit_learn, loops, growth, memory, evaluation)


def main(rows: int, *wanted: str) -> None:
    for table in TABLES:
        if not wanted or table.__name__ in wanted:
            print(f"\n{table.__name__}: {table.__doc__}", flush=True)
            table(rows)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    main(count, *sys.argv[2:])
