"""Giving memory back to the system: a worker lives for days, and its largest file should not stay with it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache

_LARGE = 1 << 22
"""Bytes of a text worth the while: what is given back has to be asked for again, which takes time too."""


def release_memory(size: int) -> None:
    """Give back what Arrow and the C library hold for later, after work on a text of ``size`` bytes."""
    if size < _LARGE:
        return
    release_arrow()
    _trim()(0)


def release_arrow() -> None:
    """Give back what Arrow holds for later, which takes hardly any time."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


@lru_cache(maxsize=1)
def _trim() -> Callable[[int], object]:
    """The C library's own way; only that of GNU has one."""
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda kept: None
    return found
