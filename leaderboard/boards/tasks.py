"""Celery tasks of boards."""

from __future__ import annotations

from datetime import timedelta

from leaderboard.celery import app
from leaderboard.common.clock import database_now

from . import reveal

# A file received before the deadline gets its row a little later: the request may wait for a thread or the database.
ROWS_MAY_FOLLOW = timedelta(seconds=45)


@app.task(name="leaderboard.boards.tasks.reveal_due")
def reveal_due() -> None:
    """Reveal private boards whose deadline has passed and whose files are all scored."""
    reveal.reveal_due_competitions(database_now() - ROWS_MAY_FOLLOW)
