"""The isolation of a scoring process: limits of its resources, and of what it may access.

``limit_process`` works on every kernel: time, memory, size of files. ``seal_process`` needs Linux with Landlock (for
files) and seccomp (for system calls), and neither root nor namespaces. Both must be called by a process of one thread
before it runs foreign code, and cannot be undone. Standard library only.

Refused calls return an error as if the kernel did not allow or know them, so that libraries do without them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

from . import landlock, seccomp
from .kernel import NoSandbox, call_kernel

__all__ = ["NoSandbox", "available", "limit_process", "seal_process"]

DAY = 86_400
_CAPABILITY_VERSION = 0x20080522
_CAP_DAC_READ_SEARCH = 2
_ADDRESSES = 4 * 2**30  # libraries and their threads reserve addresses that they never fill


def limit_process(memory_mb: int, *, seconds: int = DAY, file_mb: int = 1024) -> None:
    """Limit the resources of this process: memory for data, processor time, and the size of each file it writes.

    At ``seconds`` the kernel sends SIGXCPU, and a second later it kills; too much memory is a ``MemoryError``, too
    large a file an ``OSError``. Limits that a kernel does not support are left out.
    """
    memory = memory_mb * 1_048_576
    _lower_limit(resource.RLIMIT_CPU, seconds, seconds + 1)
    _lower_limit(resource.RLIMIT_DATA, memory, memory)
    _lower_limit(resource.RLIMIT_AS, memory + _ADDRESSES, memory + _ADDRESSES)
    _lower_limit(resource.RLIMIT_FSIZE, file_mb * 1_048_576, file_mb * 1_048_576)
    _lower_limit(resource.RLIMIT_CORE, 0, 0)


def seal_process(*, read: Sequence[Path] = (), write: Sequence[Path] = ()) -> None:
    """Restrict this process to the files below ``read`` and ``write`` and the libraries of Python.

    No other process, no program, no socket, no change of owners and permissions. Open descriptors stay open. Raises
    ``NoSandbox`` if the kernel lacks one of the two parts, after sealing with the other, and ``OSError`` if a path does
    not exist.
    """
    without_filter, without_files = seccomp.reason_without_seccomp(), landlock.reason_without_landlock()
    if _thread_count() != 1:
        raise NoSandbox("Other threads run in this process already, and Landlock would leave them out.")
    _give_up_capabilities()
    if not without_files:
        landlock.restrict_files(read, write)
    if not without_filter:
        seccomp.restrict_calls()
    if reason := without_filter or without_files:
        raise NoSandbox(reason)


def reason_without_seal() -> str:
    """The reason why ``seal_process`` cannot work here, for the operator, or ``""``."""
    return seccomp.reason_without_seccomp() or landlock.reason_without_landlock()


def _thread_count() -> int:
    """The number of threads of this process. Within a seal they cannot be counted; a process forked there has only
    one."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def _lower_limit(limit: int, soft: int, hard: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        _, now = resource.getrlimit(limit)
        soft, hard = (value if now == resource.RLIM_INFINITY else min(value, now) for value in (soft, hard))
        resource.setrlimit(limit, (soft, hard))


def _give_up_capabilities() -> None:
    """Drop root's capabilities, above all to raise limits again. Reading all files stays, because the libraries may be
    in the folder of another user; Landlock restricts the files."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    remaining = 1 << _CAP_DAC_READ_SEARCH
    data = (ctypes.c_uint32 * 6)()
    call_kernel("capget", ctypes.addressof(header), ctypes.addressof(data))
    data[:] = [data[0] & remaining, data[1] & remaining, 0, 0, 0, 0]
    call_kernel("capset", ctypes.addressof(header), ctypes.addressof(data))
