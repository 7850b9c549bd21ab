"""Every page, in every state of a term, costs the database and the wire little."""

from __future__ import annotations

import pytest

from bench import term
from bench.pages import MOST_KB, MOST_QUERIES, costs


@pytest.mark.django_db
def test_every_page_asks_little_of_the_database_and_of_the_wire() -> None:
    found = list(costs(term.pages(term.fill())))
    seen = {cost.page.name.split("-")[0] for cost in found}
    assert len(found) > 120
    assert {"overview", "leaderboard", "submit", "host_competition", "host_grades", "host_candidate"} <= seen
    dear = [f"{one.page.path} of {one.page.who}: {one.queries} queries" for one in found if one.queries > MOST_QUERIES]
    large = [f"{one.page.path} of {one.page.who}: {one.kb:.0f} KB" for one in found if one.kb > MOST_KB]
    assert dear + large == []
