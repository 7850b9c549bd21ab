"""Numbers 115 to 123: clocks, and a world that changes between looking and sending, or while a file is on its way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, teams
from leaderboard.common.storage import store_file
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DailyAttempts, Limits, Membership, Submission
from leaderboard.submissions import submitting
from tests.conftest import answers, close, enter, person
from tests.inputs.doors import DOORS, Door, another, attempts_used, body_of, nothing_happened, part, stored_files

pytestmark = pytest.mark.thorough


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, pets: Competition, bo: User) -> Door:
    enter(pets, bo)
    return DOORS[request.param](bo)


class while_a_file_comes_in:  # noqa: N801 - read as words
    """Something happens once the next file is stored and before anything is written about it."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self.happens = happens
        self.patch = pytest.MonkeyPatch()

    def __enter__(self) -> None:
        def slowly(*arguments: Any, **named: Any) -> Any:
            stored = store_file(*arguments, **named)
            self.patch.undo()
            self.happens()
            return stored

        self.patch.setattr("leaderboard.submissions.submitting.store_file", slowly)

    def __exit__(self, *error: object) -> None:
        self.patch.undo()


@pytest.mark.case(115)
def test_115_an_attempt_taken_while_the_file_came_in_is_seen(door: Door, pets: Competition, bo: User) -> None:
    """Both tabs were let in with one attempt left; the other was quicker."""
    for _ in range(4):
        submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    with while_a_file_comes_in(
        lambda: submitting.submit_file(competition=pets, user=bo, file_name="b", chunks=[answers()])
    ):
        answer = door.send(another(1))
    assert answer.status in (409, 429)
    assert "used all 5 attempts for today" in answer.words
    assert (attempts_used(bo), len(stored_files())) == (5, 5)


# --- clocks -----------------------------------------------------------------------------------------------------


def at(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    """The database's clock stands still here."""
    monkeypatch.setattr(submitting, "database_now", lambda: moment)


@pytest.mark.parametrize(("seconds", "is_taken"), [(-1, True), (-0.000001, True), (0, False), (1, False)])
@pytest.mark.case(117)
def test_117_the_last_byte_decides_to_the_second(
    door: Door, pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, seconds: float, is_taken: bool
) -> None:
    moment = pets.closes_at + timedelta(seconds=seconds)
    at(monkeypatch, moment)
    answer = door.send(answers())
    assert (answer.submission is not None) == is_taken
    if answer.submission is None:
        assert "deadline has passed" in answer.words
        assert nothing_happened(bo)
    else:
        assert (answer.submission.received_at, answer.submission.is_late) == (moment, False)


@pytest.mark.parametrize(("waited", "is_taken"), [(31, True), (30, False), (0, False)])
@pytest.mark.case(117)
def test_117_a_file_that_was_here_in_time_counts_however_long_it_waited_for_a_thread(
    door: Door, pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, waited: float, is_taken: bool
) -> None:
    """A thread comes to it half a minute after the deadline."""
    at(monkeypatch, pets.closes_at + timedelta(seconds=30))
    monkeypatch.setattr(f"{door.view}.time_since_arrival", lambda _: timedelta(seconds=waited))
    answer = door.send(answers())
    assert (answer.submission is not None) == is_taken
    assert is_taken or nothing_happened(bo)


@pytest.mark.case(117)
def test_117_what_happens_while_a_file_is_written_changes_no_receipt(
    door: Door, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_time = pets.closes_at - timedelta(seconds=1)
    at(monkeypatch, in_time)
    with while_a_file_comes_in(lambda: at(monkeypatch, pets.closes_at + timedelta(seconds=20))):
        answer = door.send(answers())
    assert answer.submission is not None
    assert (answer.submission.received_at, answer.submission.is_late) == (in_time, False)


@pytest.mark.parametrize("is_ahead", [True, False])
@pytest.mark.case(117, 119)
def test_117_119_only_the_clock_of_the_database_counts(
    door: Door, pets: Competition, monkeypatch: pytest.MonkeyPatch, is_ahead: bool
) -> None:
    """Neither the browser's nor the web server's, each an hour wrong."""
    hour = timedelta(hours=1 if is_ahead else -1)
    at(monkeypatch, pets.closes_at + timedelta(seconds=-1 if is_ahead else 60))
    monkeypatch.setattr("django.utils.timezone.now", lambda: pets.closes_at + hour)
    body = body_of(
        part("received_at", b"2020-01-01"), part("at", b"1"), part("file", answers(), '; filename="mine.csv"')
    )
    answer = door.post_raw(body, {"Date": "Wed, 01 Jan 2020 00:00:00 GMT"})
    assert (answer.submission is not None) == is_ahead


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2026-12-31"])
@pytest.mark.case(118)
def test_118_attempts_start_again_at_midnight_of_the_competition_also_when_the_clocks_change(
    door: Door, bo: User, monkeypatch: pytest.MonkeyPatch, day: str
) -> None:
    vienna = ZoneInfo("Europe/Vienna")
    begin = datetime.fromisoformat(day).replace(tzinfo=vienna)
    midnight = (begin + timedelta(days=1)).astimezone(UTC)
    times = {"opens_at": midnight - timedelta(days=9), "closes_at": midnight + timedelta(days=9)}
    Competition.objects.update(zone="Europe/Vienna", **times)
    Limits.objects.update(daily_attempts=1)
    taken = []
    # Midnight in Vienna is 22:00 UTC in summer and 23:00 in winter; 00:00 UTC begins no new day there.
    times_of_day = [midnight + timedelta(hours=hours) for hours in (-2, -1, -0.001, 0, 1, 2, 23.999, 24)]
    for number, moment in enumerate([begin.astimezone(UTC), *times_of_day]):
        at(monkeypatch, moment)
        taken.append(door.send(another(number)).submission is not None)
    assert taken == [True, False, False, False, True, False, False, False, True]
    assert DailyAttempts.objects.filter(used=1).count() == 3


# --- the world changes ------------------------------------------------------------------------------------------


@pytest.mark.case(122)
def test_122_a_competition_that_closed_between_looking_and_sending(door: Door, pets: Competition, bo: User) -> None:
    close(pets)
    answer = door.send(answers())
    assert (answer.status, "deadline has passed" in answer.words) == (409, True)
    assert nothing_happened(bo)


@pytest.mark.case(122)
def test_122_a_competition_whose_opening_was_put_off(door: Door, pets: Competition, bo: User) -> None:
    """Ada pauses it: it opens again tomorrow."""
    Competition.objects.update(opens_at=pets.closes_at - timedelta(hours=1))
    answer = door.send(answers())
    assert (answer.status, "open" in answer.words) == (409, True)
    assert nothing_happened(bo)


@pytest.mark.case(122)
def test_122_a_deadline_that_was_brought_forward_while_the_file_came_in(
    door: Door, pets: Competition, bo: User
) -> None:
    with while_a_file_comes_in(lambda: close(Competition.objects.get())):
        answer = door.send(answers())
    assert (answer.status, "deadline has passed" in answer.words) == (409, True)
    assert nothing_happened(bo)


@pytest.mark.case(122)
def test_122_a_competition_that_was_deleted(door: Door, pets: Competition) -> None:
    competitions.delete_competition(competition=pets)
    assert door.send(answers()).status == 404
    assert stored_files() == []


@pytest.mark.case(122)
def test_122_a_competition_that_was_deleted_while_the_file_came_in(door: Door) -> None:
    with while_a_file_comes_in(lambda: competitions.delete_competition(competition=Competition.objects.get())):
        answer = door.send(answers())
    assert answer.status in (404, 409)
    assert "This competition was deleted during your upload" in answer.words
    assert stored_files() == []
    assert not Submission.objects.exists()


def in_a_team_of_two(pets: Competition, bo: User) -> User:
    """Max, who joined Bo's team."""
    mate = person("max")
    team = Membership.objects.get(user=bo).team
    joining.accept_rules(membership=joining.join_by_invitation(user=mate, invitation=team.invitation))
    return mate


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.case(123)
def test_123_who_was_removed_while_the_file_came_in_hands_in_for_nobody(pets: Competition, bo: User, kind: str) -> None:
    enter(pets, bo)
    mate = in_a_team_of_two(pets, bo)
    door = DOORS[kind](mate)
    with while_a_file_comes_in(lambda: Membership.objects.filter(user=mate).delete()):
        answer = door.send(answers())
    assert answer.status in (403, 409)
    assert "You left the competition during your upload" in answer.words
    assert nothing_happened(bo)


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.case(123)
def test_123_who_changed_teams_while_the_file_came_in_hands_in_for_the_new_one(
    pets: Competition, bo: User, kind: str
) -> None:
    enter(pets, bo)
    mate = in_a_team_of_two(pets, bo)
    held = Membership.objects.select_related("team", "competition", "user").get(user=mate)
    with while_a_file_comes_in(lambda: teams.leave_team(membership=held)):
        answer = DOORS[kind](mate).send(answers())
    assert answer.submission is not None
    assert answer.submission.team != Membership.objects.get(user=bo).team
    assert (attempts_used(bo), attempts_used(mate)) == (0, 1)
