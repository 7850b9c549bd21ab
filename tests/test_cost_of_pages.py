"""Every page, in every state of a term, costs the database and the wire little."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench import term
from bench.pages import MOST_KB, costs
from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from leaderboard.submissions import submitting
from tests.conftest import answers, enter, make_competition, submit

pytestmark = pytest.mark.thorough


@pytest.mark.django_db
def test_every_page_asks_little_of_the_database_and_of_the_wire() -> None:
    """Also the first look after a change and after midnight, for which the board and the like are made, and whatever is
    asked of a page."""
    made = term.fill()
    found = list(costs(term.asked(term.pages(made))))
    seen = {cost.page.name.split("-")[0] for cost in found}
    assert len(found) > 120
    assert {"overview", "leaderboard", "submit", "host_competition", "host_grades", "host_truth"} <= seen
    dear = [
        f"{one.page.path} of {one.page.who}: {one.first_queries} queries, then {one.queries}"
        for one in found
        if one.asks_too_much
    ]
    large = [f"{one.page.path} of {one.page.who}: {one.kb:.0f} KB" for one in found if one.kb > MOST_KB]
    assert not dear + large, "\n".join(dear + large)


@pytest.mark.django_db
def test_the_list_of_a_host_counts_teams_and_files_apart(
    pets: Competition, ada: User, bo: User, cy: User, client: Client
) -> None:
    """Together each team would meet each file: 25 million rows for 500 teams with 100 files."""
    enter(pets, bo), enter(pets, cy)
    make_competition(ada, slug="empty")
    submit(pets, bo, answers())
    for wrong in (1, 2):
        submitting.submit_file(competition=pets, user=cy, file_name="a.csv", chunks=[answers(public=wrong)])
    client.force_login(ada)
    with CaptureQueriesContext(connection) as queries:
        rows = client.get("/host/").context["rows"]
    assert {one.slug: (one.team_count, one.waiting_count) for one, _ in rows} == {"pets": (2, 2), "empty": (0, 0)}
    assert not [one["sql"] for one in queries if 'JOIN "competitions_submission"' in one["sql"]]
