"""A list in one cell is recognised in the writings of many programs, and a label with odd letters is left alone."""

import pytest

from metrics.reading.writings import Writing, read_list, writings_of

LISTS = {
    "1 5": Writing(),
    "1\t5": Writing("\t"),
    "1,5": Writing(","),
    "1, 5": Writing(","),
    "1;5": Writing(";"),
    "1 | 5": Writing("|"),
    "[1, 5]": Writing(",", "[]"),
    "[1 5]": Writing(None, "[]"),
    "(1, 5)": Writing(",", "()"),
    "{1, 5}": Writing(",", "{}"),
    "c(1, 5)": Writing(",", "()"),
    "array([1, 5])": Writing(",", "[]"),
    "np.array([1, 5], dtype=int32)": Writing(",", "[]"),
    "tensor([1, 5], device='cuda:0')": Writing(",", "[]"),
    "[np.int64(1), np.int64(5)]": Writing(",", "[]"),
    "Any[1, 5]": Writing(",", "[]"),
    "frozenset({1, 5})": Writing(",", "{}"),
    "['1', '5']": Writing(",", "[]", quoted=True),
    '["1","5"]': Writing(",", "[]", quoted=True),
    "['1' '5']": Writing(None, "[]", quoted=True),
    "array(['1', '5'], dtype='<U1')": Writing(",", "[]", quoted=True),
    "Index(['1', '5'], dtype='object')": Writing(",", "[]", quoted=True),
    "[b'1', b'5']": Writing(",", "[]", quoted=True),
    "[np.str_('1'), np.str_('5')]": Writing(",", "[]", quoted=True),
    "“1”, “5”": Writing(",", quoted=True),
    "[[1, 5]]": Writing(",", "[]"),
}


@pytest.mark.parametrize("cell", LISTS)
def test_a_list_has_the_same_items_in_every_writing(cell: str) -> None:
    found = read_list(cell)
    assert (found.items, found.writing) == (("1", "5"), LISTS[cell])
    assert found.is_clear


@pytest.mark.parametrize("cell", ["('x',)", "['x']", "{x}", "'x'", "[x]", "x,", "np.str_('x')", "b'x'", " x "])
def test_a_list_of_one_is_its_item(cell: str) -> None:
    assert read_list(cell).items == ("x",)


@pytest.mark.parametrize("cell", ["", "[]", "()", "set()", "array([], dtype=object)"])
def test_an_empty_list_has_no_items(cell: str) -> None:
    assert read_list(cell).items == ()


@pytest.mark.parametrize("label", ["rock'n'roll", "O'Neil", "sin(x)", "C++", "B-PER", "5'", "x-1"])
def test_a_label_with_odd_letters_is_left_alone(label: str) -> None:
    assert read_list(label).items == (label,)
    assert not writings_of([label])


@pytest.mark.parametrize("cell", ["[1 2 3 ... 8 9]", "[(1, 0.5), (2, 0.3)]", "{'a': 1, 'b': 2}"])
def test_a_list_whose_items_cannot_be_told_is_not_clear(cell: str) -> None:
    assert not read_list(cell).is_clear or ":" in "".join(read_list(cell).items)


def test_the_writings_of_a_column_are_counted() -> None:
    assert writings_of(["a, b", "c", "b, c", "['d']", ""]).most_common(1) == [(Writing(","), 2)]
