"""Ids that are a prefix and a number are found by their number: the same rows that any look-up finds."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics._ids import Ids
from metrics._index import Index
from metrics._numbered import Numbered

PREFIXES = st.sampled_from(["", "a", "img_", "row-", "2024_", "a-longer-prefix:", "exactly8", "ü", "x" * 32, "0"])
NUMBERS = st.lists(st.integers(0, 20_000), min_size=1, max_size=40, unique=True)
OTHERS = st.lists(
    st.one_of(
        st.text(st.sampled_from("0129ax_- ü\x00/:"), max_size=12),
        st.integers(-5, 10**18).map(str),
        st.builds("{}{}".format, PREFIXES, st.integers(0, 30_000)),
        st.builds("{}{:05d}".format, PREFIXES, st.integers(0, 30_000)),
    ),
    max_size=40,
)


def texts(values: list[str]) -> pa.Array:
    """In the middle of a longer array, as slices of a file are."""
    return pa.array(["before", *values, "behind"], pa.string())[1:-1]


@settings(deadline=None)
@given(PREFIXES, NUMBERS, st.booleans(), OTHERS)
def test_each_id_is_found_and_no_other_text_is(
    prefix: str, numbers: list[int], padded: bool, others: list[str]
) -> None:
    ids = [f"{prefix}{number:05d}" if padded else f"{prefix}{number}" for number in numbers]
    index = Numbered.of(texts(ids))
    asked = ids[::-1] + others + ids[:2]
    expected = [ids.index(text) if text in ids else -1 for text in asked]
    assert Index(texts(ids)).find(texts(asked)).tolist() == expected
    if index is not None:
        assert index.find(texts(asked)).tolist() == expected
    assert Ids(texts(ids)).find(texts(asked)).tolist() == expected


def test_usual_ids_are_numbered() -> None:
    for ids in (["1", "2", "10"], ["row7", "row0"], ["img_00000001", "img_00000002"], ["2024-01", "2024-02"], ["0"]):
        assert Numbered.of(texts(ids)) is not None, ids


@pytest.mark.parametrize(
    "ids",
    [
        [],
        ["a", "b"],
        ["a1", "b1"],
        ["1", "01"],
        ["1", "02"],
        ["1", ""],
        ["1", "1a"],
        ["1", "٣"],
        ["1", "99999999"],
        ["1", "123456789"],
        ["7", "7.0"],
        ["", "1"],
    ],
)
def test_ids_of_several_forms_are_left_to_the_table_of_hashes(ids: list[str]) -> None:
    assert Numbered.of(texts(ids)) is None


def test_of_equal_ids_the_first_row_is_found() -> None:
    index = Numbered.of(texts(["b2", "b1", "b2", "b1"]))
    assert index is not None
    assert index.find(texts(["b1", "b2"])).tolist() == [1, 0]


def test_many_rows_are_found_piece_by_piece() -> None:
    ids = [f"n{number}" for number in range(70_000)]
    index = Numbered.of(texts(ids))
    assert index is not None
    asked = [*ids[::-1], "n70000", "m1", "n", "", "n01"]
    assert index.find(texts(asked)).tolist() == [*range(69_999, -1, -1), -1, -1, -1, -1, -1]
