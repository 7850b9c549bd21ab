"""The process that keeps one ground truth, and the child of each submission.

The truth is read here and once. A child shares its memory until one of them writes, looks at one file within the limits
and the seal, answers, and is gone: what a file breaks or changes ends with it.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import select
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import metrics

from . import _wire
from ._answers import answer_of, stumbled
from ._confined import at_most, confine, confine_keeper
from ._elsewhere import ask_worker
from ._ruler import Ruler

WARM_ROWS = 200_000


def keep(worker: int, told: dict[str, Any]) -> None:
    """Read the truth, say so, and fork for each submission until the worker hangs up."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ruler, seconds = Ruler.from_dict(told["ruler"]), float(told["seconds"])
    try:
        for key in ruler.metric_keys:
            metrics.get(key)  # one from outside that nobody has looked at yet is, by a process of its own
        tables = [Path(one) for one in told["tables"]]  # below which its children get folders for such metrics
        confine_keeper(told["memory_mb"], read=[Path(one) for one in (ruler.truth, *ruler.folders)], write=tables)
        with _processor_seconds(seconds):
            truth = ruler.prepared()
    except BaseException as error:
        _wire.send(worker, stumbled(error))
        return
    gc.collect()
    gc.freeze()
    _wire.send(worker, {"ready": True})
    is_warm = False
    while True:
        request, _ = _wire.receive(worker)
        _wire.send(worker, _measured(truth, worker, request))
        if not is_warm:
            # After the first answer, so that nobody waits for it: what every child would have to find out again.
            _warm_up(truth, seconds)
            is_warm = True


def _measured(truth: metrics.Truth, worker: int, request: dict[str, Any]) -> dict[str, Any]:
    """Fork a child that speaks with the worker itself, and see to its end; how it ended."""
    ours, theirs = _wire.pair()
    life, held = os.pipe()
    until = time.monotonic() + request["seconds"]
    child = os.fork()
    if not child:
        _wire.close(worker, theirs, life)
        _work(truth, ours, request)
    try:
        _wire.close(ours, held)
        _wire.send_descriptor(worker, theirs)
        os.close(theirs)
        is_late = _wait(life, worker, until)
    finally:
        os.kill(child, signal.SIGKILL)  # it is a zombie by now, or it should be
        _, status = os.waitpid(child, 0)
        os.close(life)
    return {"ended": os.waitstatus_to_exitcode(status), "late": is_late}


def _wait(life: int, worker: int, until: float) -> bool:
    """Until the child is gone; whether it was too slow. A worker that hangs up or names the next file waits for nothing
    more of this one."""
    poll = select.poll()
    for one in (life, worker):
        poll.register(one, select.POLLIN)
    return not poll.poll(max(0.0, until - time.monotonic()) * 1000)


def _work(truth: metrics.Truth, worker: int, request: dict[str, Any]) -> NoReturn:
    """The child: one file."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for one in (0, 1, 2):
            os.dup2(nothing, one)
        os.close(nothing)
        file, scratch = Path(request["file"]), [Path(one) for one in request["scratch"]]
        if scratch:
            metrics.run_outside_by(ask_worker(worker, scratch[0]))
        confine(request["seconds"], request["memory_mb"], read=[file], write=scratch)
        _wire.send(worker, *answer_of(truth, file, request["memory_mb"]))
    except BaseException as error:
        with suppress(BaseException):
            _wire.send(worker, stumbled(error))
        os._exit(1)
    os._exit(0)


def _warm_up(truth: metrics.Truth, seconds: float) -> None:
    """Measure a file that knows nothing, so that what follows from the truth alone is there before the next fork."""
    with suppress(Exception), _processor_seconds(seconds):
        _ = truth.part_answers
        truth.buckets("")
        if truth.rows <= WARM_ROWS and not truth.metric.is_outside:
            truth.evaluate(truth.sample_submission(), uncertainty=True, with_parts=True)
    gc.collect()
    gc.freeze()


class _processor_seconds:  # noqa: N801
    """Within the block the kernel ends this process after so many more seconds of the processor."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        at_most("RLIMIT_CPU", math.ceil(time.process_time() + self.seconds))

    def __exit__(self, *_: object) -> None:
        at_most("RLIMIT_CPU", resource.RLIM_INFINITY)
