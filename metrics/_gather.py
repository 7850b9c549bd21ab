"""Picking many values by their places: what numpy does with an index, without its copies of the places."""

from __future__ import annotations

from typing import Any

import numpy as np

_FEW = 10_000
_KINDS = {"i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32", "i8": "int64",
          "u8": "uint64", "f8": "float64"}  # fmt: skip


def picked(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """``values[places]`` for places from 0 on, shapes (n,) and (m,).

    Of a million numbers Arrow picks in a third to two thirds of the time, for it takes places of any width as they
    are. Raises ``IndexError``.
    """
    if len(places) < _FEW or values.ndim != 1 or not (_is_plain(values) and _is_plain(places)):
        found: np.ndarray = values[places]
        return found
    lowest, highest = int(places.min()), int(places.max())
    if lowest < 0 or highest >= len(values):
        message = f"places from {lowest} to {highest} among {len(values)} values"
        raise IndexError(message)
    import pyarrow.compute as pc

    taken = pc.take(_arrow(values), _arrow(places), boundscheck=False)
    return np.frombuffer(taken.buffers()[1], values.dtype, len(places))


def _is_plain(array: np.ndarray) -> bool:
    return array.flags.c_contiguous and array.dtype.isnative and array.dtype.str[1:] in _KINDS


def _arrow(array: np.ndarray) -> Any:
    import pyarrow as pa

    kind = getattr(pa, _KINDS[array.dtype.str[1:]])()
    return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(array)])
