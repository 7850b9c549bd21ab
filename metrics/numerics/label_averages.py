"""Averages over labels of a ratio of counts, such as precision, for one label per row; or the ratio of one label."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any, Literal

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Metric, Rules, WholeColumn
from ..core.errors import shown
from ..core.figures import Figure, Grid
from ..core.messages import Message
from ..reading.class_columns import are_label
from ..reading.label_kinds import Label
from .averages import Share, effects, first_sum, mean_over_labels, size_of, worth
from .contingency import Crossing, confusion_matrix, cross

_SHOWN = 12
"""The most labels of a drawn table."""

Average = Annotated[
    Literal["binary", "macro", "micro", "weighted"],
    "binary: answers 0 and 1; with labels macro: their mean; micro: pooled counts; weighted: mean by true rows.",
]
OneLabel = Annotated[str | None, "Score only this label, such as spam, among others; empty means no single label."]


def average_over_labels(share: Callable[..., Share]) -> WholeColumn:
    """The average of ``share(average=…, label=…, **params)`` over the labels of both columns. With ``label`` only this
    label counts, whatever the average. ``wraps`` declares the parameters of ``share``."""

    @wraps(share)
    def rows(truth: Coded, prediction: Coded, **params: Any) -> Contributions:
        found, counts, average = _count_labels(truth, prediction, **params)
        added = worth(counts, share(**params), average)[found.true] * found.is_right
        return Contributions(added[:, None], found.of_row)

    @wraps(share)
    def score(truth: Coded, prediction: Coded, **params: Any) -> float:
        _, counts, average = _count_labels(truth, prediction, **params)
        return mean_over_labels(counts, share(**params), average)

    @wraps(share)
    def influence(truth: Coded, prediction: Coded, **params: Any) -> np.ndarray:
        # A right row is a tp of its label, a wrong one a fn of its true and a fp of its predicted label.
        found, counts, average = _count_labels(truth, prediction, **params)
        tp, fp, fn = effects(counts, share(**params), average).T
        return np.where(found.is_right, tp[found.true], fn[found.true] + fp[found.said])[found.of_row]

    @wraps(share)
    def effective_size(truth: Coded, prediction: Coded, **params: Any) -> float | None:
        _, counts, average = _count_labels(truth, prediction, **params)
        return size_of(counts, share(**params), average)

    return WholeColumn(
        rows=rows,
        total=first_sum,
        score=score,
        parts=("share",),
        last_line="{share}",
        influence=influence,
        effective_size=effective_size,
    )


def _count_labels(
    truth: Coded, prediction: Coded, *, average: str = "macro", label: str | None = None, **_: Any
) -> tuple[Crossing, np.ndarray, str]:
    """The confusion matrix, tp, fp and fn of the labels that count (0 for others), and how they are averaged."""
    found = cross(truth, prediction)
    if label is None:
        return found, found.outcomes, average
    return found, found.outcomes * are_label(found.labels, label)[:, None], "macro"


def label_missing(truth: Coded, *, label: OneLabel) -> str:
    if label is None or are_label(truth.values, label)[truth.codes].any():
        return ""
    return Message("none of its answers is {label}.", label=shown(label))


def with_labels(metric: Metric, share: Callable[..., Share]) -> Metric:
    """A metric of answers 0 and 1 for labels, of which it averages ``share``."""

    def figures(truth: Coded, prediction: Coded, **params: Any) -> list[Figure]:
        return confusion_matrix(truth, prediction) + by_label(truth, prediction, share(**params), metric.title)

    return replace(
        metric,
        truth=Label(),
        submission=Label(),
        computation=average_over_labels(share),
        rules=Rules(unscorable=label_missing),
        figures=wraps(share)(figures),
    )


def by_label(truth: Coded, prediction: Coded, share: Share, title: str) -> list[Figure]:
    """The counts and the ratio of each label; of many labels those with most rows."""
    found = cross(truth, prediction)
    often = np.sort(np.argsort(-(found.truly + found.predicted), kind="stable")[:_SHOWN])
    counts = found.outcomes[often].astype(np.int64)
    values = [mean_over_labels(row[None, :], share, "macro") for row in counts]
    cells = [[*row, value] for row, value in zip(counts.tolist(), values, strict=True)]
    names = [str(found.labels[place]) for place in often.tolist()]
    heads = ["right", "wrongly predicted", "missed", title]
    note = "macro is the mean of the last column, weighted its mean by the rows that truly have the label."
    if len(names) < found.size:
        note += f" The {found.size - len(names):,} rarest labels are not shown."
    return [Grid("Each label", names, heads, cells, corner="label", note=note)]
