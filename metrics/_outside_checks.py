"""The self-test of a metric from outside, at publication. Its best value may be unknown and its direction a guess, so a
perfect submission is held against the sample, which knows nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from metrics._errors import MetricFailed, SubmissionError
from metrics._findings import Finding

if TYPE_CHECKING:
    from metrics._evaluate import Result
    from metrics._truth import Truth


def self_test(truth: Truth) -> tuple[dict[str, Any], list[Finding]]:
    """Both files' values and what is wrong with them. Only the host reads this, so it says what the metric said."""
    best = truth.metric.best if truth.metric.has_best else None
    perfect = _tried(truth, truth.perfect_submission(), "A perfect submission", blocking=True)
    if isinstance(perfect, Finding):
        return {"best": best, "passed": False}, [perfect]
    sample = _tried(truth, truth.sample_submission(), "The sample submission", blocking=False)
    findings = [sample] if isinstance(sample, Finding) else _direction(truth, perfect, sample)
    values = {"overall": perfect.overall, "public": perfect.public, "private": perfect.private}
    if best is not None:
        findings += _not_best(values, best)
    passed = not any(finding.blocking for finding in findings)
    return {**values, "best": best, "passed": passed}, findings


def _tried(truth: Truth, file: bytes, name: str, *, blocking: bool) -> Result | Finding:
    why = "Every submission would meet this." if blocking else "Students who begin with the sample would meet this."
    try:
        return truth.evaluate(file)
    except SubmissionError as error:
        return Finding("self_test", f"{name} is refused: {error} {error.told}".rstrip(), blocking=blocking, why=why)
    except MetricFailed as error:
        told = f" {error.told}" if error.told else ""
        return Finding("self_test", f"{name} cannot be scored: {error}{told}", blocking=blocking, why=why)


def _direction(truth: Truth, perfect: Result, sample: Result) -> list[Finding]:
    is_better = sample.overall > perfect.overall
    if truth.metric.direction == "minimize":
        is_better = sample.overall < perfect.overall
    if not is_better:
        return []
    said = "higher" if truth.metric.direction == "maximize" else "lower"
    message = (
        f"A perfect submission scores {perfect.overall!r}, and the sample, which knows nothing, {sample.overall!r}. "
        f"With this metric {said} is said to be better."
    )
    why = "The board would be upside down. The operator can set the direction of the metric."
    return [Finding("direction", message, blocking=True, why=why)]


def _not_best(values: dict[str, float | None], best: float) -> list[Finding]:
    return [
        Finding("self_test", f"A perfect submission scores {value} ({name}) instead of {best}.")
        for name, value in values.items()
        if value is not None and not math.isclose(value, best, rel_tol=1e-9, abs_tol=1e-9)
    ]
