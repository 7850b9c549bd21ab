"""A database with all tables and nothing in them: its migrations, run once for a whole run of the suite.

That the migrations themselves work is for `tests/flows/test_up.py`, which starts sites in empty folders.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "MIGRATED_ONCE_IN"  # the environment variable; set by `conftest.py`
NAME = "leaderboard.sqlite3"


def migrated() -> Path:
    """The file; whoever asks first makes it, and others wait for that."""
    folder = Path(os.environ[FOLDER])
    made = folder / "migrated.sqlite3"
    with (folder / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _make(made)
    return made


def _make(made: Path) -> None:
    var = made.with_name("migrated")
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    command = [sys.executable, "manage.py", "migrate", "-v0"]
    subprocess.run(command, cwd=ROOT, env={**environment, "VAR_DIR": str(var)}, check=True)
    partial = made.with_suffix(".partial")
    with closing(sqlite3.connect(var / NAME)) as database:
        database.execute("VACUUM INTO ?", [str(partial)])
    partial.rename(made)


def put_into(var: Path) -> None:
    """Give a site that has not begun the tables that its first start would make; outside of a run of the suite it makes
    them itself."""
    if FOLDER in os.environ and not (var / NAME).exists():
        var.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy(migrated(), var / NAME)
        (var / NAME).chmod(0o600)


def copy_into(connection: sqlite3.Connection) -> None:
    with closing(sqlite3.connect(migrated())) as source:
        source.backup(connection)
