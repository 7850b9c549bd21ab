"""System calls without a Python function. All code of the sandbox calls the kernel through this module."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from functools import cache
from typing import Any, Final

X86_64, AARCH64 = "x86_64", "aarch64"
AUDIT: Final = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}
"""Seccomp's number of each machine."""

_PR_SET_NO_NEW_PRIVS: Final = 38
_OURS: Final = {
    "prctl": (157, 167),
    "capget": (125, 90),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
"""The numbers of the system calls that make a sandbox, on x86_64 and on aarch64."""


class NoSandbox(Exception):
    """This kernel cannot seal a process; the message is for the operator."""


def machine_name() -> str:
    """The machine that Python was built for. Raises ``NoSandbox`` if its system call numbers are unknown here."""
    if sys.platform != "linux":
        raise NoSandbox("Only Linux can seal a process the way that is needed here.")
    name = platform.machine()
    if name not in AUDIT or sys.maxsize < 2**32:
        raise NoSandbox(f"There is no filter for processors of the kind {name}: x86_64 and aarch64 are known.")
    return name


def machine_index() -> int:
    """The index of this machine in pairs of system call numbers. Raises ``NoSandbox``."""
    return 0 if machine_name() == X86_64 else 1


@cache
def _system_function() -> Any:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


def call_kernel(name: str, *arguments: int) -> int:
    """Call the kernel. Raises ``OSError``, and ``NoSandbox`` on an unknown machine."""
    number = _OURS[name][machine_index()]
    found = int(_system_function()(*(ctypes.c_long(argument) for argument in (number, *arguments))))
    if found < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return found


def no_new_privileges() -> None:
    """Forbid that a program started by this process gets more rights; both parts of the sandbox require it."""
    call_kernel("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
