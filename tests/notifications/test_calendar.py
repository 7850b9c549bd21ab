"""Dates in calendar programs: right on every clock, moved when they move, closed when the address is ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from icalendar import Calendar

from leaderboard.accounts.models import User
from leaderboard.classroom import extensions, roles
from leaderboard.classroom.models import HostingRole
from leaderboard.competitions.models import Competition
from tests.conftest import enter, make_competition
from tests.pages import signed_in


def address_of(user: User) -> str:
    page = signed_in(user).post("/account/calendar/", {"action": "make"})
    assert page.status_code == 201
    assert "no-store" in page["Cache-Control"]
    body: str = page.content.decode()
    return body.partition("http://testserver")[2].partition("<")[0]


def events(answer: Any) -> dict[str, Any]:
    assert answer["Content-Type"].startswith("text/calendar")
    return {str(one["summary"]): one for one in Calendar.from_ical(answer.content).walk("VEVENT")}


@pytest.mark.parametrize(
    ("wall", "moment"),
    [
        (datetime(2031, 3, 30, 3, 30), datetime(2031, 3, 30, 1, 30)),  # the clocks went from 2 to 3
        (datetime(2031, 10, 26, 3, 30), datetime(2031, 10, 26, 2, 30)),  # and back from 3 to 2
    ],
)
def test_a_deadline_on_a_day_of_the_clocks_is_the_same_moment_in_a_calendar(
    ada: User, bo: User, wall: datetime, moment: datetime
) -> None:
    from zoneinfo import ZoneInfo

    pets = make_competition(ada, zone="Europe/Vienna", closes_at=wall.replace(tzinfo=ZoneInfo("Europe/Vienna")))
    enter(pets, bo)
    found = events(Client().get(address_of(bo)))["Deadline: Cats or dogs"]
    assert found.decoded("dtstart") == moment.replace(tzinfo=UTC)
    assert found.decoded("url") == "http://testserver/c/pets/"


def test_an_event_moves_with_its_deadline_and_with_what_the_team_was_granted(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    mine, other = address_of(bo), address_of(cy)
    before = events(Client().get(mine))["Deadline: Cats or dogs"]
    until = (pets.closes_at + timedelta(days=3)).replace(microsecond=0)
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=until)
    after = events(Client().get(mine))["Deadline: Cats or dogs"]
    assert before["uid"] == after["uid"]
    assert after.decoded("dtstart") == until
    assert events(Client().get(other))["Deadline: Cats or dogs"].decoded("dtstart") < until
    assert events(signed_in(bo).get("/c/pets/calendar.ics"))["Deadline: Cats or dogs"].decoded("dtstart") == until


def test_an_address_ends_with_a_new_one_and_on_demand(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    first = address_of(bo)
    second = address_of(bo)
    assert Client().get(first).status_code == 404
    assert Client().get(second).status_code == 200
    signed_in(bo).post("/account/calendar/", {"action": "end"})
    assert Client().get(second).status_code == 404
    third = address_of(bo)
    User.objects.filter(pk=bo.pk).update(is_active=False)
    assert Client().get(third).status_code == 404


def test_a_calendar_has_nobody_elses_competitions_and_no_draft(ada: User, bo: User, dee: User) -> None:
    enter(make_competition(ada), bo)
    draft = make_competition(ada, slug="draft", title="Secret plans", launched=False)
    enter(draft, bo)
    assert events(Client().get(address_of(dee))) == {}
    assert not any("Secret plans" in name for name in events(Client().get(address_of(bo))))
    for stranger in (Client(), signed_in(bo), signed_in(dee)):
        assert stranger.get("/c/draft/calendar.ics").status_code == 404


def test_who_runs_a_draft_reads_in_the_calendar_that_it_is_one(ada: User, cy: User) -> None:
    draft = make_competition(ada, launched=False)
    draft.assistants.add(cy)
    expected = {"Draft: Cats or dogs opens", "Draft: Deadline: Cats or dogs"}
    for user in (ada, cy):
        assert set(events(Client().get(address_of(user)))) == expected
        assert set(events(signed_in(user).get("/c/pets/calendar.ics"))) == expected
    before = events(Client().get(address_of(ada)))["Draft: Deadline: Cats or dogs"]
    Competition.objects.update(launched_at=draft.opens_at)
    after = events(Client().get(address_of(cy)))["Deadline: Cats or dogs"]
    assert before["uid"] == after["uid"]


def test_whoever_runs_it_no_longer_has_its_draft_no_longer(ada: User, cy: User) -> None:
    draft = make_competition(ada, launched=False)
    draft.hosts.add(cy)
    address = address_of(cy)
    assert events(Client().get(address))
    roles.take_role(role=HostingRole.HOST, competition=draft, name="cy", user=ada)
    assert events(Client().get(address)) == {}


def test_a_title_cannot_write_further_lines_into_a_calendar(ada: User, bo: User) -> None:
    pets = make_competition(ada, title="Cats; dogs, all")
    Competition.objects.update(title="Cats\r\nATTACH:http://evil.example/\r\nX:")
    enter(pets, bo)
    body = Client().get(address_of(bo)).content
    assert not any(line.startswith(b"ATTACH") for line in body.splitlines())
