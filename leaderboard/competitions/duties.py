"""Scheduled tasks. Every worker process checks every few seconds and runs those that are due.

A row per task stores when it was last begun, so each task is begun once, by any process, with any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from leaderboard.common.clock import database_now

from .models.page_task import Duty

LOOK_EVERY_SECONDS = 5.0
# A task may be begun this much early, because the next check is five seconds away.
EARLY = timedelta(seconds=1)
# A task that is overdue by more than this is not being done by any worker.
LATE = timedelta(seconds=30)


@dataclass(frozen=True)
class Schedule:
    """Schedule of a task: every interval, or with `at` daily at that time (UTC)."""

    task: str
    every: timedelta = timedelta(days=1)
    at: time | None = None

    def is_due(self, begun_at: datetime | None, now: datetime) -> bool:
        """Whether the task is due. A `begun_at` in the far future is ignored: the clock was set back."""
        if begun_at is None or begun_at > now + self.every:
            return True
        if self.at is None:
            return now - begun_at >= self.every - EARLY
        today = datetime.combine(now, self.at, now.tzinfo)
        return begun_at < (today if today <= now else today - self.every)


SCHEDULES = (
    Schedule("leaderboard.competitions.tasks.sweep", timedelta(seconds=5)),
    Schedule("leaderboard.boards.tasks.reveal_due", timedelta(seconds=5)),
    Schedule("leaderboard.notifications.tasks.notify_due", timedelta(minutes=1)),
    Schedule("leaderboard.operations.tasks.submit_next_of_demo", timedelta(minutes=1)),
    Schedule("leaderboard.operations.tasks.inspect_custom_metrics", timedelta(minutes=1)),
    Schedule("leaderboard.operations.tasks.check_consistency", at=time(3, 20)),
    Schedule("leaderboard.operations.tasks.sweep_files", at=time(4, 40)),
    Schedule("leaderboard.competitions.tasks.clear_sessions", at=time(5, 10)),
)
SWEEP = SCHEDULES[0].task


def begin_due_tasks() -> Iterator[str]:
    """Names of the due tasks; each is marked as begun, so that no other process begins it.

    A daily task without a row is only marked, and waits for its time of day.
    """
    begun, now = dict(Duty.objects.values_list("task", "begun_at")), database_now()
    for schedule in SCHEDULES:
        begun_at = begun.get(schedule.task)
        if schedule.is_due(begun_at, now) and _note_begin(schedule.task, begun_at) and (begun_at or not schedule.at):
            yield schedule.task


def _note_begin(task: str, begun_at: datetime | None) -> bool:
    """Mark a task as begun; False if another process has done so first.

    With `database_now`, not `Now()`: SQLite compares times as text, and its own have fewer digits.
    """
    if begun_at is None:
        return Duty.objects.get_or_create(task=task, defaults={"begun_at": database_now()})[1]
    return bool(Duty.objects.filter(task=task, begun_at=begun_at).update(begun_at=database_now()))


def late_tasks() -> list[str]:
    """Names of tasks with an interval that are overdue by more than `LATE`."""
    begun, now = dict(Duty.objects.values_list("task", "begun_at")), database_now()
    often = (schedule for schedule in SCHEDULES if schedule.at is None)
    return [
        schedule.task.rpartition(".")[2]
        for schedule in often
        if schedule.task not in begun or now - begun[schedule.task] > schedule.every + LATE
    ]


def last_sweep() -> datetime | None:
    """Time of the last sweep; None before the first one."""
    return Duty.objects.filter(task=SWEEP).values_list("begun_at", flat=True).first()
