"""What a process that reads somebody's table may use and touch."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import metrics
from metrics.sandbox.isolation import ProcessLimits, limit_process, seal_process
from metrics.sandbox.kernel import NoSandbox
from metrics.sandbox.packages import import_folders

FILE_MB = 1024
"""The largest file that a job may write: a truth with its split, a sample, a table for a metric from outside."""

MAX_PROCESSOR_SECONDS = 86_400
"""Of one process in its life, beside the limits of each file."""

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


def limit_processor_time(seconds: float) -> None:
    """Have the kernel end this process after so many more seconds of the processor; can be set anew."""
    with suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (max(1, round(time.process_time() + seconds)), hard))


def confine(memory_mb: int, *, read: Sequence[Path], write: Sequence[Path] = ()) -> None:
    """Limit this process for the rest of its life and, where the kernel can, seal it: it opens these files and the
    libraries and nothing else, and starts no process."""
    limits = limit_memory(memory_mb)
    try:
        seal_process(read=[Path(metrics.__file__).parent, *read], write=write)
    except NoSandbox:
        limit_process(limits._replace(processes=0))  # which the seal includes


def limit_memory(memory_mb: int) -> ProcessLimits:
    """Limit what this process uses, and let it end with its parent. One that has to start others (a metric from
    outside has its own sandbox) is not sealed."""
    limits = ProcessLimits(MAX_PROCESSOR_SECONDS, memory_mb, FILE_MB, processes=1)
    limit_process(limits)
    return limits
