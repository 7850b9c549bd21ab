"""Names the work of accounts for the queue."""

from __future__ import annotations

from typing import Any

from leaderboard.celery import app

from .institution import metadata


@app.task(name="leaderboard.accounts.tasks.fetch_provider_metadata")
def fetch_provider_metadata() -> None:
    """Ask the providers at which people sign in for their addresses and keys: at the start, and each hour."""
    for institution in metadata.due_institutions():
        metadata.fetch_metadata(institution)


def find_due() -> list[Any]:
    """The task above where it has something to do now."""
    return [fetch_provider_metadata] if metadata.due_institutions() else []
