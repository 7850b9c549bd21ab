"""Which calls of the kernel a sealed process may make: a seccomp filter, in the kernel since 3.17.

The filter is a list of what is refused, with everything that is newer than this list. Numbers from 424 on are the same
on all machines.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from functools import cache
from itertools import chain, starmap
from typing import Final, NamedTuple

from metrics._cage_kernel import AUDIT, X86_64, NoSandbox, machine, no_new_privileges, syscall

NEWEST: Final = 469
"""The last call that was looked at for this list; later ones do not exist for a sealed process."""

_REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    # other programs and processes
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    "get_robust_list": (274, 100),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # the network and every other way to talk
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "listen": (50, 201),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "recvfrom": (45, 207),
    "recvmsg": (47, 212),
    "recvmmsg": (299, 243),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # memory that no limit counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # what Landlock does not look at: owners, rights, times and lengths of files, and watching them
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "truncate": (76, 45),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # who one is
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setgroups": (116, 159),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "capset": (126, 91),
    "personality": (135, 92),
    # the machine
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    # parts of the kernel that are known for their holes
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "seccomp": (317, 277),
}
_UNKNOWN: Final[dict[str, tuple[int | None, int | None]]] = {"clone3": (435, 435), "openat2": (437, 437)}
"""What they are asked for lies in memory, where a filter cannot look; libraries then use the older calls."""

_CLONE_THREAD: Final = 0x10000
_SHARED, _NAMELESS, _STACK = 0x1, 0x20, 0x100
_UNCOUNTED: Final = (_SHARED | _NAMELESS, _STACK, _STACK | _SHARED, _STACK | _NAMELESS, _STACK | _SHARED | _NAMELESS)
_CUT, _NEITHER, _CUT_OR_WRITE = 0o1000, 0o3, 0o1003
"""Bits of an opening. Opened neither for reading nor for writing a file asks Landlock for nothing, and can be cut."""

_SEALED_OPTIONS: Final = (3, 15, 16, 21, 23, 29, 30, 39, 0x53564D41)
"""Names of threads, slack of timers, names of memory, and questions. Above all not: whom this process ends with."""
_FOR_OTHERS: Final = (8, 15, 1024, 1026)
"""Whom a file sends signals to, making others wait before they write, and watching a folder."""
_QUESTIONS: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
"""Whether this is a terminal and how large, how much can be read, what programs keep, and waiting or not. Others change
the attributes of a file that may only be read, lock it for ever, or type for somebody."""


class _Rule(NamedTuple):
    """A call that depends on the bits ``mask`` of one of its arguments: only ``values``, or all but ``values``."""

    numbers: tuple[int | None, int | None]
    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    is_allowed: bool = True


_THREADS_ONLY: Final = _Rule((56, 220), 0, (_CLONE_THREAD,), _CLONE_THREAD)
_PROCESSES: Final = {name: numbers for name, numbers in _REFUSED.items() if name in ("fork", "vfork")}


_RULES: Final = (
    _THREADS_ONLY,
    _Rule((157, 167), 0, _SEALED_OPTIONS),  # prctl
    _Rule((72, 25), 1, _FOR_OTHERS, is_allowed=False),  # fcntl
    _Rule((16, 29), 1, _QUESTIONS),  # ioctl
    # Memory shared with nobody, and memory that is said to be a stack, are not counted as data of this process.
    _Rule((9, 222), 3, _UNCOUNTED, _SHARED | _NAMELESS | _STACK, is_allowed=False),  # mmap
    # Older kernels let a file that may be read be cut.
    _Rule((2, None), 1, (_CUT, _NEITHER, _CUT | _NEITHER), _CUT_OR_WRITE, is_allowed=False),  # open
    _Rule((257, 56), 2, (_CUT, _NEITHER, _CUT | _NEITHER), _CUT_OR_WRITE, is_allowed=False),  # openat
)


def _own_rules(process: int) -> list[_Rule]:
    """Calls that are refused for others than this process."""
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


def missing() -> str:
    """Why there is no seccomp, or ``""``."""
    errno_answer = ctypes.c_uint32(_ERRNO)
    try:
        syscall("seccomp", _IS_KNOWN, 0, ctypes.addressof(errno_answer))
    except NoSandbox as error:
        return str(error)
    except OSError as error:
        return f"This kernel has no seccomp filters, or they may not be used here ({error.strerror})."
    return ""


def restrict() -> None:
    """Refuse everything of the list to this process. Raises ``NoSandbox`` where that is not possible."""
    _take(_listed() + _code([*_own_steps(os.getpid()), _GRANTED]))


def refuse_processes() -> None:
    """Refuse only to start processes; threads are allowed. Raises ``NoSandbox``."""
    column = _column()
    unknown = [number for number in _numbers(_UNKNOWN, column) if number == 435]
    _install(_program(_numbers(_PROCESSES, column), unknown, [_THREADS_ONLY], None))


def get_ready() -> None:
    """Build what all sealed processes have in common, so that those forked from this one need not."""
    if not missing():
        _listed()


@cache
def _listed() -> bytes:
    """The filter without what depends on the process, and without its end."""
    column = _column()
    return _code(_program(_numbers(_REFUSED, column), _numbers(_UNKNOWN, column), _RULES, NEWEST)[:-1])


def _column() -> int:
    return 0 if machine() == X86_64 else 1


def _numbers(calls: dict[str, tuple[int | None, int | None]], column: int) -> list[int]:
    return [number for numbers in calls.values() if (number := numbers[column]) is not None]


# --- the filter's program ---------------------------------------------------------------------------------------

_LOAD, _AND, _EQUAL, _AT_LEAST, _ABOVE, _END = 0x20, 0x54, 0x15, 0x35, 0x25, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32: Final = 0x40000000
_SET_FILTER, _IS_KNOWN, _ALL_THREADS = 1, 2, 1

_Step = tuple[int, int, int, int]
"""An instruction: its code, how many steps to jump if true, if false, and its constant."""
_STEP: Final = struct.Struct("=HBBI")
_GRANTED: Final = (_END, 0, 0, _ALLOW)


def _refuse(number: int) -> _Step:
    return (_END, 0, 0, _ERRNO | number)


def _program(refused: Iterable[int], unknown: Iterable[int], rules: Iterable[_Rule], newest: int | None) -> list[_Step]:
    is_x86 = machine() == X86_64
    steps: list[_Step] = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, AUDIT[machine()]), (_END, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if is_x86:
        steps += [(_AT_LEAST, 0, 1, _X32), _refuse(errno.ENOSYS)]
    if newest is not None:
        steps += [(_ABOVE, 0, 1, newest), _refuse(errno.ENOSYS)]
    answers = chain(((n, errno.EPERM) for n in refused), ((n, errno.ENOSYS) for n in unknown))
    steps += chain.from_iterable(((_EQUAL, 0, 1, number), _refuse(answer)) for number, answer in answers)
    steps += chain.from_iterable(map(_by_argument, rules))
    return [*steps, _GRANTED]


def _own_steps(process: int) -> Iterable[_Step]:
    return chain.from_iterable(map(_by_argument, _own_rules(process)))


def _by_argument(rule: _Rule) -> list[_Step]:
    """The steps of one rule. The lower half of an argument decides, as it does in the kernel for these calls."""
    number = rule.numbers[_column()]
    if number is None:
        return []
    low = 16 + 8 * rule.argument  # both machines are little-endian
    found, otherwise = _GRANTED, _refuse(errno.EPERM)
    if not rule.is_allowed:
        found, otherwise = otherwise, found
    tests: list[_Step] = [(_LOAD, 0, 0, low), (_AND, 0, 0, rule.mask)]
    # From each value the jump leads behind the remaining ones and `otherwise`.
    tests += [(_EQUAL, len(rule.values) - place, 0, value) for place, value in enumerate(rule.values)]
    tests += [otherwise, found]
    return [(_EQUAL, 0, len(tests), number), *tests]


def _code(steps: Iterable[_Step]) -> bytes:
    return b"".join(starmap(_STEP.pack, steps))


def _install(steps: list[_Step]) -> None:
    _take(_code(steps))


def _take(code: bytes) -> None:
    instructions = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: a number of 16 bits and, at the next place of a pointer, where the instructions are.
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code) // _STEP.size, ctypes.addressof(instructions)))
    try:
        no_new_privileges()
        stranger = syscall("seccomp", _SET_FILTER, _ALL_THREADS, ctypes.addressof(program))
    except OSError as error:
        raise NoSandbox(f"The filter of calls was not taken ({error.strerror}).") from error
    if stranger:
        raise NoSandbox("A thread of this process has a filter of its own.")
