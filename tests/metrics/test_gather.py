"""Many values are picked by their places as numpy picks them, and places out of range are refused."""

from __future__ import annotations

import numpy as np
import pytest

from metrics._gather import picked

KINDS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float64"]


@pytest.mark.parametrize("rows", [0, 1, 9, 50_000])
@pytest.mark.parametrize("kind", [*KINDS, "bool", "float32", "U3", ">f8"])
@pytest.mark.parametrize("width", ["int32", "int64", "uint8"])
def test_the_values_are_those_of_an_index(rows: int, kind: str, width: str) -> None:
    dice = np.random.default_rng(rows)
    values = dice.integers(0, 100, 100).astype(kind)
    places = dice.integers(0, 100, rows).astype(width)
    found = picked(values, places)
    assert found.dtype == values.dtype
    assert found.tolist() == values[places].tolist()
    assert found.flags.writeable


def test_slices_and_columns_of_a_table_are_picked_too() -> None:
    table = np.arange(300_000.0).reshape(-1, 3)
    places = np.arange(99_999, -1, -1)
    assert (picked(table, places) == table[places]).all()
    assert (picked(table[:, 1], places) == table[places, 1]).all()
    assert (picked(table[:, 1], places[::-2]) == table[places[::-2], 1]).all()


@pytest.mark.parametrize("place", [-1, -(2**31), 5, 2**31 - 1])
def test_a_place_out_of_range_is_refused(place: int) -> None:
    places = np.zeros(50_000, np.int32)
    places[1] = place
    with pytest.raises(IndexError):
        picked(np.arange(5.0), places)


def test_there_may_be_nothing_to_pick_from() -> None:
    assert picked(np.zeros(0), np.zeros(0, np.int32)).tolist() == []
    with pytest.raises(IndexError):
        picked(np.zeros(0), np.zeros(50_000, np.int32))
