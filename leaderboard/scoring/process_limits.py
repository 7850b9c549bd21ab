"""What a process that reads somebody's table may use and touch."""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import metrics
from metrics.sandbox.isolation import ProcessLimits, limit_process, seal_forked, seal_process
from metrics.sandbox.kernel import NoSandbox
from metrics.sandbox.packages import import_folders

FILE_MB = 1024
"""The largest file that a job may write: a truth with its split, a sample, a table for a metric from outside."""

REUSED_WITHIN_SECONDS = 5
"""How long a file process may have worked after which it measures another file; its limit of processor time is so much
longer than that of a file."""

_OF_METRICS = ("METRICS_DIR", "METRICS_CACHE")
_PASSED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TZ")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS")


def clean_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """No variable of the site but where metric files from outside lie and what they may use: no password, no address
    of a database. One thread per library, so that nothing else runs when a process forks. Folders of packages in
    `PYTHONPATH` go along, but for those around the site or its state, because sealed processes may read them."""
    packages = os.pathsep.join(import_folders(environment))
    passed = [name for name in environment if name.startswith("METRICS_") or name == "TRUST_METRICS"]
    return {
        **{name: environment[name] for name in (*_PASSED_VARIABLES, *passed) if environment.get(name)},
        **({"PYTHONPATH": packages} if packages else {}),
        **dict.fromkeys(_THREADS, "1"),
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
        "MALLOC_ARENA_MAX": "1",
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
    }


def confine_truth(memory_mb: int, *, read: Sequence[Path], write: Sequence[Path] = ()) -> None:
    """Limit the memory of this process and, where the kernel can, seal it: as `confine` does, but it may fork."""
    set_soft_limit("RLIMIT_DATA", memory_mb * 1_048_576)
    outside = [Path(os.environ[name]) for name in _OF_METRICS if Path(os.environ.get(name) or "/nonexistent").exists()]
    with suppress(NoSandbox):
        seal_process(read=[Path(metrics.__file__).parent, *outside, *read], write=write, forks=True)


def set_soft_limit(name: str, value: int) -> None:
    """Set a limit that can be taken back."""
    with suppress(AttributeError, ValueError, OSError):
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        soft = hard if value == resource.RLIM_INFINITY else value
        resource.setrlimit(number, (soft, hard))


def confine_forked(seconds: float, memory_mb: int) -> None:
    """Limit a process that was forked from one that `confine_truth` sealed, and let it start no process either."""
    limits = ProcessLimits(math.ceil(seconds), memory_mb, FILE_MB, processes=1)
    limit_process(limits)
    try:
        seal_forked()
    except NoSandbox:
        limit_process(limits._replace(processes=0))  # which the seal includes


def confine(
    seconds: float, memory_mb: int, *, read: Sequence[Path], write: Sequence[Path] = (), starts_others: bool = False
) -> None:
    """Limit this process for the rest of its life and, where the kernel can, seal it: it opens these files and the
    libraries and nothing else, and starts no process. A process that starts others (a metric from outside has its own
    sandbox) is only limited."""
    limits = ProcessLimits(math.ceil(seconds), memory_mb, FILE_MB, processes=1)
    limit_process(limits)
    if starts_others:
        return
    try:
        seal_process(read=[Path(metrics.__file__).parent, *read], write=write)
    except NoSandbox:
        limit_process(limits._replace(processes=0))  # which the seal includes
