"""Each id of a truth is found at its row, and no other text is found."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.reading.ids import Ids

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
    asked = ids[::-1] + others + ids[:2]
    expected = [ids.index(text) if text in ids else -1 for text in asked]
    assert Ids(texts(ids)).find(texts(asked)).tolist() == expected


def test_of_equal_ids_the_first_row_is_found() -> None:
    assert Ids(texts(["b2", "b1", "b2", "b1"])).find(texts(["b1", "b2"])).tolist() == [1, 0]


def test_each_of_many_ids_is_found() -> None:
    ids = [f"n{number}" for number in range(70_000)]
    asked = [*ids[::-1], "n70000", "m1", "n", "", "n01"]
    assert Ids(texts(ids)).find(texts(asked)).tolist() == [*range(69_999, -1, -1), -1, -1, -1, -1, -1]
