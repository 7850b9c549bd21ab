"""PostgreSQL waits for ever of itself; the site does not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.running_site import ROOT
from tests.servers import postgres

pytestmark = [pytest.mark.slow, pytest.mark.sqlite]

ASK = """
import django, sys
django.setup()
from django.db import OperationalError, connection
cursor = connection.cursor()
try:
    cursor.execute(sys.argv[1])
except OperationalError as error:
    print(type(error.__cause__).__name__)
cursor.execute("SHOW statement_timeout")
print(cursor.fetchone()[0])
"""


def ask(url: str, var: Path, statement: str, part: str) -> list[str]:
    variables = {"DATABASE_URL": url, "VAR_DIR": str(var), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    return subprocess.run(
        [sys.executable, "-c", ASK, statement],
        cwd=ROOT,
        env={**os.environ, **variables, "LEADERBOARD_PART": part},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_neither_a_held_lock_nor_a_long_statement_keeps_a_page_for_ever(tmp_path: Path) -> None:
    with postgres() as server:
        server.run("CREATE TABLE held (id int)")
        with psycopg.connect(server.url()) as other:
            other.execute("LOCK TABLE held")
            begun = time.monotonic()
            assert ask(server.url(), tmp_path, "SELECT * FROM held", "web") == ["LockNotAvailable", "30s"]
            assert time.monotonic() - begun < 30
        quick = "?options=-c%20lock_timeout%3D100ms"
        assert ask(server.url(options=quick), tmp_path, "SELECT 1", "worker") == ["0"]
        assert ask(server.url(options=quick), tmp_path, "SELECT 1", "web") == ["30s"]
