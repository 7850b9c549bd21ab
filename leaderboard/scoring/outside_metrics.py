"""Metrics from outside: the file process reads the file, the worker has their process started.

A sealed file process can start nothing, and a process that can start others should read no table. So the aligned
tables go through a folder of this one submission, and everything else through the connection.
"""

from __future__ import annotations

import math
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import metrics
from metrics.sandbox.processes import ProcessStopped
from metrics.sandbox.runner import OutsideRunner, run_outside

from .messages import Channel, MalformedMessage
from .truth_spec import TruthSpec

_NAMES = frozenset(
    {"solution.csv", "submission.csv", "stand_in.csv", "whole.csv", "sample.csv"}
    | {"public.rows", "private.rows", "overall.rows"}
)
_SECONDS, _USUAL = "METRICS_SECONDS", 45
_ASKED = frozenset({"id_column", "ids_are_text", "params", "parts"})
"""What a file process may say of a run. How it is confined is not among it."""


def uses_outside_metric(spec: TruthSpec) -> bool:
    """Whether a metric of this ground truth comes from outside."""
    return any(map(is_outside, spec.metric_keys))


def is_outside(key: str) -> bool:
    """Whether this metric comes from outside."""
    return _metric(key) is not None


# --- in the file process ----------------------------------------------------------------------------------------


def ask_worker(worker: Channel, folder: Path) -> OutsideRunner:
    """What a file process does where the library would start a process."""

    def run(job: str, key: str, request: Mapping[str, Any], write: Callable[[Path], None]) -> dict[str, Any]:
        for left in folder.iterdir():
            left.unlink()
        write(folder)
        worker.send({"run": job, "key": key, "request": dict(request)})
        message = worker.receive()
        if "stopped" in message:
            raise ProcessStopped(*message["stopped"])
        answer: dict[str, Any] = message["answer"]
        return answer

    return run


# --- in the worker ----------------------------------------------------------------------------------------------


def run_for_file_process(spec: TruthSpec, message: Mapping[str, Any], folder: str, left: float) -> dict[str, Any]:
    """Have done what a file process asks for, if it is a metric of its ground truth; what to answer. Raises
    `MalformedMessage`.

    Of the seconds that are left for the file a secondary metric gets a share alone: one that hangs is stopped while
    there is time for the others and for the score.
    """
    metric = next(
        (found for key in spec.metric_keys if (found := _metric(key)) and found.key == message.get("key")), None
    )
    if metric is None or message["run"] not in ("kaggle", "ours") or not isinstance(message.get("request"), dict):
        raise MalformedMessage("a file process asked for what its ground truth does not need")
    request = {name: value for name, value in message["request"].items() if name in _ASKED}
    share = math.inf if metric.key == spec.metric else left / len(spec.metric_keys)
    try:
        with _time_limit(share):
            return {"answer": run_outside(message["run"], metric, request, lambda to: _move(Path(folder), to))}
    except ProcessStopped as stopped:
        return {"stopped": [str(stopped), stopped.output]}


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Within the block a run is stopped after so many seconds, or after those of the operator if they are fewer. The
    library reads them where the operator says them; a worker measures one file at a time."""
    given = os.environ.get(_SECONDS)
    os.environ[_SECONDS] = str(int(min(int(given or _USUAL), max(1, seconds))))
    try:
        yield
    finally:
        if given is None:
            del os.environ[_SECONDS]
        else:
            os.environ[_SECONDS] = given


def _move(folder: Path, target: Path) -> None:
    """The plain files of a file process; a link could lead anywhere."""
    for name in _NAMES:
        path = folder / name
        try:
            is_plain = stat.S_ISREG(os.lstat(path).st_mode)
        except FileNotFoundError:
            continue
        if is_plain:
            shutil.move(path, target / name)


def _metric(key: str) -> metrics.Metric | None:
    try:
        metric = metrics.get(key)
    except metrics.MetricError:
        return None
    return metric if metric.is_outside else None
