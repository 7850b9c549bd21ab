"""Celery tasks of competitions. They take IDs, are sent after commit, and may run twice."""

from __future__ import annotations

from typing import Any

from leaderboard.accounts import personal_data
from leaderboard.accounts import tasks as accounts_tasks
from leaderboard.celery import app
from leaderboard.common.child_processes import run_command
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on

from . import hooks, page_tasks, services, wake_ups

# Accounts are a room below, which does not know this hook.
on(hooks.due_tasks)(accounts_tasks.find_due)


@app.task(name=wake_ups.ANSWER_PAGE, bind=True)
def answer_page(self: Any) -> None:
    """Process the next form that waits for a worker."""
    if wake_ups.has_known_schema(self) and page_tasks.answer_next_task(self.request.id) and page_tasks.waiting_tasks():
        wake_ups.wake_workers(wake_ups.ANSWER_PAGE, expires=wake_ups.SWEEP_MESSAGE_LIFETIME)


@app.task(name=wake_ups.SWEEP)
def sweep() -> None:
    """Wake workers for work that waits and has no worker; stops until the next sweep if the broker takes no message."""
    for due in hooks.due_tasks():
        for task, *ids in due:
            if not wake_ups.wake_workers(task, *ids, expires=wake_ups.SWEEP_MESSAGE_LIFETIME):
                return


@on(hooks.due_tasks)
def find_due() -> list[tuple[str]]:
    """A wake-up for each form that waits for a worker."""
    page_tasks.fail_spent_tasks()
    return [(wake_ups.ANSWER_PAGE,) for _task in page_tasks.waiting_tasks()]


@app.task(name="leaderboard.competitions.tasks.clear_sessions")
def clear_sessions() -> None:
    """Nightly: delete expired sessions (in another process) with their IP addresses, old answered forms, and
    competitions whose time in the bin is over."""
    services.empty_bin(database_now())
    personal_data.forget_ended_sessions(database_now())
    page_tasks.remove_old_tasks(database_now())
    run_command("clearsessions")
