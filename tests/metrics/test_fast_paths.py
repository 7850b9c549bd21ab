"""What is fast says the same as what is slow and plain."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from metrics import _index
from metrics._index import Index

KINDS_OF_IDS: dict[str, Callable[[random.Random], str]] = {
    "one length": lambda dice: f"img_{dice.randrange(500):08d}",
    "numbers": lambda dice: str(dice.randrange(500)),
    "long": lambda dice: "x" * dice.choice((0, 7, 8, 9, 56, 63, 64)) + str(dice.randrange(50)),
    "longer than looked at": lambda dice: "x" * dice.choice((1, 200)) + str(dice.randrange(50)),
    "other letters": lambda dice: "".join(dice.choice("aßé語🙂") for _ in range(dice.randrange(5))),
}


def looked_up(known: list[str], asked: list[str]) -> None:
    """Compare with a dictionary, which knows the first row of equal texts."""
    rows: dict[str, int] = {}
    for row, text in enumerate(known):
        rows.setdefault(text, row)
    found = Index(pa.array(known, pa.string())).find(pa.array(asked, pa.string()))
    assert found.tolist() == [rows.get(text, -1) for text in asked]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS_OF_IDS)
def test_an_id_is_found_where_a_dictionary_finds_it(kind: str, seed: int) -> None:
    dice = random.Random(seed)
    known = [KINDS_OF_IDS[kind](dice) for _ in range(dice.choice((1, 30, 300)))]
    asked = [KINDS_OF_IDS[kind](dice) for _ in range(dice.choice((1, 300)))]
    looked_up(known, asked + known)
    looked_up(list(dict.fromkeys(known)), known)


def test_ids_with_one_beginning_are_different_ids() -> None:
    looked_up(["a", "ab", "abcdefgh", "abcdefghi"], ["abcdefg", "abcdefgh", "abcdefghi", "abcdefghij", "b", ""])
    looked_up(["a"], [])
    looked_up([], ["a"])
    looked_up([""], ["", "a"])


def test_a_slice_of_a_column_is_looked_up_by_its_own_cells() -> None:
    column = pa.array([f"img_{number}" for number in range(50)])
    assert Index(column[10:]).find(column[5:20]).tolist() == [-1] * 5 + list(range(10))


@pytest.mark.parametrize("steps", [200, 2])
def test_ids_that_collide_are_told_apart_by_their_bytes(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_index, "_slots_of", lambda words, bits: np.zeros(len(words[0]), np.int64))
    monkeypatch.setattr(_index, "_MOST_STEPS", steps)
    looked_up([str(number) for number in range(90)], [str(number) for number in range(200)])
