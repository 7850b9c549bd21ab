"""Restriction of the files that a sealed process may access: Landlock, in the kernel since 5.13."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from metrics.core.custom_packages import import_folders

from .kernel import NoSandbox, call_kernel, no_new_privileges

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_DIR, _MAKE_REG, _TRUNCATE = 1 << 7, 1 << 8, 1 << 14
_RIGHTS_OF: Final = ((1, 13), (2, 14), (3, 15), (5, 16))
"""(version of Landlock, number of file rights that it knows)."""
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPED_SOCKETS, _SCOPED_SIGNALS = 1, 2
_READ: Final = _READ_FILE | _READ_DIR
_WRITE: Final = _READ | _WRITE_FILE | _TRUNCATE | _MAKE_REG | _MAKE_DIR | _REMOVE_FILE | _REMOVE_DIR
_OF_A_FILE: Final = _READ_FILE | _WRITE_FILE | _TRUNCATE
_PATH_BENEATH: Final = 1
_RULE: Final = struct.Struct("=Qi")
_ASK_VERSION: Final = 1

_SYSTEM: Final = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/usr/share/zoneinfo"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu"),
)
"""System files that libraries read. None of them contains anything about this site."""


def reason_without_landlock() -> str:
    """The reason why Landlock cannot be used, or ``""``."""
    try:
        _landlock_version()
    except NoSandbox as error:
        return str(error)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return "Landlock is switched off in this kernel: add landlock to the list lsm= of its start."
        if error.errno == errno.ENOSYS:
            return "This kernel has no Landlock: Linux 5.13 or newer is needed, built with it."
        return f"Landlock may not be used here, perhaps because of a container's own rules ({error.strerror})."
    return ""


def _landlock_version() -> int:
    return call_kernel("landlock_create_ruleset", 0, 0, _ASK_VERSION)


def restrict_files(read: Sequence[Path], write: Sequence[Path]) -> None:
    """Allow opening, making and removing files only below these paths; where the kernel knows how, also no TCP
    ports, and no signals and abstract sockets to the outside."""
    version = _landlock_version()
    rights = (1 << max(number for since, number in _RIGHTS_OF if version >= since)) - 1
    parts = [rights, *([_BIND_TCP | _CONNECT_TCP] if version >= 4 else [])]
    parts += [_SCOPED_SOCKETS | _SCOPED_SIGNALS] if version >= 6 else []
    rules = ctypes.create_string_buffer(struct.pack(f"={len(parts)}Q", *parts), 8 * len(parts))
    ruleset = call_kernel("landlock_create_ruleset", ctypes.addressof(rules), len(rules), 0)
    try:
        _allow_paths(ruleset, [*read, *_library_folders()], _READ & rights)
        _allow_paths(ruleset, write, _WRITE & rights)
        if Path(os.devnull).exists():
            _allow_paths(ruleset, [Path(os.devnull)], (_READ_FILE | _WRITE_FILE) & rights)
        no_new_privileges()
        call_kernel("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow_paths(ruleset: int, paths: Iterable[Path], rights: int) -> None:
    rule = ctypes.create_string_buffer(_RULE.size)
    for path in paths:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            _RULE.pack_into(rule, 0, rights if path.is_dir() else rights & _OF_A_FILE, place)
            call_kernel("landlock_add_rule", ruleset, _PATH_BENEATH, ctypes.addressof(rule), 0)
        finally:
            os.close(place)


def _library_folders() -> Iterator[Path]:
    """The folders of Python and its libraries, without the folders around them, where a site may keep its state."""
    paths = sysconfig.get_paths()
    names = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    names += [f"{prefix}/{lib}" for prefix in (sys.prefix, sys.base_prefix) for lib in ("lib", "lib64")]
    names += [place for place in os.environ.get("LD_LIBRARY_PATH", "").split(":") if place]
    names += import_folders()
    for name in dict.fromkeys([*names, f"{sys.prefix}/pyvenv.cfg", *_SYSTEM]):
        with suppress(OSError):
            yield Path(name).resolve(strict=True)
