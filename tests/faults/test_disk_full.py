"""Faults 17 and 18: a disk without room, for a file and for the database. Nothing is taken, nothing half is left."""

from __future__ import annotations

import errno
import itertools
import os
import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.test import Client

from leaderboard.accounts.models import ApiToken, User
from leaderboard.common import storage
from leaderboard.competitions.models import Competition, DailyAttempts, Score, Submission
from leaderboard.submissions import score
from tests.conftest import answers, broken_promises, enter, make_competition
from tests.inputs.doors import BOUNDARY, part, post_bytes
from tests.pages import signed_in

pytestmark = pytest.mark.thorough


@pytest.fixture
def big(ada: User, bo: User) -> Competition:
    competition = make_competition(ada, daily_attempts=500)
    enter(competition, bo)
    return competition


NUMBERS = itertools.count()


def another_file() -> bytes:
    """Right answers in an order of their own: the page asks before it takes the same bytes twice."""
    header, *rows = answers().splitlines(keepends=True)
    random.Random(next(NUMBERS)).shuffle(rows)
    return header + b"".join(rows)


def page(client: Client) -> Any:
    return client.post("/c/pets/submit/", {"file": SimpleUploadedFile("a.csv", another_file()), "note": "n" * 300})


def token_of(user: User) -> str:
    return ApiToken.issue(user, "test")[1]


def program(token: str) -> Any:
    file = {"file": SimpleUploadedFile("a.csv", answers())}
    headers = {"authorization": f"Bearer {token}"}
    return Client().post("/api/v1/competitions/pets/submissions", file, headers=headers)


def stored() -> set[str]:
    return {key for key, _ in storage.list_stored()}


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.fault(17)
def test_17_a_disk_that_is_full_at_the_end_of_a_file_keeps_no_half_of_it(
    big: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Room runs out when the file is forced to the disk, or when the folder with its name is."""
    fsync, before = os.fsync, stored()

    def full(descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if path.endswith(".partial") == (what == "file"):
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    his_page, his_token = signed_in(bo), token_of(bo)
    for door in (partial(page, his_page), partial(program, his_token)):
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(os, "fsync", full)
            for _ in range(3):  # the first one also makes folders
                answer = door()
                assert answer.status_code == 507
                assert b"disk is full" in answer.content
                assert stored() == before
    assert not Submission.objects.exists()
    assert page(his_page).status_code == 303


@pytest.mark.fault(17)
def test_17_a_disk_that_is_full_before_a_body_has_arrived_takes_nothing_and_says_so(big: Competition, bo: User) -> None:
    """The web server keeps a body on the disk until its last byte is here."""
    headers, before = {"Authorization": f"Bearer {token_of(bo)}"}, stored()
    form = part("file", answers() + b"\n" * 200_000, '; filename="a.csv"') + f"--{BOUNDARY}--\r\n".encode()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (50_000, len(form) - 1):  # an early byte finds no room, or the last one
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            answer = post_bytes("/api/v1/competitions/pets/submissions", form, headers)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (answer.status_code, b"disk is full" in answer.content) == (507, True)
    assert (stored(), Submission.objects.count()) == (before, 0)


@contextmanager
def no_room_for_the_database() -> Iterator[None]:
    """SQLite itself says “database or disk is full” for every page more than there are."""
    with connection.cursor() as cursor:
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")
        try:
            yield
        finally:
            cursor.execute("PRAGMA max_page_count = 1073741823")


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
@pytest.mark.fault(18)
def test_18_a_database_that_cannot_grow_takes_nothing_changes_nothing_and_recovers(
    big: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    his_page, his_token = signed_in(bo), token_of(bo)  # a session and a token of their own would need room too
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # what earlier tests deleted left room
    with no_room_for_the_database():
        statuses = [page(his_page).status_code]
        while statuses[-1] == 303 and len(statuses) < 200:
            statuses.append(page(his_page).status_code)
        assert statuses[-1] == 503, "its last page is full"
        rows, files = list(Submission.objects.order_by("pk").values()), stored()
        assert program(his_token).status_code in (201, 503)
        assert page(his_page).status_code in (303, 503)
    assert len(rows) >= len(statuses) - 1
    assert {row["status"] for row in rows} == {"pending"}
    assert files >= {row["file_key"] for row in rows}
    assert DailyAttempts.objects.get().used == Submission.objects.count()
    assert page(his_page).status_code == 303
    assert broken_promises() == []


@pytest.mark.sqlite
@pytest.mark.fault(18)
def test_18_a_score_that_finds_no_room_leaves_its_file_pending_and_is_written_later(
    big: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page(signed_in(bo)).status_code == 303
    submission = Submission.objects.get()
    real = score.write_scores

    def full(*arguments: Any) -> float:
        real(*arguments)
        with connection.cursor() as cursor, no_room_for_the_database():
            cursor.execute("CREATE TABLE grows AS SELECT randomblob(10000000)")
        raise AssertionError("it grew")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(score, "write_scores", full)
        meanwhile.setattr(score, "FINISH_SECONDS", 0.0)
        with pytest.raises(OperationalError, match="full"):
            score.score_one(submission.pk)
    submission.refresh_from_db()
    assert submission.status == "pending"
    assert not Score.objects.exists()
    Submission.objects.update(claim=None, lease_until=None)
    assert score.score_one(submission.pk) == "scored"
    assert Score.objects.count() == 2
