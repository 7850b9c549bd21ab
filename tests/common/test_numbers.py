"""Numbers on pages: one that is not there is a dash, never an error page."""

from __future__ import annotations

from typing import Any

import pytest
from django.template import Context, Template


def shown(text: str, **facts: Any) -> str:
    return Template("{% load leaderboard %}" + text).render(Context(facts))


NUMBERS = [
    "{% score one.public %}",
    "{{ one.public|score }}",
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


@pytest.mark.parametrize("text", ["{% score one %}", "{{ one|score }}", "{{ one|points:1 }}"])
def test_a_text_in_the_place_of_a_number_is_still_a_mistake(text: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        shown(text, one="half")
