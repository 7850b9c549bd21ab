"""Entities in tagged sentences: ``B-PER I-PER O``."""

import random
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from ..core.arrays import Coded
from ..core.errors import shown
from ..core.messages import EXAMPLES, Message, listed
from ..reading.columns import Cells, Kind

Scheme = Annotated[Literal["lenient", "strict"], "lenient: as the script of CoNLL; strict: entities begin with B."]
_OF_LISTS = frozenset(",;|[]'\"")
"""Characters of lists, which no tag has."""

Entity = tuple[int, int, str]
"""First and last word, and type."""


def entities_in(cell: str, scheme: str) -> frozenset[Entity]:
    """The entities of a sentence.

    >>> sorted(entities_in("B-PER I-PER O I-LOC", "lenient"))
    [(0, 1, 'PER'), (3, 3, 'LOC')]
    >>> sorted(entities_in("B-PER I-PER O I-LOC", "strict"))
    [(0, 1, 'PER')]
    """
    found: list[Entity] = []
    before, start, of_type = "O", 0, ""
    for place, text in enumerate([*cell.split(), "O"]):
        mark = text[0] if _is_tag(text, scheme) else "O"
        name = text[2:] if mark != "O" else ""
        goes_on = mark in "IE" and before in "BI" and name == of_type
        if before != "O" and not goes_on:
            found.append((start, place - 1, of_type))
        if not goes_on:
            start, of_type = place, name
            if scheme == "strict" and mark == "I":
                mark = "O"
        before = mark
    return frozenset(found)


def entities_of(column: Coded, scheme: str) -> list[frozenset[Entity]]:
    return [entities_in(cell, scheme) for cell in column.values]


def _is_tag(text: str, scheme: str) -> bool:
    marks = "OBI" if scheme == "strict" else "OBIES"
    return text[:1] in marks and text[1:2] in ("", "-") and not _OF_LISTS & set(text)


def tags_that_are_none(column: Coded, scheme: str) -> list[str]:
    """The distinct pieces of all cells that are no tags, in order."""
    pieces = dict.fromkeys(piece for cell in column.values for piece in cell.split())
    return [piece for piece in pieces if not _is_tag(piece, scheme)]


def foreign_answers(truth: Coded, *, scheme: Scheme) -> str:
    """The reason why a truth with other pieces than tags cannot be scored, or ``""``."""
    if not (wrong := truth.once(tags_that_are_none, scheme)):
        return ""
    return Message("{tags} is no tag such as B-PER, I-PER or O, with white space between tags.", tags=shown(wrong[0]))


def foreign_tags(prediction: Coded, *, scheme: Scheme) -> str:
    """A hint about pieces of a submission that are no tags and so outside of any entity, or ``""``."""
    if not (wrong := prediction.once(tags_that_are_none, scheme)):
        return ""
    return Message(
        "Tags are written B-PER, I-PER or O, with white space between them. The file has also {tags}, read as O.",
        tags=listed(list(map(shown, sorted(wrong)))[:EXAMPLES], len(wrong)),
    )


class Tags(Kind):
    """The tags of a sentence; empty means no word."""

    words = Message("tags of a sentence")

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        return cells.coded(may_repeat=True)

    def sample(self, truth: Any) -> str:
        return "O"

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        tags = ("O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC")
        return [" ".join(dice.choices(tags, k=dice.randint(1, 7))) for _ in range(width)]
