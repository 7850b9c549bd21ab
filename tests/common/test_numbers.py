"""Numbers on pages: one that is not there is a dash, never an error page."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.common.numbers import MAX_DECIMALS, MIN_DECIMALS, number_text, separating_decimals


def shown(text: str, **facts: Any) -> str:
    return Template("{% load leaderboard %}" + text).render(Context(facts))


NUMBERS = [
    "{% score one.public %}",
    "{% score_text one.public %}",
    "{{ one.public|short }}",
    "{{ one.public|points:2 }}",
]


@pytest.mark.parametrize("text", NUMBERS)
@pytest.mark.parametrize("facts", [{}, {"one": {}}, {"one": {"public": None}}])
def test_a_number_that_is_not_there_is_a_dash(text: str, facts: dict[str, Any]) -> None:
    assert "–" in shown(text, **facts)


def test_zero_and_what_is_no_finite_number_are_told_apart_from_it() -> None:
    assert shown("{% score one %}", one=0.0) == '<span class="score" title="0.0">0.00000</span>'
    assert "–" in shown("{% score one %}", one=float("nan"))
    assert shown("{{ one|points:1 }}", one=0) == "0.0"


@pytest.mark.parametrize("text", ["{% score one %}", "{% score_text one %}", "{{ one|points:1 }}"])
def test_a_text_in_the_place_of_a_number_is_still_a_mistake(text: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        shown(text, one="half")


SCORES = st.floats(-1e7, 1e7)


@given(SCORES, st.integers(MIN_DECIMALS, MAX_DECIMALS))
def test_a_score_reads_as_its_rounded_value(value: float, decimals: int) -> None:
    assert float(number_text(value, decimals).replace(",", "")) == pytest.approx(value, abs=0.51 * 10**-decimals)


def test_scores_have_groups_from_a_hundred_thousand_on_and_no_exponent_below_a_billion_of_thousands() -> None:
    values = (0.5, 0.0, -0.0, 99999.5, 123456.789, -2950784403.98, 1.5e-9, -3e12)
    assert [number_text(value, 3) for value in values] == [
        "0.500", "0.000", "0.000", "99999.500", "123,456.789", "-2,950,784,403.980", "1.500e-09", "-3.000e+12",
    ]  # fmt: skip


def neighbours_that_look_equal(values: list[float], decimals: int) -> int:
    return sum(one == other for one, other in pairwise(number_text(value, decimals) for value in sorted(set(values))))


@given(st.lists(st.floats(0, 100), max_size=60))
def test_a_board_has_no_more_decimals_than_tell_most_neighbours_apart(values: list[float]) -> None:
    decimals = separating_decimals(values)
    assert MIN_DECIMALS <= decimals <= MAX_DECIMALS
    if decimals < MAX_DECIMALS:
        assert neighbours_that_look_equal(values, decimals) <= len(values) / 10


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([], 3), ([0.8], 3), ([0.8124, 0.8125, 0.9], 4), ([0.0123, 0.0456], 4), ([2950784403.98, 2950784512.62], 3)],
)
def test_scores_of_a_class_get_as_many_decimals_as_they_need(values: list[float], decimals: int) -> None:
    assert separating_decimals(values) == decimals
