"""Celery tasks of boards."""

from __future__ import annotations

from leaderboard.celery import app
from leaderboard.common.clock import database_now

from . import reveal


@app.task(name="leaderboard.boards.tasks.reveal_due")
def reveal_due() -> None:
    """Open final rankings whose deadline has passed and whose files are all scored, and add late teams to open ones."""
    now = database_now()
    reveal.reveal_due_competitions(now, over_since=now - reveal.ROWS_MAY_FOLLOW)
    reveal.add_late_teams(now - reveal.ROWS_MAY_FOLLOW)
