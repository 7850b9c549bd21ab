"""What the clock brings is done once each time, by any process of any worker that lives."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.celery import app
from leaderboard.competitions import duties
from leaderboard.competitions.duties import SCHEDULES, Schedule
from leaderboard.competitions.models.page_task import Duty
from leaderboard.submissions import worker

OFTEN = [schedule.task for schedule in SCHEDULES if schedule.at is None]
NIGHTLY = [schedule.task for schedule in SCHEDULES if schedule.at is not None]
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))


def set_back(task: str, **ago: float) -> None:
    Duty.objects.filter(task=task).update(begun_at=timezone.now() - timedelta(**ago))


def test_every_task_of_the_clock_is_one_that_workers_know() -> None:
    app.loader.import_default_modules()
    assert {schedule.task for schedule in SCHEDULES} <= set(app.tasks)
    every = {schedule.task: schedule.at or schedule.every.total_seconds() for schedule in SCHEDULES}
    assert every["leaderboard.competitions.tasks.sweep"] == duties.LOOK_EVERY_SECONDS == 5
    assert every["leaderboard.operations.tasks.check_consistency"] == time(3, 20)


def test_what_is_due_is_begun_by_one_process_and_the_next_time_by_another(db: None) -> None:
    assert list(duties.begin_due_tasks()) == OFTEN
    assert list(duties.begin_due_tasks()) == [], "somebody did it a moment ago"
    for task in OFTEN:
        set_back(task, seconds=61)
    assert list(duties.begin_due_tasks()) == OFTEN


def test_the_clock_brings_a_task_again_and_again(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now().replace(hour=12)  # no nightly task is due in these minutes
    for minutes in (0, 2, 4, 6):
        moment = now + timedelta(minutes=minutes, microseconds=123_000)
        monkeypatch.setattr(duties, "database_now", lambda moment=moment: moment)
        assert list(duties.begin_due_tasks()) == OFTEN


def test_two_processes_that_look_at_the_same_moment_do_nothing_twice(db: None) -> None:
    list(duties.begin_due_tasks())
    set_back(OFTEN[0], seconds=20)
    first, second = duties.begin_due_tasks(), duties.begin_due_tasks()
    assert next(first) == OFTEN[0]
    assert [*first, *second] == []


def test_a_nightly_task_waits_for_its_night_and_is_made_up_for_after_a_night_off(db: None) -> None:
    assert not set(NIGHTLY) & set(duties.begin_due_tasks()), "a new site has nothing to check yet"
    for task in NIGHTLY:
        set_back(task, hours=25)
    assert set(NIGHTLY) <= set(duties.begin_due_tasks())


def test_a_row_from_before_the_clock_was_set_back_stops_nothing(db: None) -> None:
    list(duties.begin_due_tasks())
    for task in OFTEN:
        set_back(task, hours=-3)
    assert list(duties.begin_due_tasks()) == OFTEN
    assert list(duties.begin_due_tasks()) == []


@given(begun_at=MOMENTS, minutes=st.integers(0, 4000), hour=st.integers(0, 23))
def test_a_daily_task_is_due_when_its_time_has_passed_since(begun_at: datetime, minutes: int, hour: int) -> None:
    schedule, now = Schedule("nightly", at=time(hour, 30)), begun_at + timedelta(minutes=minutes)
    passed = [
        moment
        for day in range(4)
        if begun_at < (moment := datetime.combine(begun_at, time(hour, 30), UTC) + timedelta(days=day)) <= now
    ]
    assert schedule.is_due(begun_at, now) == bool(passed)


@pytest.mark.fault(33)
def test_a_task_that_breaks_keeps_none_of_the_others(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def do(name: str) -> None:
        done.append(name)
        if name == OFTEN[0]:
            raise OSError

    monkeypatch.setattr(worker, "app", type("App", (), {"tasks": {name: lambda name=name: do(name) for name in OFTEN}}))
    worker.do_due_tasks()
    assert done == OFTEN
    assert duties.late_tasks() == []


def test_a_task_that_nobody_begins_is_late(db: None) -> None:
    assert duties.late_tasks() == [task.rpartition(".")[2] for task in OFTEN]
    list(duties.begin_due_tasks())
    assert duties.late_tasks() == []
    set_back(OFTEN[1], seconds=40)
    assert duties.late_tasks() == ["reveal_due"]
