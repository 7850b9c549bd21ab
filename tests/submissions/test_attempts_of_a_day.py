"""A day of attempts begins and ends at midnight in the competition's zone, also where clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError

from leaderboard.accounts.models import User
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DailyAttempts
from leaderboard.operations import consistency
from leaderboard.submissions import allowances
from tests.conftest import answers, enter, make_competition, submit


@pytest.mark.parametrize(
    ("zone", "at", "day", "begins", "hours"),
    [
        ("UTC", "2026-03-29T23:59", "2026-03-29", "2026-03-29T00:00", 24),
        ("Europe/Vienna", "2026-03-28T22:59", "2026-03-28", "2026-03-27T23:00", 24),
        ("Europe/Vienna", "2026-03-28T23:00", "2026-03-29", "2026-03-28T23:00", 23),
        ("Europe/Vienna", "2026-03-29T21:59", "2026-03-29", "2026-03-28T23:00", 23),
        ("Europe/Vienna", "2026-03-29T22:00", "2026-03-30", "2026-03-29T22:00", 24),
        ("Europe/Vienna", "2026-10-25T22:59", "2026-10-25", "2026-10-24T22:00", 25),
        ("America/Los_Angeles", "2026-11-01T07:00", "2026-11-01", "2026-11-01T07:00", 25),
        ("Asia/Kathmandu", "2026-06-01T18:15", "2026-06-02", "2026-06-01T18:15", 24),
        # There clocks go forward at midnight: the day begins at one o'clock.
        ("America/Asuncion", "2023-10-01T04:00", "2023-10-01", "2023-10-01T04:00", 23),
    ],
)
def test_a_day_is_one_of_the_competitions_zone(zone: str, at: str, day: str, begins: str, hours: int) -> None:
    here, moment = Competition(zone=zone), datetime.fromisoformat(f"{at}Z")
    today = date.fromisoformat(day)
    assert here.day_of(moment) == today
    assert here.begin_of_day(moment) == datetime.fromisoformat(f"{begins}Z")
    assert here.midnight(today + timedelta(days=1)) - here.midnight(today) == timedelta(hours=hours)


def test_attempts_come_back_at_midnight_of_the_competition(ada: User, bo: User) -> None:
    pets = make_competition(ada, zone="Europe/Vienna", daily_attempts=2)
    Competition.objects.update(opens_at=datetime(2026, 1, 1, tzinfo=UTC), closes_at=datetime(2027, 1, 1, tzinfo=UTC))
    membership = enter(pets, bo)
    DailyAttempts.create_for([(membership.team_id, date(2026, 3, 29))] * 2, 2)
    membership.competition.refresh_from_db()
    last, next_day = datetime(2026, 3, 29, 21, 59, tzinfo=UTC), datetime(2026, 3, 29, 22, 0, tzinfo=UTC)
    allowed = allowances.allowance_of(membership, last)
    assert (allowed.left, allowed.resets_at) == (0, next_day)
    assert allowances.allowance_of(membership, next_day).left == 2
    of_all = allowances.allowances_of_teams({membership.team_id: membership.competition}, last)
    assert of_all[membership.team_id] == allowed


def test_what_is_counted_is_found_by_the_nightly_check(ada: User, bo: User) -> None:
    pets = make_competition(ada, zone="Pacific/Kiritimati")
    enter(pets, bo)
    file = submit(pets, bo, answers())
    assert DailyAttempts.objects.get().day == pets.day_of(file.received_at)
    assert all(result.holds for result in consistency.run_checks(only={6}))


def test_the_zone_stays_once_a_file_was_counted_by_its_days(ada: User, bo: User) -> None:
    pets = make_competition(ada, zone="UTC")
    competitions.change_competition(competition=pets, user=ada, zone="Europe/Vienna")
    enter(pets, bo)
    submit(pets, bo, answers())
    with pytest.raises(ValidationError, match="zone"):
        competitions.change_competition(competition=pets, user=ada, zone="Asia/Tokyo")
    competitions.change_competition(competition=pets, user=ada, zone="Europe/Vienna", title="Pets")
