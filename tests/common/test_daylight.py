"""Days of 23 and of 25 hours: deadlines, attempts, planned launches, reminders, letters, to the minute."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.display_time import moment
from leaderboard.competitions.forms import moment_in
from leaderboard.competitions.models import Competition, DailyAttempts
from leaderboard.ground_truths.services import copying
from leaderboard.notifications import events
from leaderboard.notifications.kinds import NoticeKind
from leaderboard.notifications.models import Notice
from leaderboard.submissions import allowances
from tests.conftest import enter, make_competition
from tests.pages import signed_in

MINUTE, QUARTER, DAY = timedelta(minutes=1), timedelta(minutes=15), timedelta(days=1)
# Zone, day of the change, hours of that day, and the offset of its evening in hours.
CHANGES = [
    ("Europe/Berlin", date(2035, 3, 25), 23, 2),
    ("Europe/Berlin", date(2035, 10, 28), 25, 1),
    ("America/New_York", date(2035, 3, 11), 23, -4),
    ("America/New_York", date(2035, 11, 4), 25, -5),
]
over_changes = pytest.mark.parametrize(("zone", "day", "hours", "offset"), CHANGES)


def evening(day: date, offset: int) -> datetime:
    """23:59 of a day, worked out by hand."""
    return datetime.combine(day, time(23, 59), UTC) - timedelta(hours=offset)


def ends_on(host: User, zone: str, closes_at: datetime) -> Competition:
    """Three weeks that end then."""
    return make_competition(host, zone=zone, opens_at=closes_at - timedelta(days=21), closes_at=closes_at)


@over_changes
def test_each_quarter_of_an_hour_is_taken_once_or_refused_in_words(
    zone: str, day: date, hours: int, offset: int
) -> None:
    refused, taken, words = [], [], set()
    for number in range(96):
        wall = datetime.combine(day, time()) + number * QUARTER
        try:
            taken.append(moment_in(wall, zone).astimezone(UTC))
        except ValidationError as error:
            refused.append(wall.hour)
            words.add(error.messages[0].partition(":")[0])
    assert refused == [2 if zone == "Europe/Berlin" or hours == 23 else 1] * 4
    assert words == {"This time doesn't exist in this zone" if hours == 23 else "This time occurs twice in this zone"}
    assert len(set(taken)) == 92
    assert moment_in(datetime.combine(day + DAY, time()), zone) - taken[0] == timedelta(hours=hours)
    assert taken[-1] + 14 * MINUTE == evening(day, offset)


@over_changes
def test_a_deadline_typed_for_the_evening_of_the_change_is_that_minute_everywhere(
    ada: User, bo: User, zone: str, day: date, hours: int, offset: int
) -> None:
    """In the form, in the database, on the page, and for the file that comes a minute later."""
    pets = ends_on(ada, zone, evening(day, offset) + 9 * DAY)
    enter(pets, bo)
    signed_in(ada).post("/host/pets/deadline/", {"closes_at": f"{day}T23:59", "is_meant": "yes"})
    pets = Competition.objects.get()
    assert pets.closes_at == evening(day, offset)
    assert f'value="{day}T23:59"' in signed_in(ada).get("/host/pets/deadline/").content.decode()
    with timezone.override(zone):
        assert f"{day.day} {day:%b} {day.year}, 23:59 {ZoneInfo(zone).tzname(pets.closes_at.replace(tzinfo=None))}" in (
            moment(pets.closes_at)
        )
    membership = pets.memberships.get()
    assert allowances.submit_refusal_now(pets, membership, pets.closes_at - MINUTE) is None
    late = allowances.submit_refusal_now(pets, membership, pets.closes_at)
    assert late is not None
    assert late.code == "closed"


@over_changes
def test_a_reminder_comes_a_whole_day_before_also_where_that_is_another_hour_of_the_clock(
    ada: User, bo: User, zone: str, day: date, hours: int, offset: int
) -> None:
    pets = ends_on(ada, zone, evening(day, offset))
    enter(pets, bo)
    due = pets.closes_at - DAY
    assert due.astimezone(ZoneInfo(zone)).time() == time(22 if hours == 23 else 0, 59)
    assert events.notify_due(due - MINUTE) == 0
    assert [events.notify_due(due + number * MINUTE) for number in range(3)] == [1, 0, 0]
    text = Notice.objects.get(user=bo, kind=NoticeKind.REMINDER).text
    name = pets.closes_at.astimezone(ZoneInfo(zone)).tzname()
    assert f"{day.day} {day:%b} {day.year}, 23:59 {name}.\n" in text


@over_changes
def test_attempts_are_there_again_at_midnight_of_the_zone_whatever_its_clocks_do(
    ada: User, bo: User, zone: str, day: date, hours: int, offset: int
) -> None:
    pets = ends_on(ada, zone, evening(day, offset) + 9 * DAY)
    membership = enter(pets, bo)
    for number in range(-1, 3):
        midnight = datetime.combine(day + number * DAY, time(), ZoneInfo(zone)).astimezone(UTC)
        DailyAttempts.objects.create(
            team=membership.team,
            day=day + (number - 1) * DAY,
            used=pets.limits.daily_attempts,
            limit=pets.limits.daily_attempts,
        )
        before = allowances.allowance_of(membership, midnight - MINUTE)
        assert (before.left, before.resets_at) == (0, midnight)
        assert allowances.allowance_of(membership, midnight).left == pets.limits.daily_attempts


@over_changes
def test_a_draft_of_two_weeks_over_the_change_ends_at_the_end_of_a_day(
    zone: str, day: date, hours: int, offset: int
) -> None:
    end = copying.end_of_day(datetime.combine(day, time(12), UTC), zone)
    assert end == evening(day, offset)
