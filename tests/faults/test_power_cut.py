"""Fault 38, as far as it can be had without cutting power: what was not on the disk yet is taken away or is rubbish.

SQLite's log of changes and its order of writing are what a power cut meets. So uploads are acknowledged by a process
that then dies, and the log is cut at every acknowledgement and in between, with nothing or with rubbish behind the cut.
"""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.running_site import ROOT, site_environment

pytestmark = [pytest.mark.slow, pytest.mark.sqlite]

UPLOADS = 8
SUBMIT = f"""
import django; django.setup()
import json, os
from pathlib import Path
from django.conf import settings
from django.core.management import call_command
from django.db import connection
call_command("migrate", verbosity=0)
from leaderboard.competitions import wake_ups
from leaderboard.submissions import submitting
from tests.conftest import answers, enter, make_competition, person
wake_ups.wake_workers = lambda *_, **__: True
pets, bo = make_competition(person("ada", can_host=True), daily_attempts=50), person("bo")
enter(pets, bo)
connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
(synchronous,) = connection.cursor().execute("PRAGMA synchronous").fetchone()
assert synchronous == 2, "FULL: each commit waits until its log is on the disk"
synced, fsync = [], os.fsync
def noted(descriptor):
    fsync(descriptor)
    synced.append(os.readlink(f"/proc/self/fd/{{descriptor}}"))
os.fsync = noted
wal = Path(settings.VAR_DIR) / "leaderboard.sqlite3-wal"
for number in range({UPLOADS}):
    synced.clear()
    one = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers(public=number % 5)])
    print(json.dumps([one.pk.hex, one.file_key, one.sha256, wal.stat().st_size, synced]), flush=True)
os.kill(os.getpid(), 9)
"""


@dataclass(frozen=True)
class Acknowledged:
    """An upload, how long the log was when it was answered, and what had been forced to the disk until then."""

    pk: str
    key: str
    sha256: str
    log_bytes: int
    synced: list[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("power") / "var"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="module")
def uploads(folder: Path) -> list[Acknowledged]:
    run = subprocess.run(
        [sys.executable, "-c", SUBMIT],
        cwd=ROOT, env=site_environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == -9, run.stderr
    return [Acknowledged(*json.loads(line)) for line in run.stdout.splitlines()]


@pytest.mark.fault(38)
def test_38_a_file_and_the_folders_that_name_it_are_on_the_disk_before_its_row(
    folder: Path, uploads: list[Acknowledged]
) -> None:
    assert len(uploads) == UPLOADS
    root = folder / "files"
    for one in uploads:
        path = root / one.key
        assert hashlib.sha256(path.read_bytes()).hexdigest() == one.sha256
        assert any(name.startswith(f"{path}.") for name in one.synced), "the file, under its first name"
        assert one.synced[-1] == str(path.parent)
    assert {str(root), str(root / "submissions")} <= set(uploads[0].synced), "folders that were made for it"


@pytest.mark.parametrize("behind", ["nothing", "zeros", "rubbish"])
@pytest.mark.fault(38)
def test_38_wherever_the_log_is_cut_every_acknowledged_upload_is_there(
    folder: Path, uploads: list[Acknowledged], tmp_path: Path, behind: str
) -> None:
    chance = random.Random(38)
    database = folder / "leaderboard.sqlite3"
    log = database.with_name("leaderboard.sqlite3-wal").read_bytes()
    assert len(log) == uploads[-1].log_bytes
    cuts = [one.log_bytes for one in uploads] + [chance.randrange(uploads[0].log_bytes, len(log)) for _ in range(24)]
    copy = tmp_path / "cut.sqlite3"
    seen = set()
    for cut in cuts:
        lost = {"nothing": b"", "zeros": bytes(len(log) - cut), "rubbish": chance.randbytes(len(log) - cut)}[behind]
        copy.write_bytes(database.read_bytes())
        copy.with_name("cut.sqlite3-wal").write_bytes(log[:cut] + lost)
        copy.with_name("cut.sqlite3-shm").unlink(missing_ok=True)
        with closing(sqlite3.connect(copy)) as found:
            assert found.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            there = {pk for (pk,) in found.execute("SELECT id FROM competitions_submission")}
            used = found.execute("SELECT COALESCE(SUM(used), 0) FROM competitions_dailyattempts").fetchone()[0]
        assert {one.pk for one in uploads if one.log_bytes <= cut} <= there, cut
        assert used == len(there), "an attempt and its row are one"
        seen.add(len(there))
    assert len(seen) >= UPLOADS - 1, "cuts in the middle lose what came after them"
