"""Secondary metrics for display: never ranked, and shown wherever the score is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import metrics
from leaderboard.common.library_messages import stored_message, translated_message
from leaderboard.competitions.models import GroundTruth


@dataclass(frozen=True)
class SecondaryMetric:
    """A secondary metric of a ground truth; `settings` are its parameters that are not at their defaults."""

    key: str
    title: str
    direction: Literal["maximize", "minimize"]
    params: Mapping[str, Any] = field(hash=False)
    settings: tuple[tuple[str, Any], ...] = field(hash=False)

    @property
    def name(self) -> str:
        """The title in English, with the parameters that are not at their defaults."""
        return self._title_with_settings(self.title)

    @property
    def translated_name(self) -> str:
        """`name` in the reader's language."""
        return self._title_with_settings(translated_message(self.title))

    def _title_with_settings(self, title: str) -> str:
        return ", ".join([title, *(f"{name} {value}" for name, value in self.settings)])


@dataclass(frozen=True)
class ShownSecondaryValue:
    """Value of one secondary metric for a file; None with the reason in `problem`."""

    secondary_metric: SecondaryMetric
    value: float | None
    problem: str = ""


def secondary_metrics_of(ground_truth: GroundTruth | None) -> tuple[SecondaryMetric, ...]:
    """The secondary metrics of a ground truth in display order. A metric whose file is lost gets its key as title."""
    return tuple(map(_secondary_metric, ground_truth.secondary)) if ground_truth else ()


def _secondary_metric(entry: Mapping[str, Any]) -> SecondaryMetric:
    params = entry["params"]
    try:
        metric = metrics.get(f"{entry['key']}@{entry['version']}")
    except metrics.MetricError:
        return SecondaryMetric(entry["key"], entry["key"], "maximize", params, tuple(params.items()))
    defaults = {parameter.name: parameter.default for parameter in metric.parameters}
    settings = tuple((name, value) for name, value in params.items() if value != defaults.get(name))
    return SecondaryMetric(entry["key"], metric.title, metric.direction, params, settings)


def shown_secondary_values(
    secondary_metrics: Sequence[SecondaryMetric], stored: Sequence[Mapping[str, Any]]
) -> tuple[ShownSecondaryValue, ...]:
    """Stored values with their metrics, or the reasons for missing ones. Callers check that the score is visible."""
    return tuple(
        ShownSecondaryValue(
            secondary_metric,
            entry.get("value"),
            stored_message(entry, "problem") if entry.get("value") is None else "",
        )
        for secondary_metric, entry in zip(secondary_metrics, stored, strict=False)
    )
