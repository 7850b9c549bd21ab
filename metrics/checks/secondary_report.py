"""What a host should know about secondary metrics before they are published with a truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.errors import MetricError
from ..core.messages import Message
from ..core.registry import get
from ..core.secondary import SecondaryMetric
from ..core.truth import Truth
from .baselines import apart_of
from .findings import Finding

_WHY = Message(
    "It is to be shown beside the score, so it must be able to score this truth. Choose another one, or none."
)

SelfTest = Callable[[Truth], tuple[dict[str, Any], list[Finding]]]


@dataclass(frozen=True)
class SecondaryReport:
    """One secondary metric: its ``params`` with all defaults, what a perfect file scores, and per split how far two
    good files must be apart to differ by more than chance (empty where that cannot be told)."""

    key: str
    title: str
    params: dict[str, Any]
    self_test: dict[str, Any]
    apart: dict[str, float]


def secondary_reports(
    truth: Truth, self_test: SelfTest, *, is_quick: bool = False
) -> tuple[list[SecondaryReport], list[Finding]]:
    """One report and all findings for each; the findings name the metric that complains."""
    reports, findings = [], _twice(truth)
    for secondary_metric in truth.secondary:
        title = _title(secondary_metric)
        tested: dict[str, Any] = {}
        found = [Finding("secondary", secondary_metric.problem, blocking=True, why=_WHY)]
        apart: dict[str, float] = {}
        if secondary_metric.truth is not None:
            tested, found = self_test(secondary_metric.truth)
            apart = {} if is_quick or any(finding.blocking for finding in found) else apart_of(secondary_metric.truth)
        findings += [replace(finding, message=_about(title, finding.message)) for finding in found]
        reports.append(SecondaryReport(secondary_metric.key, title, dict(secondary_metric.params), tested, apart))
    return reports, findings


def _about(title: str, sentence: str) -> Message:
    return Message("Secondary metric {metric}: {sentence}", metric=title, sentence=sentence)


def _twice(truth: Truth) -> list[Finding]:
    """A metric that would be shown twice with the same parameters."""
    seen: list[tuple[str, Any]] = [(truth.metric.key, truth.params)]
    found = []
    for secondary_metric in truth.secondary:
        if (secondary_metric.key, secondary_metric.params) in seen:
            message = _about(_title(secondary_metric), Message("it is already there with the same parameters."))
            found.append(Finding("secondary", message, blocking=True, why=Message("It would only take room.")))
        seen.append((secondary_metric.key, secondary_metric.params))
    return found


def refused_secondary(truth: Truth, problems: Sequence[str]) -> list[Finding]:
    """Secondary metrics that cannot score the perfect file of the main one; ``problems`` are theirs, in order."""
    return [
        Finding(
            "secondary",
            _about(_title(secondary_metric), Message("a perfect submission is refused: {reasons}", reasons=problem)),
            why=_WHY,
        )
        for secondary_metric, problem in zip(truth.secondary, problems, strict=True)
        if problem and secondary_metric.truth is not None
    ]


def _title(secondary_metric: SecondaryMetric) -> str:
    try:
        return get(secondary_metric.key).title
    except MetricError:
        return secondary_metric.key
