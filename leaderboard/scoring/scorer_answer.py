"""Scoring one submission: the inputs of a sealed process, its answer, and the site's validation of that answer."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import metrics
from metrics.core.messages import restore_message, with_templates

from .messages import MalformedMessage

_KINDS = {"code": str, "message": str, "column": str, "line": int, "id": str, "count": int}
_MAY_BE_NONE = frozenset({"column", "line", "id"})
_LONGEST_TEXT = 8000


@dataclass(frozen=True)
class TruthSpec:
    """The arguments of `metrics.prepare` for a ground truth; `mark` identifies its file, wherever that is stored."""

    mark: str
    metric: str
    truth: str
    params: Mapping[str, Any]
    id_column: str | None = None
    secondary: Sequence[tuple[str, Mapping[str, Any]]] = ()

    @property
    def key(self) -> str:
        """A text that is equal for specs with the same scores."""
        fields = asdict(self)
        del fields["truth"]
        return json.dumps(fields, sort_keys=True)

    def prepared(self) -> metrics.Truth:
        """The truth, read and checked."""
        secondary = [(key, params) for key, params in self.secondary]  # in JSON these are lists
        return metrics.prepare(self.metric, Path(self.truth), self.params, self.id_column, secondary=secondary)


@dataclass(frozen=True)
class ScoringLimits:
    """Limits for reading a truth and scoring one file: wall-clock seconds, megabytes of data. `file_seconds` is for the
    file alone, once the truth is read."""

    seconds: float
    memory_mb: int
    file_seconds: float = math.inf


@dataclass(frozen=True)
class ScorerAnswer:
    """A result with warnings, or all problems of the file, or a `failure` that is not the file's fault, as a message
    for the log that quotes no value. `host_details` is a custom metric's message, for the host alone; `details` is the
    place in the code."""

    result: metrics.Result | None = None
    problems: tuple[dict[str, Any], ...] = ()
    warnings: tuple[dict[str, Any], ...] = ()
    failure: str = ""
    host_details: str = ""
    details: str = field(default="", repr=False)


def too_much_memory(megabytes: int) -> dict[str, Any]:
    """The problem of a file that cannot be read within the limit; its host can ask the operator for more."""
    message = metrics.Message(
        "This file needs more memory to read than the {megabytes} MB this site allows.",
        megabytes=megabytes,
    )
    return metrics.Problem("too_large", message).as_stored()


def not_readable() -> ScorerAnswer:
    """The answer for a file whose reading killed the process each time."""
    message = metrics.Message("This file cannot be read: reading it breaks off. Save it again as a plain CSV file.")
    return ScorerAnswer(problems=(metrics.Problem("unreadable", message).as_stored(),))


# --- in the sealed process ----------------------------------------------------------------------------------------


def score_bytes(
    truth: metrics.Truth, file: bytes | Path, memory_mb: int, when_read: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Read a file and score it; `when_read` is called in between. Never raises an error that a file or a metric
    causes."""
    try:
        return _message_of(truth.evaluate(file, uncertainty=True, with_parts=True, when_read=when_read))
    except metrics.SubmissionError as error:
        return {"problems": [problem.as_stored() for problem in error.problems], "host_details": error.host_details}
    except MemoryError:
        return {"problems": [too_much_memory(memory_mb)]}
    except Exception as error:
        return failure_of(error)


def failure_of(error: BaseException) -> dict[str, Any]:
    """The message about an error that is no file's fault. Only the class is sent, because a library's message may quote
    the truth."""
    if isinstance(error, metrics.MetricFailed):
        return {"failure": str(error), "host_details": f"{error} {error.host_details}".strip()}
    if isinstance(error, metrics.UnknownMetric):
        return {"failure": str(error), "host_details": f"{error} The operator can put its file back."}
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in reversed(frames))
    return {"failure": f"could not be scored: {type(error).__name__}", "details": places}


def _message_of(result: metrics.Result) -> dict[str, Any]:
    names = ("metric", "version", "overall", "public", "private", "rows")
    message = {
        **{name: getattr(result, name) for name in names},
        "params": dict(result.params),
        "parts": {split: dict(part) for split, part in result.parts.items()},
        "secondary": list(map(with_templates, result.secondary)),
        "uncertainty": {
            split: [found.standard_error, found.low, found.high] for split, found in result.uncertainty.items()
        },
    }
    return {"result": message, "warnings": [warning.as_stored() for warning in result.warnings]}


# --- in the worker ----------------------------------------------------------------------------------------------


def read_answer(message: Mapping[str, Any]) -> ScorerAnswer:
    """The validated answer of a sealed process. Raises `MalformedMessage`."""
    try:
        if "result" in message:
            warnings = tuple(_read_problem(one) for one in message.get("warnings", ()))
            return ScorerAnswer(result=_read_result(message["result"]), warnings=warnings)
        if "problems" in message:
            problems = tuple(_read_problem(one) for one in message["problems"])
            return ScorerAnswer(problems=problems, host_details=str(message.get("host_details", ""))[:_LONGEST_TEXT])
        failure, host_details, details = (
            str(message.get(name, ""))[:_LONGEST_TEXT] for name in ("failure", "host_details", "details")
        )
        return ScorerAnswer(failure=failure or "said nothing", host_details=host_details, details=details)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise MalformedMessage(f"no answer ({type(error).__name__})") from error


def _read_result(message: Mapping[str, Any]) -> metrics.Result:
    return metrics.Result(
        metric=str(message["metric"]),
        version=str(message["version"]),
        params=dict(message["params"]),
        overall=_read_finite(message["overall"]),
        public=_finite_or_none(message["public"]),
        private=_finite_or_none(message["private"]),
        rows=int(message["rows"]),
        parts={
            str(split): {str(name): _read_number(n) for name, n in part.items()}
            for split, part in message["parts"].items()
        },
        uncertainty={str(split): _read_uncertainty(*found) for split, found in message["uncertainty"].items()},
        secondary=tuple(map(_read_secondary, message["secondary"])),
    )


def _read_uncertainty(error: Any, low: Any, high: Any) -> metrics.Uncertainty:
    """The uncertainty without replicates, which the site does not use. The interval may be infinite."""
    return metrics.Uncertainty(_finite_or_none(error), _read_number(low), _read_number(high), np.empty(0))


def _read_secondary(message: Mapping[str, Any]) -> metrics.SecondaryValue:
    values = {name: _finite_or_none(message[name]) for name in ("overall", "public", "private")}
    problem = restore_message(str(message["problem"]), message.get("forms", {}).get("problem"))
    return metrics.SecondaryValue(str(message["key"]), dict(message["params"]), **values, problem=problem)


def _read_problem(message: Mapping[str, Any]) -> dict[str, Any]:
    for name, kind in _KINDS.items():
        value = message[name]
        is_right = isinstance(value, kind) and not isinstance(value, bool)
        if not is_right and not (value is None and name in _MAY_BE_NONE):
            raise TypeError(name)
    found = {name: message[name] for name in _KINDS}
    text = restore_message(found["message"], message.get("forms", {}).get("message"))
    return metrics.Problem(**found | {"message": text}).as_stored()


def _read_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a number")
    return value


def _read_finite(value: Any) -> float:
    number = float(_read_number(value))
    if not math.isfinite(number):
        raise ValueError("a finite number")
    return number


def _finite_or_none(value: Any) -> float | None:
    return None if value is None else _read_finite(value)
