"""The board of one section of the class, for those who run it alone."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard import hosting
from leaderboard.models import Competition, RosterEntry, User
from leaderboard.ranking import boards
from tests.conftest import answers, enter, hand_in, make_competition, person
from tests.web.test_host import signed_in, text_of

BOARD = "/c/pets/leaderboard/"


@pytest.fixture
def labs(ada: User) -> Competition:
    """Twelve teams in two labs, in turns; the last three have the same score."""
    pets = make_competition(ada, is_listed=True)
    for place in range(12):
        user = person(f"p{place:02d}")
        enter(pets, user)
        hand_in(pets, user, answers(public=min(place // 2, 5)))
        RosterEntry.objects.create(competition=pets, user=user, name=user.username, section=f"Lab {place % 2 + 1}")
    return pets


def ranked(page: str) -> list[tuple[str, str]]:
    """Rank and team of each row."""
    table = page.partition("<tbody>")[2].partition("</tbody>")[0]
    ranks = re.findall(r'<td class="rank digits">(?:<span[^>]*></span>)?(\d+)', table)
    return list(zip(ranks, re.findall(r'<span class="team-name">(\w+)</span>', table), strict=True))


def test_ada_reads_the_board_of_one_section_with_the_ranks_of_all(ada: User, labs: Competition) -> None:
    hers = signed_in(ada)
    page = hers.get(BOARD)
    whole = ranked(page.content.decode())
    assert "<option>Lab 2</option>" in page.content.decode()
    second = hers.get(f"{BOARD}?section=Lab+2")
    assert ranked(second.content.decode()) == [row for row in whole if int(row[1][1:]) % 2]
    assert "6 teams of section “Lab 2”; ranks are those of the whole board." in text_of(second)
    assert "<option selected>Lab 2</option>" in second.content.decode()
    both = hers.get(f"{BOARD}?section=Lab+2&q=p0").content.decode()
    assert {name for _rank, name in ranked(both)} == {"p01", "p03", "p05", "p07", "p09"}
    assert "No team of this section is ranked" in text_of(hers.get(f"{BOARD}?section=Lab+9"))


def test_an_assistant_does_too_and_nobody_else_learns_that_there_are_sections(labs: Competition, dee: User) -> None:
    hosting.give_role(competition=labs, name="dee", role=hosting.Role.ASSISTANT)
    assert len(ranked(signed_in(dee).get(f"{BOARD}?section=Lab+1").content.decode())) == 6
    student = signed_in(User.objects.get(username="p00"))
    page = student.get(f"{BOARD}?section=Lab+1").content.decode()
    assert len(ranked(page)) == 12
    assert "Lab 1" not in page.replace("section=Lab", "")


def test_a_section_or_a_search_asks_the_database_no_more_often_than_any_page(ada: User, labs: Competition) -> None:
    hers = signed_in(ada)
    hers.get(BOARD)
    for asked in ("?section=Lab+1", "?q=p"):
        boards._earlier.clear()
        with CaptureQueriesContext(connection) as queries:
            hers.get(BOARD + asked)
        its_clock = connection.vendor == "postgresql"
        assert len(queries) <= 12 + its_clock, (asked, len(queries))
