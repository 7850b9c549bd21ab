"""What came of one submission, as a child sends it and as a worker believes it."""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import metrics

from ._wire import Garbled

_KINDS = {"code": str, "message": str, "column": str, "line": int, "id": str, "count": int}
_MAY_BE_NONE = frozenset({"column", "line", "id"})
_MOST_TOLD = 8000


@dataclass(frozen=True)
class Answer:
    """A result with warnings, or all problems of the file, or a `failure` that is not the file's, in words for the log
    that quote no value. `told` is what a metric from outside said about it, for the host alone; `details` say where it
    arose."""

    result: metrics.Result | None = None
    problems: tuple[dict[str, Any], ...] = ()
    warnings: tuple[dict[str, Any], ...] = ()
    failure: str = ""
    told: str = ""
    details: str = field(default="", repr=False)


def too_much_memory(megabytes: int) -> dict[str, Any]:
    """The problem of a file that cannot be read within the limit; its host can ask the operator for more."""
    message = metrics.said(
        "Reading this file takes more than the {megabytes} MB of memory that this site gives to a file.",
        megabytes=megabytes,
    )
    return metrics.Problem("too_large", message).as_kept()


# --- in the child -----------------------------------------------------------------------------------------------


def answer_of(truth: metrics.Truth, file: Path, memory_mb: int) -> tuple[dict[str, Any], list[bytes]]:
    """Read a submission and measure it; never raises for anything that a file or a metric does."""
    try:
        return _sent(truth.evaluate(file, uncertainty=True, with_parts=True))
    except metrics.SubmissionError as error:
        return {"problems": [problem.as_kept() for problem in error.problems], "told": error.told}, []
    except MemoryError:
        return {"problems": [too_much_memory(memory_mb)]}, []
    except Exception as error:
        return stumbled(error), []


def stumbled(error: BaseException) -> dict[str, Any]:
    """An error that no file is to blame for. What a library says may quote the truth, so only its class is told."""
    if isinstance(error, metrics.MetricFailed):
        return {"failure": str(error), "told": f"{error} {error.told}".strip()}
    if isinstance(error, metrics.UnknownMetric):
        return {"failure": str(error), "told": f"{error} The operator can put its file back."}
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in reversed(frames))
    return {"failure": f"could not be measured: {type(error).__name__}", "details": places}


def _sent(result: metrics.Result) -> tuple[dict[str, Any], list[bytes]]:
    blobs = []
    doubts = {}
    for split, doubt in result.uncertainty.items():
        blobs.append(np.asarray(doubt.replicates, np.float64).tobytes())
        doubts[split] = [doubt.standard_error, doubt.low, doubt.high, len(blobs[-1])]
    names = ("metric", "version", "overall", "public", "private", "rows")
    told = {name: getattr(result, name) for name in names}
    secondary = list(map(metrics.kept, result.secondary))
    parts = {name: dict(part) for name, part in result.parts.items()}
    told |= {"params": dict(result.params), "parts": parts, "secondary": secondary, "uncertainty": doubts}
    return {"result": told, "warnings": [warning.as_kept() for warning in result.warnings]}, blobs


# --- in the worker ----------------------------------------------------------------------------------------------


def read(told: Mapping[str, Any], blob: bytes) -> Answer:
    """What a child sent, if it has the form of an answer. Raises `Garbled`."""
    try:
        if "result" in told:
            warnings = tuple(_problem(one) for one in told.get("warnings", ()))
            return Answer(result=_result(told["result"], blob), warnings=warnings)
        if "problems" in told:
            problems = tuple(_problem(one) for one in told["problems"])
            return Answer(problems=problems, told=str(told.get("told", ""))[:_MOST_TOLD])
        failure, words, details = (str(told.get(name, ""))[:_MOST_TOLD] for name in ("failure", "told", "details"))
        return Answer(failure=failure or "said nothing", told=words, details=details)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise Garbled(f"no answer ({type(error).__name__})") from error


def _result(told: Mapping[str, Any], blob: bytes) -> metrics.Result:
    return metrics.Result(
        metric=str(told["metric"]),
        version=str(told["version"]),
        params=dict(told["params"]),
        overall=_finite(told["overall"]),
        public=_finite_or_none(told["public"]),
        private=_finite_or_none(told["private"]),
        rows=int(told["rows"]),
        parts={
            str(split): {str(name): _number(n) for name, n in part.items()} for split, part in told["parts"].items()
        },
        uncertainty=_doubts(told["uncertainty"], blob),
        secondary=tuple(_beside(one) for one in told["secondary"]),
    )


def _beside(told: Mapping[str, Any]) -> metrics.SecondaryValue:
    values = {name: _finite_or_none(told[name]) for name in ("overall", "public", "private")}
    problem = metrics.restored(str(told["problem"]), told.get("forms", {}).get("problem"))
    return metrics.SecondaryValue(str(told["key"]), dict(told["params"]), **values, problem=problem)


def _doubts(told: Mapping[str, Any], blob: bytes) -> dict[str, metrics.Uncertainty]:
    found, start = {}, 0
    for split, (error, low, high, size) in told.items():
        drawn = np.frombuffer(blob[start : start + size], np.float64)
        start += size
        # An interval may have no end.
        found[str(split)] = metrics.Uncertainty(_finite_or_none(error), _number(low), _number(high), drawn)
    return found


def _problem(told: Mapping[str, Any]) -> dict[str, Any]:
    for name, kind in _KINDS.items():
        value = told[name]
        if not (isinstance(value, kind) and not isinstance(value, bool)) and not (
            value is None and name in _MAY_BE_NONE
        ):
            raise TypeError(name)
    found = {name: told[name] for name in _KINDS}
    message = metrics.restored(found["message"], told.get("forms", {}).get("message"))
    return metrics.Problem(**found | {"message": message}).as_kept()


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a number")
    return value


def _finite(value: Any) -> float:
    number = float(_number(value))
    if not math.isfinite(number):
        raise ValueError("a finite number")
    return number


def _finite_or_none(value: Any) -> float | None:
    return None if value is None else _finite(value)
