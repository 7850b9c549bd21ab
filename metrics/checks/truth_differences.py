"""How a ground truth differs from the one before it: what a host meant to correct, and whether that is all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..reading.headers import TRIMMED, USAGE, check_truth_header, id_column_of
from ..reading.numbers import to_decimal
from ..reading.tables import Source, read_bytes, read_table
from ..reading.text import LONGEST_MASK_LINE

MOST_EXAMPLES = 20
_CODE = re.compile(r"[+-]?0[0-9]")
"""Begins a name made of digits, such as ``007``, which is another label than ``7``."""


@dataclass(frozen=True)
class TruthDifference:
    """One answer that is another one now. ``split`` is the row's part, ``""`` where the truth has none."""

    id: str
    column: str
    before: str
    after: str
    split: str


@dataclass(frozen=True)
class TruthDifferences:
    """``answers`` are the rows with another answer, by part; ``moved`` are those in another part, ``added`` and
    ``gone`` those that one of the two truths alone has. ``columns`` are those of answers that the earlier truth lacked
    and ``columns_gone`` those that it alone has. ``examples`` are the first of the answers."""

    answers: dict[str, int]
    moved: int
    added: int
    gone: int
    columns: tuple[str, ...]
    columns_gone: tuple[str, ...]
    examples: tuple[TruthDifference, ...]


def compare_truths(
    truth: Source, earlier: Source, id_column: str | None = None, earlier_id_column: str | None = None
) -> TruthDifferences:
    """Compare two truths that can be read, by id. ``1`` and ``1.0`` are the same answer.

    >>> found = compare_truths(b"id,y\\n1,5\\n2,7\\n", b"id,y\\n1,5.0\\n2,8\\n3,9\\n")
    >>> found.examples, found.gone
    ((TruthDifference(id='2', column='y', before='8', after='7', split=''),), 1)
    """
    now, then = _Columns.of(truth, id_column), _Columns.of(earlier, earlier_id_column)
    shared = [name for name in now.answers if name in then.answers]
    rows: Counter[str] = Counter()
    examples: list[TruthDifference] = []
    moved = 0
    for name, here, there in now.paired_with(then):
        split = now.parts[here].casefold() if now.parts else ""
        moved += bool(now.parts and then.parts and split != then.parts[there].casefold())
        found = [
            TruthDifference(name, column, then.answers[column][there], now.answers[column][here], split)
            for column in shared
            if _is_other(now.answers[column][here], then.answers[column][there])
        ]
        rows[split] += bool(found)
        examples += found[: MOST_EXAMPLES - len(examples)]
    return TruthDifferences(
        answers={split: number for split, number in sorted(rows.items()) if number},
        moved=moved,
        added=len(now.places.keys() - then.places.keys()),
        gone=len(then.places.keys() - now.places.keys()),
        columns=tuple(name for name in now.answers if name not in then.answers),
        columns_gone=tuple(name for name in then.answers if name not in now.answers),
        examples=tuple(examples),
    )


@dataclass(frozen=True)
class _Columns:
    places: dict[str, int]
    parts: list[str]
    answers: dict[str, list[str]]

    @classmethod
    def of(cls, truth: Source, id_column: str | None) -> _Columns:
        table = read_table(read_bytes(truth), check_truth_header, longest_line=LONGEST_MASK_LINE)
        key = id_column_of(table, id_column)
        cells = {
            name: [cell.strip(TRIMMED) for cell in array.to_pylist()]
            for name, array in zip(table.names, table.arrays, strict=True)
        }
        places = {name: place for place, name in enumerate(cells.pop(key))}
        return cls(places, cells.pop(USAGE, []), cells)

    def paired_with(self, other: _Columns) -> Iterator[tuple[str, int, int]]:
        """Ids that both have, with their places."""
        for name, here in self.places.items():
            there = other.places.get(name)
            if there is not None:
                yield name, here, there


def _is_other(one: str, other: str) -> bool:
    if one == other:
        return False
    if _CODE.match(one) or _CODE.match(other):
        return True
    first, second = to_decimal(one), to_decimal(other)
    return first is None or second is None or first != second
