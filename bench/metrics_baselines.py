"""What the metrics are measured against: the least that any reader must do, and what one would write first.

The loops say what each definition says, one row after the other, with nothing prepared and nothing clever.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv


def floor(data: bytes, ids: pa.Array) -> pa.Array:
    """Read the table as text and find its ids among the truth's, each with Arrow's own means."""
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(use_threads=False),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types={"id": pa.string(), "y": pa.string()}),
    )
    return pc.index_in(table["id"], value_set=ids)


def naive(data: bytes, truth: pd.DataFrame) -> pd.DataFrame:
    """Read with pandas and merge."""
    return truth.merge(pd.read_csv(io.BytesIO(data), dtype=str), on="id")


def merged(truth: pd.DataFrame, sent: pd.DataFrame, score: Callable[..., float]) -> float:
    """Merge two frames and call a function of scikit-learn."""
    both = truth.merge(sent, on="id")
    return score(both.y_x, both.y_y)


def accuracy(truth: Sequence[str], said: Sequence[str]) -> float:
    """Row by row."""
    right = 0
    for true, answer in zip(truth, said, strict=True):
        if true == answer:
            right += 1
    return right / len(truth)


def confusion(truth: Sequence[int], said: Sequence[int]) -> dict[str, int]:
    """Row by row, four counters."""
    counts = {"tp": 0, "tn": 0, "fp": 0, "fn": 0}
    for true, answer in zip(truth, said, strict=True):
        if true == 1 and answer == 1:
            counts["tp"] += 1
        elif true == 0 and answer == 0:
            counts["tn"] += 1
        elif answer == 1:
            counts["fp"] += 1
        else:
            counts["fn"] += 1
    return counts


def concordance(events: Sequence[int], risks: Sequence[float]) -> float:
    """Every pair of rows."""
    right, pairs = 0.0, 0
    for i in range(len(events)):
        for j in range(i + 1, len(events)):
            if events[i] != events[j]:
                pairs += 1
                up, down = (risks[i], risks[j]) if events[i] > events[j] else (risks[j], risks[i])
                right += 1.0 if up > down else 0.5 if up == down else 0.0
    return right / pairs


def global_average_precision(truth: dict[str, str], said: dict[str, tuple[str, float]]) -> float:
    """By descending confidence, the precision at each right answer."""
    right, total = 0, 0.0
    for rank, (name, (label, _)) in enumerate(sorted(said.items(), key=lambda item: -item[1][1]), start=1):
        if truth[name] and label == truth[name]:
            right += 1
            total += right / rank
    return total / sum(bool(label) for label in truth.values())


def f1_by_row(truth: Sequence[str], said: Sequence[str]) -> float:
    """Labels counted one by one, then the mean over rows."""
    found = []
    for true_cell, said_cell in zip(truth, said, strict=True):
        true, answer = true_cell.split(), said_cell.split()
        tp = sum(label in answer for label in true)
        fn = sum(label not in answer for label in true)
        fp = sum(label not in true for label in answer)
        found.append(2 * tp / (2 * tp + fn + fp))
    return float(np.mean(found))


def micro_f1(truth: pd.Series, said: pd.Series, labels: Sequence[str]) -> float:
    """One pass over all rows for each label."""
    tp = fp = fn = 0
    for label in labels:
        has = truth.map(lambda cell, label=label: label in cell.split(" "))
        gets = said.map(lambda cell, label=label: label in cell.split(" "))
        tp += int((has & gets).sum())
        fp += int((~has & gets).sum())
        fn += int((has & ~gets).sum())
    return 2 * tp / (2 * tp + fp + fn)


def thresholded_f1(truth: np.ndarray, scores: np.ndarray, threshold: float, count: int) -> float:
    """Each row's classes above the threshold, the best of them, compared one by one."""
    found = []
    for true_row, row in zip(truth, scores, strict=True):
        above = np.flatnonzero(row > threshold)
        answer = above[np.argsort(-row[above], kind="stable")][:count]
        true = np.flatnonzero(true_row > threshold)
        tp = sum(label in answer for label in true)
        fn, fp = len(true) - tp, sum(label not in true for label in answer)
        found.append(2 * tp / (2 * tp + fn + fp) if len(true) + len(answer) else 1.0)
    return float(np.mean(found))


def similarity(one: str, other: str) -> float:
    """Word-level Jaccard of two texts."""
    ours, theirs = set(one.lower().split()), set(other.lower().split())
    both = ours & theirs
    return len(both) / (len(ours) + len(theirs) - len(both))


def word_jaccard(truth: Sequence[str], said: Sequence[str]) -> float:
    """Row by row."""
    return sum(similarity(true, answer) for true, answer in zip(truth, said, strict=True)) / len(truth)


def coleridge(truth: Sequence[str], said: Sequence[str], beta: float = 0.5) -> float:
    """A matrix of similarities for each row, and the best prediction of each true phrase."""
    tp = fp = fn = 0
    for true_cell, said_cell in zip(truth, said, strict=True):
        answers = sorted(said_cell.split("|"))
        matrix = np.array([[similarity(true, answer) for answer in answers] for true in true_cell.split("|")])
        is_match = np.apply_along_axis(_best_if_near, 1, matrix)
        tp += int(is_match.sum())
        fp += int((~is_match.any(axis=0)).sum())
        fn += int((~is_match.any(axis=1)).sum())
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _best_if_near(values: np.ndarray) -> np.ndarray:
    """Marks the first of the largest values, if that is at least one half."""
    marks = np.zeros(len(values), bool)
    best = values.max()
    if best >= 0.5:
        marks[np.flatnonzero(values == best)[0]] = True
    return marks
