"""What many tests begin with is made once in each process; for later tests its rows and files are copied."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, ground_truth

MAY_HAVE_ROWS = {
    "account_emailaddress",
    "accounts_user",
    "auth_permission",
    "django_content_type",
    "django_session",
    "django_site",
    "usersessions_usersession",
}
_recordings: dict[str, Recording] = {}


@dataclass
class Recording:
    """The rows of each table, the files and the competition's key."""

    rows: dict[str, list[tuple[Any, ...]]]
    files: Path
    competition: int

    def play(self) -> Competition:
        for table, rows in self.rows.items():
            places = ",".join("?" * len(rows[0]))
            connection.connection.executemany(f'INSERT INTO "{table}" VALUES ({places})', rows)
        shutil.copytree(self.files, settings.FILES_DIR, dirs_exist_ok=True)
        competition = Competition.objects.get(pk=self.competition)
        for _ in competition.ground_truths.all():
            # Secrets of tests are numbered: what the test makes next must not draw those of the copy.
            ground_truth.new_split_secret()
        return competition


def recorded(host: User, how: dict[str, Any], make: Callable[[], Competition]) -> Competition:
    """The competition that `make` makes of `how`, from its recording where the database has nothing but people."""
    key = key_of(host, how)
    if key is None or rows_by_table():
        return make()
    if key in _recordings:
        return _recordings[key].play()
    competition = make()
    files = Path(mkdtemp())
    shutil.copytree(settings.FILES_DIR, files, dirs_exist_ok=True)
    _recordings[key] = Recording(rows_by_table(), files, competition.pk)
    return competition


def key_of(host: User, how: dict[str, Any]) -> str | None:
    """None where a recording would be another competition: its files are elsewhere, or the test has its own clock,
    moments, metric files or real transactions."""
    is_plain = connection.vendor == "sqlite" and connection.in_atomic_block
    is_plain = is_plain and not settings.STORAGE_URL and not os.environ.get("METRICS_DIR")
    if not is_plain or abs(timezone.now() - datetime.now(UTC)) > timedelta(seconds=1):
        return None
    try:
        return json.dumps([host.pk, host.username, how], sort_keys=True)
    except TypeError:
        return None


def rows_by_table() -> dict[str, list[tuple[Any, ...]]]:
    """Of all tables with rows, but for those that people and Django fill."""
    found = {table: connection.connection.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables()}
    return {table: rows for table, rows in found.items() if rows}


@cache
def tables() -> list[str]:
    names = {model._meta.db_table for model in apps.get_models(include_auto_created=True) if model._meta.managed}
    return sorted(names - MAY_HAVE_ROWS)
