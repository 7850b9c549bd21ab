"""Which rows are public follows from a secret: who knows the ids, the share and the seed knows no row."""

import csv
import hashlib
import io
import random
import secrets
from collections.abc import Callable, Iterable

import pytest

import metrics

ROWS, TRUTHS, SHARE = 400, 40, 0.3
DEVIATIONS = 5

Order = Callable[[str], object]


def sha256(name: str) -> bytes:
    return hashlib.sha256(f"0\x00{name}".encode()).digest()


def keyed(secret: bytes) -> Order:
    """The order in which the library draws with this secret and the seed 0."""
    key = hashlib.blake2b(b"0", key=secret, digest_size=32).digest()
    return lambda name: hashlib.blake2b(name.encode(), key=key, digest_size=32).digest()


PUBLIC_FORMULAS: dict[str, Order] = {
    "the SHA-256 of seed and id": sha256,
    "the SHA-256 of the id": lambda name: hashlib.sha256(name.encode()).digest(),
    "an empty secret": keyed(b""),
    "a secret of zeros": keyed(bytes(16)),
    "the seed as the secret": keyed(b"0"),
    "the order of the ids": lambda name: name,
}


def truth(rows: int, number: int = 0, groups: int = 1) -> bytes:
    chance = random.Random(number)
    lines = [f"t{number}r{row},{chance.choice('ab')},g{row % groups}\n" for row in range(rows)]
    return ("id,y,g\n" + "".join(lines)).encode()


def public_ids(split: bytes) -> set[str]:
    return {row["id"] for row in csv.DictReader(io.StringIO(split.decode())) if row["Usage"] == "Public"}


def ids_of(text: bytes) -> list[str]:
    return [row["id"] for row in csv.DictReader(io.StringIO(text.decode()))]


def guessed(ids: Iterable[str], order: Order, share: float) -> set[str]:
    """What the library makes public where the rows come in this order."""
    names = sorted(ids, key=order)  # type: ignore[arg-type]
    wanted = round(share * len(names))
    return {
        name for place, name in enumerate(names) if (place + 1) * wanted // len(names) > place * wanted // len(names)
    }


@pytest.mark.parametrize("stratify", [False, True])
@pytest.mark.attack("working out which rows are public from ids, share and seed")
def test_no_public_formula_guesses_a_split_better_than_chance(stratify: bool) -> None:
    right = dict.fromkeys(PUBLIC_FORMULAS, 0)
    for number in range(TRUTHS):
        text = truth(ROWS, number)
        names = ids_of(text)
        made = metrics.add_split(text, SHARE, 0, stratify, secret=secrets.token_bytes(16), roles=["g"])
        real = public_ids(made)
        for formula, order in PUBLIC_FORMULAS.items():
            guess = guessed(names, order, SHARE)
            right[formula] += sum((name in guess) == (name in real) for name in names)
    rows, chance = TRUTHS * ROWS, SHARE**2 + (1 - SHARE) ** 2
    most = chance * rows + DEVIATIONS * (rows * chance * (1 - chance)) ** 0.5
    assert {formula: number for formula, number in right.items() if number > most} == {}


@pytest.mark.attack("working out which rows are public from ids, share and seed")
def test_whoever_knows_the_secret_guesses_every_row() -> None:
    """The test above could not fail if no formula were ever right."""
    text, secret = truth(ROWS), secrets.token_bytes(16)
    real = public_ids(metrics.add_split(text, SHARE, 0, False, secret=secret))
    assert guessed(ids_of(text), keyed(secret), SHARE) == real


@pytest.mark.parametrize("group", [None, "g"])
def test_the_same_secret_and_seed_make_the_same_split_again(group: str | None) -> None:
    text, secret = truth(ROWS, groups=50), secrets.token_bytes(16)

    def split(seed: int, secret: bytes) -> bytes:
        return metrics.add_split(text, SHARE, seed, True, secret=secret, group=group, roles=["g"])

    assert split(7, secret) == split(7, secret)
    assert public_ids(split(7, secret)) != public_ids(split(8, secret))
    assert public_ids(split(7, secret)) != public_ids(split(7, secrets.token_bytes(16)))


def test_which_group_is_public_does_not_follow_from_its_name() -> None:
    """Ten groups of one size, and a share so small that one of them alone is public."""
    text = truth(100, groups=10)
    lines = csv.DictReader(io.StringIO(text.decode()))
    group_of = {row["id"]: row["g"] for row in lines}
    chosen = set()
    for _ in range(60):
        made = metrics.add_split(text, 0.01, 0, False, secret=secrets.token_bytes(16), group="g")
        chosen |= {group_of[name] for name in public_ids(made)}
    assert len(chosen) > 5
