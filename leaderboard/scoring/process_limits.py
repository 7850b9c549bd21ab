"""Limits of a process that reads untrusted tables: its environment, resources and files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import metrics
from metrics.core.custom_packages import import_folders

from .seal import DAY, NoSandbox, limit_process, seal_process

_METRIC_FOLDERS = ("METRICS_DIR", "METRICS_CACHE")
_PASSED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TZ")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS")


def clean_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Environment variables for scoring processes: no variable of the site except those of custom metrics, so no
    password and no database URL. One thread per library, so that no other thread runs when a process forks. Of
    `PYTHONPATH` the folders of packages are kept. Sealed processes may read these, so folders that contain the site or
    its state are left out."""
    packages = os.pathsep.join(import_folders(environment))
    passed = [name for name in environment if name.startswith("METRICS_")]
    return {
        **{name: environment[name] for name in (*_PASSED_VARIABLES, *passed) if environment.get(name)},
        **({"PYTHONPATH": packages} if packages else {}),
        **dict.fromkeys(_THREADS, "1"),
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
        "MALLOC_ARENA_MAX": "1",
        "JOBLIB_MULTIPROCESSING": "0",  # otherwise joblib tries to start processes and warns
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
    }


def confine_process(
    memory_mb: int, *, read: Sequence[Path], write: Sequence[Path] = (), processor_seconds: int = DAY
) -> None:
    """Limit this process for the rest of its life and, as far as the kernel can, seal it: it can open only these files,
    the libraries and custom metric files, and start no process."""
    limit_process(memory_mb, seconds=processor_seconds)
    custom = [Path(os.environ[name]) for name in _METRIC_FOLDERS if os.environ.get(name)]
    files = [Path(metrics.__file__).parent, *(path for path in (*read, *custom) if path.exists())]
    with suppress(NoSandbox):
        seal_process(read=files, write=write)
