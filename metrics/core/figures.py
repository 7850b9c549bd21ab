"""Figures that explain a score on a small file: a matrix of numbers, a curve. The library only returns their content;
pages draw them.

At the end are parameters that hold several numbers in one text, such as ``2, 1``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ..reading.columns import to_decimal
from .errors import shown
from .messages import Message, Plural


@dataclass(frozen=True)
class Grid:
    """A table of numbers with named rows and columns; ``marked`` holds the (row, column) of cells that count."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[float | str]]
    corner: str = ""
    marked: frozenset[tuple[int, int]] = frozenset()
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """A line through points from left to right; ``diagonal`` adds the line of random guessing, ``filled`` the area
    below."""

    title: str
    x: str
    y: str
    points: Sequence[tuple[float, float]]
    diagonal: bool = False
    filled: bool = True
    note: str = ""


Figure = Grid | Curve


def numbers_in(text: str) -> tuple[float, ...]:
    """The numbers in a text, separated by commas or white space. Raises ``ValueError`` with a message.

    >>> numbers_in("2, 1"), numbers_in("0 0.4 1")
    ((2.0, 1.0), (0.0, 0.4, 1.0))
    """
    found = []
    for word in text.replace(",", " ").split():
        number = to_decimal(word)
        if number is None or not abs(number) < 10**15:
            raise ValueError(Message("{word} is not a number.", word=shown(word)))
        found.append(float(number))
    if not found:
        raise ValueError(Message("Write numbers with commas between them."))
    return tuple(found)


def weights_in(text: str) -> tuple[float, ...]:
    """Numbers that are not negative and not all zero. Raises ``ValueError`` with a message.

    >>> weights_in("2,1")
    (2.0, 1.0)
    """
    found = numbers_in(text)
    if min(found) < 0:
        raise ValueError(Message("A weight cannot be negative."))
    if not any(found):
        raise ValueError(Message("One weight at least must be above 0."))
    return found


Weights = Annotated[
    str | None,
    weights_in,
    "A weight for each class or label, in the order of the submission's columns; empty means equal weights.",
]


def weights_for(text: str | None, count: int) -> tuple[float, ...]:
    """The first ``count`` weights of a parameter; 1 for those that are missing."""
    given = weights_in(text) if text else ()
    return (*given, *[1.0] * count)[:count]


def wrong_weights(text: str | None, count: int, columns: Plural) -> str:
    """The fault if the number of weights is not ``count``; ``""`` if it is."""
    if not text or len(weights_in(text)) == count:
        return ""
    weights = Message.counted(len(weights_in(text)), "{count} weight", "{count} weights")
    return Message(
        "it has {columns}, and the parameter gives {weights}.",
        columns=Message.counted(count, *columns),
        weights=weights,
    )
