"""What sections the class has is read by who runs a competition; where its host lets them, by who competes; by nobody
else: every page is walked."""

from __future__ import annotations

import re

import pytest

from leaderboard.accounts.models import User
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import BoardSettings

from .scene import Scene, addresses, ask, filled, text_of

pytestmark = pytest.mark.thorough

SECTION = "sectioncanary"
BOARD = "/c/secret/leaderboard/"


@pytest.fixture
def sectioned(scene: Scene) -> Scene:
    """Bo is in a section, Eve of the other team in none; the host lets students look."""
    bo = User.objects.get(username="bo")
    RosterEntry.objects.create(course=scene.competition.course, user=bo, name="bo", section=SECTION)
    competitions.change_competition(competition=scene.competition, shows_sections=True)
    return scene


def tellers(scene: Scene, role: str) -> list[str]:
    paths = [
        filled(address.route, scene.arguments) for address in addresses() if not address.route.startswith("admin/")
    ]
    return [path for path in paths if SECTION in text_of(ask(scene, role, "GET", path))]


@pytest.mark.parametrize("role", ["anonymous", pytest.param("dee", marks=pytest.mark.long)])
def test_no_address_tells_a_stranger_of_sections(sectioned: Scene, role: str) -> None:
    assert tellers(sectioned, role) == []


def test_whoever_competes_reads_of_sections_on_the_board_alone(sectioned: Scene) -> None:
    assert tellers(sectioned, "eve") == [BOARD]


def test_with_the_setting_off_no_address_does(sectioned: Scene) -> None:
    competitions.change_competition(competition=sectioned.competition, shows_sections=False)
    assert tellers(sectioned, "eve") == []


def test_whoever_asks_for_a_section_without_the_right_gets_the_whole_board(sectioned: Scene) -> None:
    def teams(role: str) -> int:
        page = text_of(ask(sectioned, role, "GET", f"{BOARD}?section={SECTION}"))
        return len(re.findall('<tr[^>]* id="team-', page))

    assert {role: teams(role) for role in ("anonymous", "dee", "hal", "otto")} == dict.fromkeys(
        ("anonymous", "dee", "hal", "otto"), 2
    )
    assert {role: teams(role) for role in ("eve", "bo", "ivy", "ada")} == dict.fromkeys(("eve", "bo", "ivy", "ada"), 1)
    BoardSettings.objects.update(shows_sections=False)
    assert teams("eve") == 2
