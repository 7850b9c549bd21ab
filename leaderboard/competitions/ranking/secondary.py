"""Secondary metrics as boards and teams see them: never ranked, and revealing no more than the score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.library_messages import stored_message, translated_message

from ..models import GroundTruth, Score
from ..models.competition import Split
from .ladder import NO_STEP, Ladder

NOT_SHOWN_YET = gettext_lazy("You'll see it when the private leaderboard opens: it can't be rounded.")


@dataclass(frozen=True)
class SecondaryMetric:
    """A secondary metric of a ground truth; `settings` are its parameters that are not at their defaults."""

    key: str
    title: str
    direction: Literal["maximize", "minimize"]
    params: Mapping[str, Any] = field(hash=False)
    settings: tuple[tuple[str, Any], ...] = field(hash=False)
    ladder: Ladder
    """How a steady board rounds it: by a step of its own."""

    @property
    def name(self) -> str:
        """The title, in English, with what tells it from the same metric under other parameters."""
        return self._called(self.title)

    @property
    def words(self) -> str:
        """The same in the reader's language."""
        return self._called(translated_message(self.title))

    def _called(self, title: str) -> str:
        return ", ".join([title, *(f"{name} {value}" for name, value in self.settings)])


@dataclass(frozen=True)
class ShownSecondaryValue:
    """What one secondary metric says of a file; without a `value` for the reason in `problem`."""

    secondary_metric: SecondaryMetric
    value: float | None
    problem: str = ""
    is_rounded: bool = False


def secondary_metrics_of(ground_truth: GroundTruth | None) -> tuple[SecondaryMetric, ...]:
    """The secondary metrics of a ground truth in the order shown. One whose file is gone is called by its key."""
    return tuple(map(_secondary_metric, ground_truth.secondary)) if ground_truth else ()


def _secondary_metric(one: Mapping[str, Any]) -> SecondaryMetric:
    params, step = one["params"], one["step"] or NO_STEP
    try:
        metric = metrics.get(f"{one['key']}@{one['version']}")
        best = metric.best_with(params)
    except (metrics.MetricError, TypeError):
        return SecondaryMetric(one["key"], one["key"], "maximize", params, tuple(params.items()), Ladder(step, -1.0))
    defaults = {parameter.name: parameter.default for parameter in metric.parameters}
    settings = tuple((name, value) for name, value in params.items() if value != defaults.get(name))
    sign = 1.0 if metric.direction == "minimize" else -1.0
    rungs = Ladder(step, sign, best if math.isfinite(best) else None)
    return SecondaryMetric(one["key"], metric.title, metric.direction, params, settings, rungs)


def shown_secondary_values(
    secondary_metrics: Sequence[SecondaryMetric], stored: Sequence[Mapping[str, Any]], ladder: Ladder | None
) -> tuple[ShownSecondaryValue, ...]:
    """The secondary values that may be shown with a score that `ladder` shows (None: exactly); nothing on a hidden
    board."""
    if ladder is not None and ladder.is_hidden:
        return ()
    return tuple(
        _shown_secondary_value(secondary_metric, one, ladder)
        for secondary_metric, one in zip(secondary_metrics, stored, strict=False)
    )


def _shown_secondary_value(
    secondary_metric: SecondaryMetric, one: Mapping[str, Any], ladder: Ladder | None
) -> ShownSecondaryValue:
    value = one.get("value")
    if value is None:
        return ShownSecondaryValue(secondary_metric, None, stored_message(one, "problem"))
    if ladder is None:
        return ShownSecondaryValue(secondary_metric, value)
    if secondary_metric.ladder.is_hidden:
        return ShownSecondaryValue(secondary_metric, None, str(NOT_SHOWN_YET))
    return ShownSecondaryValue(secondary_metric, secondary_metric.ladder.rounded(value), is_rounded=True)


def secondary_values(
    ground_truth: GroundTruth,
    split: Split,
    submissions: Iterable[UUID] | QuerySet[Any, Any],
    ladder: Ladder | None,
) -> dict[str, tuple[ShownSecondaryValue, ...]]:
    """Submission → what its secondary metrics say on a split. Callers know that its score may be seen."""
    secondary_metrics = secondary_metrics_of(ground_truth)
    if not secondary_metrics or (ladder is not None and ladder.is_hidden):
        return {}
    rows = Score.objects.filter(ground_truth=ground_truth, split=split, submission__in=submissions)
    return {
        str(pk): shown_secondary_values(secondary_metrics, stored, ladder)
        for pk, stored in rows.values_list("submission_id", "secondary")
    }
