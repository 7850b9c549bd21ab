"""A board is rendered once per version, and a cached one equals a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.boards import board_cache
from leaderboard.boards import services as boards
from leaderboard.classroom import teams
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions.models import BoardSettings, Competition, Submission
from leaderboard.submissions import services as submission_services
from tests.conftest import answers, close, enter, make_competition, submit
from tests.pages import signed_in

BOARD = "/c/pets/leaderboard/"


@pytest.fixture
def board(ada: User, bo: User, cy: User) -> Competition:
    pets = make_competition(ada, is_listed=True)
    for who, wrong in ((bo, 1), (cy, 2)):
        enter(pets, who)
        submit(pets, who, answers(public=wrong))
    return pets


def table(query: str = "", zone: str = "UTC") -> str:
    client = Client()
    client.cookies["zone"] = zone
    text = client.get(BOARD + query).content.decode()
    return text[text.index("<table") : text.index("</table>")] if "<table" in text else ""


def renders_table(client: Client) -> bool:
    return any(one.name == "boards/board_table.html" for one in client.get(BOARD).templates)


def test_a_version_of_a_board_is_rendered_once_for_all_readers(board: Competition, bo: User, cy: User) -> None:
    bos, cys = Client(), Client()
    bos.force_login(bo)
    cys.force_login(cy)
    assert renders_table(bos)
    assert not renders_table(cys)
    assert not renders_table(Client())
    submit(board, cy, answers())
    assert renders_table(cys)
    assert not renders_table(bos)


def reveal(pets: Competition, ada: User) -> None:
    close(pets)
    boards.reveal_competition(competition=pets, user=ada)


def set_board(**fields: Any) -> None:
    BoardSettings.objects.update(**fields)
    Competition.objects.update(board_version=99)


CHANGES: dict[str, Callable[[Competition, User, User], object]] = {
    "a better file": lambda pets, ada, bo: submit(pets, bo, answers()),
    "a worse file": lambda pets, ada, bo: submit(pets, bo, answers(public=4)),
    "another name": lambda pets, ada, bo: teams.rename_team(
        membership=bo.memberships.select_related("competition", "team").get(), name="<b>& Co</b><!--end of row-->"
    ),
    "a hidden file": lambda pets, ada, bo: submission_services.hide_submission(
        submission=Submission.objects.get(user=bo), reason="Copied", user=ada
    ),
    "a hidden board": lambda pets, ada, bo: set_board(hides_scores=True),
    "pseudonyms": lambda pets, ada, bo: set_board(uses_pseudonyms=True),
    "the reveal": lambda pets, ada, bo: reveal(pets, ada),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_happens_a_cached_board_equals_a_new_one(
    board: Competition, ada: User, bo: User, change: Callable[[Competition, User, User], object]
) -> None:
    queries = ("", "?board=public", "?q=o")
    before = [table(query) for query in queries]
    change(board, ada, bo)
    stored = [table(query) for query in queries]
    board_cache.boards.clear()
    assert stored == [table(query) for query in queries]
    assert stored != before


def test_tables_are_cached_by_section_and_by_zone(board: Competition, ada: User, bo: User) -> None:
    RosterEntry.objects.create(course=board.course, name="Bo", email="bo@example.org", section="Lab 1", user=bo)
    Competition.objects.update(board_version=98)
    everybody = table()
    assert "In section" not in everybody
    ours = signed_in(ada)
    assert "In section" in ours.get(BOARD, {"section": "Lab 1"}).content.decode()
    assert table(zone="Asia/Kolkata") != everybody
    assert table() == everybody
