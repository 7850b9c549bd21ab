"""Celery tasks of accounts."""

from __future__ import annotations

from leaderboard.celery import app

from .institution import metadata


@app.task(name="leaderboard.accounts.tasks.fetch_provider_metadata")
def fetch_provider_metadata() -> None:
    """Fetch endpoints and keys of the institutions' providers: at the start, and each hour."""
    for institution in metadata.due_institutions():
        metadata.fetch_metadata(institution)


def find_due() -> list[tuple[str]]:
    """The task above if metadata is due, else nothing."""
    return [(fetch_provider_metadata.name,)] if metadata.due_institutions() else []
