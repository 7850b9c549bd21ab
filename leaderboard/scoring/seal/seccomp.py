"""Restriction of the system calls of a sealed process: a seccomp filter, in the kernel since 3.17.

The filter refuses the calls of a list, and all calls that are newer than the list. Numbers from 424 on are the same on
all machines.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from itertools import chain, starmap
from typing import Final, NamedTuple

from .kernel import AUDIT, X86_64, NoSandbox, call_kernel, machine_index, machine_name, no_new_privileges
from .system_calls import NEWEST, REFUSED, UNKNOWN

_CLONE_THREAD: Final = 0x10000
_SHARED, _NAMELESS, _STACK = 0x1, 0x20, 0x100
_UNCOUNTED: Final = (_SHARED | _NAMELESS, _STACK, _STACK | _SHARED, _STACK | _NAMELESS, _STACK | _SHARED | _NAMELESS)
_CUT, _NEITHER, _CUT_OR_WRITE = 0o1000, 0o3, 0o1003
"""Bits of `open`. Landlock does not check a file opened neither for reading nor for writing, which can be truncated."""

_SEALED_OPTIONS: Final = (3, 15, 16, 21, 23, 29, 30, 39, 0x53564D41)
"""Names of threads, timer slack, names of memory, and queries. Above all not the signal at the parent's death."""
_FOR_OTHERS: Final = (8, 15, 1024, 1026)
"""Refused: sending a file's signals to others, leases that make other writers wait, and watching a folder."""
_QUESTIONS: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
"""Allowed: queries of terminals and readable bytes, close-on-exec, and non-blocking mode. Other requests may change
attributes of a read-only file, lock it forever, or type into a terminal."""


class _Rule(NamedTuple):
    """A call that depends on the bits ``mask`` of one of its arguments: allowed only for ``values``, or for all
    others."""

    numbers: tuple[int | None, int | None]
    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    is_allowed: bool = True


_RULES: Final = (
    _Rule((72, 25), 1, _FOR_OTHERS, is_allowed=False),  # fcntl
    _Rule((16, 29), 1, _QUESTIONS),  # ioctl
    # Anonymous shared memory and memory declared as a stack are not counted as data of this process.
    _Rule((9, 222), 3, _UNCOUNTED, _SHARED | _NAMELESS | _STACK, is_allowed=False),  # mmap
    # Older kernels allow truncating a file that may only be read.
    _Rule((2, None), 1, (_CUT, _NEITHER, _CUT | _NEITHER), _CUT_OR_WRITE, is_allowed=False),  # open
    _Rule((257, 56), 2, (_CUT, _NEITHER, _CUT | _NEITHER), _CUT_OR_WRITE, is_allowed=False),  # openat
    _Rule((56, 220), 0, (_CLONE_THREAD,), _CLONE_THREAD),  # clone
    _Rule((157, 167), 0, _SEALED_OPTIONS),  # prctl
)


def _own_rules(process: int) -> list[_Rule]:
    """Calls that are allowed only for this process itself."""
    own, none_or_own = (process,), (0, process)
    return [
        _Rule((62, 129), 0, own),  # kill
        _Rule((234, 131), 0, own),  # tgkill
        _Rule((302, 261), 0, none_or_own),  # prlimit64
        _Rule((203, 122), 0, none_or_own),  # sched_setaffinity
        _Rule((144, 119), 0, none_or_own),  # sched_setscheduler
        _Rule((142, 118), 0, none_or_own),  # sched_setparam
        _Rule((314, 274), 0, none_or_own),  # sched_setattr
    ]


def reason_without_seccomp() -> str:
    """The reason why seccomp cannot be used, or ``""``."""
    errno_answer = ctypes.c_uint32(_ERRNO)
    try:
        call_kernel("seccomp", _IS_KNOWN, 0, ctypes.addressof(errno_answer))
    except NoSandbox as error:
        return str(error)
    except OSError as error:
        return f"This kernel has no seccomp filters, or they may not be used here ({error.strerror})."
    return ""


def restrict_calls() -> None:
    """Refuse all calls of the lists to this process. Raises ``NoSandbox`` if that is not possible."""
    rules = (*_RULES, *_own_rules(os.getpid()))
    _install_filter(_filter_program(_call_numbers(REFUSED), _call_numbers(UNKNOWN), rules))


def _call_numbers(calls: dict[str, tuple[int | None, int | None]]) -> list[int]:
    return [number for numbers in calls.values() if (number := numbers[machine_index()]) is not None]


# --- the filter's program ---------------------------------------------------------------------------------------

_LOAD, _AND, _EQUAL, _AT_LEAST, _ABOVE, _END = 0x20, 0x54, 0x15, 0x35, 0x25, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32: Final = 0x40000000
_SET_FILTER, _IS_KNOWN, _ALL_THREADS = 1, 2, 1

_Step = tuple[int, int, int, int]
"""An instruction: its code, the steps to jump if true and if false, and its constant."""
_STEP: Final = struct.Struct("=HBBI")
_GRANTED: Final = (_END, 0, 0, _ALLOW)


def _refuse_call(number: int) -> _Step:
    return (_END, 0, 0, _ERRNO | number)


def _filter_program(refused: Iterable[int], unknown: Iterable[int], rules: Iterable[_Rule]) -> list[_Step]:
    steps: list[_Step] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, AUDIT[machine_name()]),
        (_END, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    if machine_name() == X86_64:
        steps += [(_AT_LEAST, 0, 1, _X32), _refuse_call(errno.ENOSYS)]
    steps += [(_ABOVE, 0, 1, NEWEST), _refuse_call(errno.ENOSYS)]
    answers = chain(((n, errno.EPERM) for n in refused), ((n, errno.ENOSYS) for n in unknown))
    steps += chain.from_iterable(((_EQUAL, 0, 1, number), _refuse_call(answer)) for number, answer in answers)
    steps += chain.from_iterable(map(_by_argument, rules))
    return [*steps, _GRANTED]


def _by_argument(rule: _Rule) -> list[_Step]:
    """The steps of one rule. The lower half of an argument decides, as it does in the kernel for these calls."""
    number = rule.numbers[machine_index()]
    if number is None:
        return []
    low = 16 + 8 * rule.argument  # both machines are little-endian
    found, otherwise = _GRANTED, _refuse_call(errno.EPERM)
    if not rule.is_allowed:
        found, otherwise = otherwise, found
    tests: list[_Step] = [(_LOAD, 0, 0, low), (_AND, 0, 0, rule.mask)]
    # Each matching value jumps over the remaining ones and `otherwise`.
    tests += [(_EQUAL, len(rule.values) - place, 0, value) for place, value in enumerate(rule.values)]
    tests += [otherwise, found]
    return [(_EQUAL, 0, len(tests), number), *tests]


def _install_filter(steps: Iterable[_Step]) -> None:
    code = b"".join(starmap(_STEP.pack, steps))
    instructions = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: a 16-bit count, and a pointer to the instructions at the next aligned place.
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code) // _STEP.size, ctypes.addressof(instructions)))
    try:
        no_new_privileges()
        stranger = call_kernel("seccomp", _SET_FILTER, _ALL_THREADS, ctypes.addressof(program))
    except OSError as error:
        raise NoSandbox(f"The filter of calls was not taken ({error.strerror}).") from error
    if stranger:
        raise NoSandbox("A thread of this process has a filter of its own.")
