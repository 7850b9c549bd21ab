"""The rows of a truth that have no fault, so that a fault elsewhere hides none of what there is to say."""

from __future__ import annotations

import numpy as np

from ..core.truth import Truth
from ..reading.tables import plain, raw_cells


def sound_rows(truth: Truth) -> Truth | None:
    """The truth without the rows that keep it from being read: empty or repeated ids, and cells that were refused.
    ``None`` where no row is left, or where that is not all that is wrong."""
    offsets, _ = raw_cells(truth.ids.array)
    is_sound = offsets[1:] > offsets[:-1]
    codes = plain(truth.ids.array.dictionary_encode().indices, np.int32)
    is_sound[np.setdiff1d(np.arange(truth.rows), np.unique(codes, return_index=True)[1])] = False
    for rows in truth.refused:
        is_sound[rows] = False
    rest = truth.some(np.flatnonzero(is_sound))
    is_readable = not rest.problems and len(rest.scored) and all(len(rows) for rows in rest.parts.values())
    return rest if is_readable else None
