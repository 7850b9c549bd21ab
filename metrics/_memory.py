"""Memory between arrays: kept for the next one while a file is scored, given back to the system afterwards.

A worker lives for days, and its largest file should not stay with it. But what is given back has to be asked for again,
page by page, and that takes longer than most work on an array does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache

_LARGE = 1 << 22
"""Bytes of a text worth the while."""

_KEPT, _APART = 64 << 20, 8 << 20
_KEPT_OPTION, _APART_OPTION = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD in malloc.h


@lru_cache(maxsize=1)
def keep_memory() -> None:
    """From now on the C library keeps up to 64 MiB of what was given up, and asks the system only for pieces of 8 MiB
    and more, which come quickly."""
    set_option = _function("mallopt")
    set_option(_KEPT_OPTION, _KEPT)
    set_option(_APART_OPTION, _APART)


def release_memory(size: int) -> None:
    """Give back what Arrow and the C library hold for later, after work on a text of ``size`` bytes."""
    if size < _LARGE:
        return
    release_arrow()
    _function("malloc_trim")(0)


def release_arrow() -> None:
    """Give back what Arrow holds for later, which takes hardly any time."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


@lru_cache(maxsize=2)
def _function(name: str) -> Callable[..., object]:
    """Of the C library; nothing is done where it is not that of GNU."""
    try:
        found: Callable[..., object] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return lambda *numbers: None
    return found
