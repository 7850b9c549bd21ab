"""A file read in pieces says the same as the file read at once."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from metrics.core.errors import Refused
from metrics.reading import columns as columns_module
from metrics.reading import tables
from metrics.reading.columns import Cells
from metrics.tests.hostile import CASES
from metrics.tests.hostile_case import Case

pytestmark = pytest.mark.thorough

QUOTED = ('""', '"a,b"', '"a""b"', '"one\n\ntwo\n"')

HOW_ROWS_ARE_WRITTEN: dict[str, Callable[[random.Random], str]] = {
    "plain": lambda dice: f"{dice.randrange(99)},{'x' * dice.randrange(9)}",
    "with spaces": lambda dice: f" {dice.randrange(99)} ,\t{dice.choice(('', 'a b', 'é 語 '))}",
    "quoted": lambda dice: f"{dice.randrange(99)},{dice.choice(QUOTED)}",
    "with blank lines": lambda dice: dice.choice(("", "1,2", "3,4", "  ")),
    "with faults": lambda dice: dice.choice(("1,2", "1,2,3", "4", '5,"a"b', '6,"a\nb"')),
}


def said_of(data: bytes) -> object:
    """All that is known of a table, or what it was refused for."""
    try:
        table = tables.read_table(data, lambda names, line: [])
    except Refused as refused:
        return [problem.as_dict() for problem in refused.problems]
    columns = [table.column(name).to_pylist() for name in table.names]
    return columns, table.lines.tolist(), [problem.as_dict() for problem in table.problems]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rows", HOW_ROWS_ARE_WRITTEN)
def test_a_table_read_in_pieces_is_the_table(rows: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)
    data = "\n".join(["id,y", *(HOW_ROWS_ARE_WRITTEN[rows](dice) for _ in range(40)), "", "", ""]).encode()
    whole = said_of(data)
    for size in (1, 7, 50):
        monkeypatch.setattr(tables, "PIECE", size)
        assert said_of(data) == whole


def test_a_column_of_texts_that_hardly_repeat_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "_TRIED", 4)
    for answers, is_left in (("abca", True), ("abab", False), ("abc", False), ("abcaaaaaaa", True)):
        data = "id,y\n" + "".join(f"{row},{answer}\n" for row, answer in enumerate(answers))
        table = tables.read_table(data.encode(), lambda names, line: [])
        coded = Cells(table, "y", "id").coded(may_repeat=True)
        assert [coded.values[code] for code in coded.codes] == list(answers)
        assert (coded.size == len(coded)) is (is_left or len(set(answers)) == len(answers))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_each_input_of_the_list_is_told_the_same_in_pieces(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = said_of(case.data)
    monkeypatch.setattr(tables, "PIECE", len(case.data) // 3 + 1)
    assert said_of(case.data) == whole


@pytest.mark.parametrize(
    "rows",
    [
        ["1,2", "\ufeff3,4", "5,6"],
        ["1,2", "3,4", '"5,6'],
        ["1,2\r3,4\r5,6"],
        60 * ["1,2"],
    ],
    ids=["a mark inside", "no quote", "old line ends", "all twice"],
)
def test_every_fault_is_told_as_if_the_file_were_read_at_once(rows: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = "\n".join(["id,y", *rows]).encode()
    whole = said_of(data)
    for size in (1, 30):
        monkeypatch.setattr(tables, "PIECE", size)
        assert said_of(data) == whole
