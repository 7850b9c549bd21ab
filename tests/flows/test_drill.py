"""The drill: back up while files come in and are scored, lose everything, restore, and miss nothing."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import answers
from tests.running_site import Site, running_site, until

pytestmark = [pytest.mark.slow, pytest.mark.long]

# Raises where a promise is broken; gives every submission with its status and the bits of its scores.
LOOK = """
import json
from django.core.management import call_command
from django.test import Client
from leaderboard.competitions.models import Submission
call_command("check_consistency")
found = {}
for submission in Submission.objects.prefetch_related("scores"):
    values = sorted((score.split, score.value.hex()) for score in submission.scores.all())
    found[str(submission.pk)] = [submission.status, *values]
board = Client(headers={"host": "localhost"}).get("/c/pets/leaderboard.csv").content.decode()
print(json.dumps([found, board]))
"""
RESTORE = """
from django.core.management import call_command
call_command("restore", {folder!r})
"""
State = dict[str, list[object]]


def look(site: Site, before: str = "") -> tuple[State, str]:
    """Submissions and the board as the database has them; every promise holds."""
    submissions, board = json.loads(site.shell(before + LOOK).splitlines()[-1])
    return submissions, board


def until_scored(site: Site, token: str, submissions: list[str]) -> None:
    def waiting() -> bool:
        return any('"pending"' in site.get(f"/api/v1/submissions/{pk}", token)[1] for pk in submissions)

    until(lambda: not waiting(), seconds=120, every=0.2, what="all scores")


@contextmanager
def uploads(site: Site, tokens: list[str]) -> Iterator[list[str]]:
    """Bo and Cy each hand in ten files per second; the list grows by what was acknowledged."""
    acknowledged: list[str] = []
    enough = threading.Event()

    def submit(token: str) -> None:
        number = 0
        while not enough.wait(0.1):
            status, made = site.upload("pets", token, answers(public=number % 6, private=number % 5))
            assert status == 201, made
            acknowledged.append(str(made["id"]))
            number += 1
        site.hang_up()

    students = [threading.Thread(target=submit, args=(token,)) for token in tokens]
    for student in students:
        student.start()
    try:
        yield acknowledged
    finally:
        enough.set()
        for student in students:
            student.join()


def test_a_backup_under_load_restores_to_a_site_that_passes_every_check(tmp_path: Path) -> None:
    var, busy, quiet = tmp_path / "var", tmp_path / "busy", tmp_path / "quiet"
    with running_site(var) as site:
        tokens = site.make_class(is_listed=True, daily_attempts=1000)
        with uploads(site, tokens) as acknowledged:
            until(lambda: len(acknowledged) >= 10, what="ten uploads")
            before = list(acknowledged)
            site.manage("backup", str(busy))
        assert len(acknowledged) > len(before), "nothing came in meanwhile: no load"
        for token in tokens:
            until_scored(site, token, acknowledged)
        live, _ = look(site)
        board = site.get("/c/pets/leaderboard.csv")[1]
        assert "bo" in board
        site.manage("backup", str(quiet))
    shutil.rmtree(var)

    # What was backed up at rest comes back to the byte.
    again, shown = look(site, RESTORE.format(folder=str(quiet)))
    assert again == live
    assert shown == board
    shutil.rmtree(var)

    # What was backed up under load has every file acknowledged before, and nothing that is not so.
    site.manage("restore", str(busy))
    with running_site(var) as busy_again:
        for token in tokens:
            until_scored(busy_again, token, acknowledged)
        found, _ = look(busy_again)
    assert set(before) <= found.keys() <= live.keys()
    assert {pk: live[pk] for pk in found} == found
