"""What the files of real competitions leave open: missing items, ties, empty masks, points beside all boxes."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import metrics
from tests.metrics.worlds import world

seeds = pytest.mark.parametrize("seed", range(6))


def orders(rows: list[str]) -> bytes:
    return "".join(["id,order\n", *(f"{number},{row}\n" for number, row in enumerate(rows))]).encode()


@seeds
def test_a_pair_without_one_of_its_items_counts_as_reversed(seed: int) -> None:
    found = world(metrics.get("pooled_kendall_tau"), seed, split=False)
    answers = {row[0]: row[1] for row in found.submission}
    wrong = pairs = 0
    for name, true in ((row[0], list(dict.fromkeys(row[1].split()))) for row in found.truth):
        said = list(dict.fromkeys(answers[name].split()))
        for first, second in combinations(true, 2):
            pairs += 1
            wrong += not (first in said and second in said and said.index(first) < said.index(second))
    result = metrics.evaluate("pooled_kendall_tau", found.truth_csv(), found.submission_csv())
    assert result.overall == pytest.approx(1 - 2 * wrong / pairs, rel=1e-12)


def test_reversed_lists_and_empty_ones_get_the_worst_value_of_kendalls_tau() -> None:
    truth = metrics.prepare("pooled_kendall_tau", orders(["a b c", "x y"]))
    assert truth.evaluate(orders(["c b a", "y x"])).overall == -1
    assert truth.evaluate(orders(["", ""])).overall == -1
    assert truth.evaluate(orders(["a z b b c a", "x y"])).overall == 1
    with pytest.raises(metrics.GroundTruthError, match="no list has two items"):
        metrics.prepare("pooled_kendall_tau", orders(["a", "b b"]))


def test_long_lists_are_counted_fast_and_exactly() -> None:
    dice = random.Random(5)
    items = [f"c{number}" for number in range(3000)]
    turned = [*items[1500:], *items[:1500]]
    shuffled = dice.sample(items, len(items))
    place = {item: number for number, item in enumerate(shuffled)}
    wrong = sum(place[one] > place[other] for one, other in combinations(items, 2))
    result = metrics.evaluate(
        "pooled_kendall_tau", orders([" ".join(items)] * 2), orders([" ".join(turned), " ".join(shuffled)])
    )
    assert result.parts["overall"] == {"reversed": 1500 * 1500 + wrong, "pairs": 3000 * 2999}
