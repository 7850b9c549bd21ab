"""What the clock brings. Every process of a worker looks every few seconds and does what is due.

A row for each task says when it was last begun. So however many workers there are, each task is begun once, by any
process that lives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from leaderboard.common.clock import database_now

from .models import Duty

LOOK_EVERY_SECONDS = 5.0
# A task that is due in a moment is due now: the next look is five seconds away.
EARLY = timedelta(seconds=1)
# A task that should have been begun so long ago is done by nobody.
LATE = timedelta(seconds=30)


@dataclass(frozen=True)
class Schedule:
    """When a task is due: after each interval, or once a day (UTC)."""

    task: str
    every: timedelta = timedelta(days=1)
    at: time | None = None

    def is_due(self, begun_at: datetime | None, now: datetime) -> bool:
        """A row from before the clock was set back counts as none."""
        if begun_at is None or begun_at > now + self.every:
            return True
        if self.at is None:
            return now - begun_at >= self.every - EARLY
        today = datetime.combine(now, self.at, now.tzinfo)
        return begun_at < (today if today <= now else today - self.every)


SCHEDULES = (
    Schedule("leaderboard.competitions.tasks.sweep", timedelta(seconds=5)),
    Schedule("leaderboard.competitions.tasks.reveal_due", timedelta(seconds=5)),
    Schedule("leaderboard.notifications.tasks.notify_due", timedelta(minutes=1)),
    Schedule("leaderboard.operations.tasks.submit_next_of_demo", timedelta(minutes=1)),
    Schedule("leaderboard.operations.tasks.inspect_custom_metrics", timedelta(minutes=1)),
    Schedule("leaderboard.operations.tasks.check_consistency", at=time(3, 20)),
    Schedule("leaderboard.operations.tasks.sweep_files", at=time(4, 40)),
    Schedule("leaderboard.competitions.tasks.clear_sessions", at=time(5, 10)),
)
SWEEP = SCHEDULES[0].task


def begin_due_tasks() -> Iterator[str]:
    """The names of the tasks that are due, each noted as begun by this process. A daily one that was never begun waits
    for its time."""
    begun, now = dict(Duty.objects.values_list("task", "begun_at")), database_now()
    for schedule in SCHEDULES:
        begun_at = begun.get(schedule.task)
        if schedule.is_due(begun_at, now) and _note_begin(schedule.task, begun_at) and (begun_at or not schedule.at):
            yield schedule.task


def _note_begin(task: str, begun_at: datetime | None) -> bool:
    """Whether no other process was faster. SQLite compares moments as texts, and its own `Now` has fewer digits."""
    if begun_at is None:
        return Duty.objects.get_or_create(task=task, defaults={"begun_at": database_now()})[1]
    return bool(Duty.objects.filter(task=task, begun_at=begun_at).update(begun_at=database_now()))


def late_tasks() -> list[str]:
    """The tasks that no process has begun for too long."""
    begun, now = dict(Duty.objects.values_list("task", "begun_at")), database_now()
    often = (schedule for schedule in SCHEDULES if schedule.at is None)
    return [
        schedule.task.rpartition(".")[2]
        for schedule in often
        if schedule.task not in begun or now - begun[schedule.task] > schedule.every + LATE
    ]


def last_sweep() -> datetime | None:
    """When a worker last looked for files that wait."""
    return Duty.objects.filter(task=SWEEP).values_list("begun_at", flat=True).first()
