"""What a host should know about secondary metrics before they are published with a truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.errors import MetricError
from ..core.messages import Message
from ..core.registry import get
from ..core.secondary import Aside
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
    for aside in truth.secondary:
        title = _title(aside)
        tested: dict[str, Any] = {}
        found = [Finding("secondary", aside.problem, blocking=True, why=_WHY)]
        apart: dict[str, float] = {}
        if aside.truth is not None:
            tested, found = self_test(aside.truth)
            apart = {} if is_quick or any(finding.blocking for finding in found) else apart_of(aside.truth)
        findings += [replace(finding, message=_about(title, finding.message)) for finding in found]
        reports.append(SecondaryReport(aside.key, title, dict(aside.params), tested, apart))
    return reports, findings


def _about(title: str, sentence: str) -> Message:
    return Message("Secondary metric {metric}: {sentence}", metric=title, sentence=sentence)


def _twice(truth: Truth) -> list[Finding]:
    """A metric that would be shown twice with the same parameters."""
    seen: list[tuple[str, Any]] = [(truth.metric.key, truth.params)]
    found = []
    for aside in truth.secondary:
        if (aside.key, aside.params) in seen:
            message = _about(_title(aside), Message("it is already there with the same parameters."))
            found.append(Finding("secondary", message, blocking=True, why=Message("It would only take room.")))
        seen.append((aside.key, aside.params))
    return found


def refused_beside(truth: Truth, problems: Sequence[str]) -> list[Finding]:
    """Secondary metrics that cannot score the perfect file of the main one; ``problems`` are theirs, in order."""
    return [
        Finding(
            "secondary",
            _about(_title(aside), Message("a perfect submission is refused: {reasons}", reasons=problem)),
            why=_WHY,
        )
        for aside, problem in zip(truth.secondary, problems, strict=True)
        if problem and aside.truth is not None
    ]


def _title(aside: Aside) -> str:
    try:
        return get(aside.key).title
    except MetricError:
        return aside.key
