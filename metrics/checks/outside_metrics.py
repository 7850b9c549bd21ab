"""The self-test of a metric from outside, at publication. Its best value may be unknown and its direction a guess, so a
perfect submission is held against the sample, which knows nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..core.errors import MetricFailed, SubmissionError, error_message
from ..core.messages import Message, joined
from .findings import Finding, not_best

if TYPE_CHECKING:
    from ..core.evaluate import Result
    from ..core.truth import Truth


def self_test(truth: Truth) -> tuple[dict[str, Any], list[Finding]]:
    """Both files' values and what is wrong with them. Only the host reads this, so it says what the metric said."""
    best = truth.metric.best if truth.metric.has_best else None
    perfect = _tried(truth, truth.perfect_submission(), is_perfect=True)
    if isinstance(perfect, Finding):
        return {"best": best, "passed": False}, [perfect]
    sample = _tried(truth, truth.sample_submission(), is_perfect=False)
    findings = [sample] if isinstance(sample, Finding) else _direction(truth, perfect, sample)
    values = {"overall": perfect.overall, "public": perfect.public, "private": perfect.private}
    if best is not None:
        findings += _not_best(values, best)
    passed = not any(finding.blocking for finding in findings)
    return {**values, "best": best, "passed": passed}, findings


_REFUSED = {
    True: Message("A perfect submission is refused: {reasons}"),
    False: Message("The sample submission is refused: {reasons}"),
}
_NOT_SCORED = {
    True: Message("A perfect submission cannot be scored: {reasons}"),
    False: Message("The sample submission cannot be scored: {reasons}"),
}
_WHY = {
    True: Message("Every submission would meet this."),
    False: Message("Students who begin with the sample would meet this."),
}


def _tried(truth: Truth, file: bytes, *, is_perfect: bool) -> Result | Finding:
    try:
        return truth.evaluate(file)
    except (SubmissionError, MetricFailed) as error:
        form = _REFUSED[is_perfect] if isinstance(error, SubmissionError) else _NOT_SCORED[is_perfect]
        reasons = joined([words for words in (error_message(error), error.host_details) if words])
    return Finding("self_test", Message(form, reasons=reasons), blocking=is_perfect, why=_WHY[is_perfect])


_UPSIDE_DOWN = {
    "maximize": Message(
        "A perfect submission scores {perfect}, and the sample, which knows nothing, {sample}. With this metric "
        "higher is said to be better."
    ),
    "minimize": Message(
        "A perfect submission scores {perfect}, and the sample, which knows nothing, {sample}. With this metric "
        "lower is said to be better."
    ),
}


def _direction(truth: Truth, perfect: Result, sample: Result) -> list[Finding]:
    is_better = sample.overall > perfect.overall
    if truth.metric.direction == "minimize":
        is_better = sample.overall < perfect.overall
    if not is_better:
        return []
    form = _UPSIDE_DOWN[truth.metric.direction]
    message = Message(form, perfect=f"{perfect.overall!r}", sample=f"{sample.overall!r}")
    why = Message("The board would be upside down. The operator can set the direction of the metric.")
    return [Finding("direction", message, blocking=True, why=why)]


def _not_best(values: dict[str, float | None], best: float) -> list[Finding]:
    return [
        Finding("self_test", not_best(name, value, best))
        for name, value in values.items()
        if value is not None and not math.isclose(value, best, rel_tol=1e-9, abs_tol=1e-9)
    ]
