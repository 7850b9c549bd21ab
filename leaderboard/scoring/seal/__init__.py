"""The isolation of a process that scores: what it may use up, and what it may touch.

``limit_process`` works on every kernel: time, memory, size of files, no further processes, and an end with the parent.
``seal_process`` needs Linux with Landlock (which files) and seccomp (which calls of the kernel), and neither root nor
namespaces. Both are for a process of one thread before it runs foreign code, and can never be taken back. Standard
library only.

Refused calls answer with an error as if the kernel did not allow or know them, so that libraries do without.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from . import landlock
from . import seccomp as seccomp_module
from .kernel import NoSandbox, prctl, syscall

__all__ = ["NoSandbox", "ProcessLimits", "available", "limit_process", "prepare_seal", "seal_process"]

_PR_SET_PDEATHSIG = 1
_CAPABILITY_VERSION = 0x20080522
_CAP_DAC_READ_SEARCH = 2
_ADDRESSES = 4 * 2**30  # libraries and their threads reserve addresses that they never fill


class ProcessLimits(NamedTuple):
    """What a process may use up: ``seconds`` of processor time, memory for data, size of each file it writes.

    With ``processes`` 0 it starts none but may have threads; with more their number is not counted here.
    """

    seconds: int
    memory_mb: int
    file_mb: int
    processes: int = 0


def limit_process(limits: ProcessLimits) -> None:
    """Limit this process and let it end with its parent. What a kernel does not know is left out.

    At ``seconds`` the kernel sends SIGXCPU, a second later it kills; too much memory is a ``MemoryError``, too large a
    file an ``OSError``. Where seccomp is missing, forbidding processes forbids an unprivileged one its threads as well.
    """
    _end_with_parent()
    memory = limits.memory_mb * 1_048_576
    _most("RLIMIT_CPU", limits.seconds, limits.seconds + 1)
    _most("RLIMIT_DATA", memory)
    _most("RLIMIT_AS", memory + _ADDRESSES)
    _most("RLIMIT_FSIZE", limits.file_mb * 1_048_576)
    _most("RLIMIT_CORE", 0)
    if limits.processes == 0:
        try:
            seccomp_module.refuse_processes()
        except NoSandbox:
            _most("RLIMIT_NPROC", 0)


def seal_process(*, read: Sequence[Path] = (), write: Sequence[Path] = ()) -> None:
    """Let this process touch nothing but the files below ``read`` and ``write`` and the libraries of Python.

    No other process, no program, no socket, no change of owners and rights. Descriptors that are open stay open.
    Raises ``NoSandbox`` where the kernel lacks a part of this, and ``OSError`` where a path does not exist.
    """
    if reason := available():
        raise NoSandbox(reason)
    if _threads() != 1:
        raise NoSandbox("Other threads run in this process already, and Landlock would leave them out.")
    _give_up_capabilities()
    landlock.restrict(read, write)
    seccomp_module.restrict()


def prepare_seal() -> None:
    """Find out what ``seal_process`` needs to know, so that processes forked from this one need not."""
    seccomp_module.get_ready()
    landlock.libraries()


def available() -> str:
    """Why ``seal_process`` cannot work here, in words for an operator, or ``""``."""
    return seccomp_module.missing() or landlock.missing()


def _threads() -> int:
    """Of this process. A seal around it hides them; what was forked within one has had no time to start any."""
    try:
        return len(os.listdir("/proc/self/task"))
    except PermissionError:
        return 1


def _end_with_parent() -> None:
    with contextlib.suppress(NoSandbox, OSError):
        parent = os.getppid()
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the kernel was asked
            os._exit(1)


def _most(name: str, soft: int, hard: int | None = None) -> None:
    """Lower a limit; one that the system does not know is left alone."""
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource  # here, because systems that score at home may have none

        number = getattr(resource, name)
        _, now = resource.getrlimit(number)
        most = [value if now == resource.RLIM_INFINITY else min(value, now) for value in (soft, hard or soft)]
        resource.setrlimit(number, (most[0], most[1]))


def _give_up_capabilities() -> None:
    """What root may do beside being root: raise limits again, above all. Reading stays, because the libraries may lie
    in the folder of another user; which files may be read is Landlock's matter."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    remaining = 1 << _CAP_DAC_READ_SEARCH
    data = (ctypes.c_uint32 * 6)()
    syscall("capget", ctypes.addressof(header), ctypes.addressof(data))
    data[:] = [data[0] & remaining, data[1] & remaining, 0, 0, 0, 0]
    syscall("capset", ctypes.addressof(header), ctypes.addressof(data))
