"""The self-test of a custom metric at publication. Only the host reads it, so it quotes the metric's messages."""

import math
from dataclasses import replace
from typing import Any

from ..core.custom_metrics import is_perfect_known
from ..core.custom_parameters import SUBMISSION_COLUMNS
from ..core.errors import MetricFailed, SubmissionError, error_message, shown
from ..core.messages import Message, joined, plain_number
from ..core.result import Result
from ..core.truth import Truth
from .findings import Finding, warning

_NOT_BEST = {
    "overall": Message("A perfect submission scores {value} (overall) instead of {best}."),
    "public": Message("A perfect submission scores {value} (public) instead of {best}."),
    "private": Message("A perfect submission scores {value} (private) instead of {best}."),
}


def not_best(part: str, value: float, best: float) -> Finding:
    """The finding about a perfect file without the best value."""
    return Finding("self_test", Message(_NOT_BEST[part], value=plain_number(value), best=plain_number(best)))


def self_test_of_custom(truth: Truth) -> tuple[dict[str, Any], list[Finding]]:
    """The scores of a perfect submission, and findings if they are wrong.

    The best value may be unknown and the direction a guess, so a perfect submission is compared with the sample
    submission. Answers under other names than a submission's columns may be something else, so that a bad score of
    theirs is a warning. Without a perfect file the metric must be able to score the sample.
    """
    best = truth.metric.best if truth.metric.has_best else None
    sample = _tried(truth, truth.sample_submission(), is_perfect=False)
    if not is_perfect_known(truth):
        columns = ", ".join(map(shown, truth.scored_columns))
        unknown = _no_perfect_file(Message("the answers do not say what {columns} should be.", columns=columns))
        findings = [_as_blocking(sample)] if isinstance(sample, Finding) else [unknown]
        return {"best": best, "passed": isinstance(sample, Result)}, findings
    perfect = _tried(truth, truth.perfect_submission(), is_perfect=True)
    if isinstance(perfect, Finding):
        is_scored = isinstance(sample, Result)
        findings = [_no_perfect_file(perfect.message)] if is_scored else [_as_blocking(perfect)]
        return {"best": best, "passed": is_scored}, findings
    findings = [sample] if isinstance(sample, Finding) else _direction_findings(truth, perfect, sample)
    values = {"overall": perfect.overall, "public": perfect.public, "private": perfect.private}
    for name, value in values.items():
        if best is not None and value is not None and not math.isclose(value, best, rel_tol=1e-9, abs_tol=1e-9):
            findings.append(not_best(name, value, best))
    if findings and not set(truth.scored_columns) <= set(truth.table.names):
        findings = [_no_perfect_file(joined([finding.message for finding in findings]))]
    passed = not any(finding.blocking for finding in findings)
    return {**values, "best": best, "passed": passed}, findings


def _no_perfect_file(reason: str) -> Finding:
    message = Message("No perfect file is known: {reason}", reason=reason)
    why = Message("We cannot test the metric with one. Score a few files whose order you know before you launch.")
    return warning("no_perfect_file", message, why)


def _as_blocking(finding: Finding) -> Finding:
    why = Message(
        "Nothing shows that this metric can score a file. If only the sample is at fault, give a sample answer that "
        "can be scored in the parameter {parameter}.",
        parameter=SUBMISSION_COLUMNS,
    )
    return replace(finding, blocking=True, why=why)


_REFUSED = {
    True: Message("A perfect submission is refused: {reasons}"),
    False: Message("The sample submission is refused: {reasons}"),
}
_NOT_SCORED = {
    True: Message("A perfect submission cannot be scored: {reasons}"),
    False: Message("The sample submission cannot be scored: {reasons}"),
}
_WHY_TRIED = {
    True: Message("Every submission would meet this."),
    False: Message("Students who begin with the sample would meet this."),
}


def _tried(truth: Truth, file: bytes, *, is_perfect: bool) -> Result | Finding:
    try:
        return truth.evaluate(file)
    except (SubmissionError, MetricFailed) as error:
        form = _REFUSED[is_perfect] if isinstance(error, SubmissionError) else _NOT_SCORED[is_perfect]
        reasons = joined([words for words in (error_message(error), error.host_details) if words])
    return Finding("self_test", Message(form, reasons=reasons), blocking=is_perfect, why=_WHY_TRIED[is_perfect])


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


def _direction_findings(truth: Truth, perfect: Result, sample: Result) -> list[Finding]:
    is_better = sample.overall > perfect.overall
    if truth.metric.direction == "minimize":
        is_better = sample.overall < perfect.overall
    if not is_better:
        return []
    form = _UPSIDE_DOWN[truth.metric.direction]
    message = Message(form, perfect=plain_number(perfect.overall), sample=plain_number(sample.overall))
    why = Message("The board would be upside down. The operator can set the direction of the metric.")
    return [Finding("direction", message, blocking=True, why=why)]
