"""Olga sees how the site is; programs ask whether it can score."""

from __future__ import annotations

import json
import os
import re
import uuid
from datetime import timedelta
from io import StringIO
from pathlib import Path
from smtplib import SMTPAuthenticationError
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common import child_processes, outbox
from leaderboard.competitions import duties
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.models.page_task import Duty, Worker
from leaderboard.operations import health
from leaderboard.operations.supervisor.processes import Heartbeats
from leaderboard.submissions import claims, queue_health, submitting, worker
from tests.conftest import answers, claim, enter, submit
from tests.pages import tidy


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody remembers the health of the test before; the broker answers."""
    health._last.clear()
    monkeypatch.setattr(health, "queue_length", lambda: 3)


def status_page(client: Client, olga: User) -> str:
    health._last.clear()
    client.force_login(olga)
    response = client.get("/status/")
    assert response.status_code == 200
    return response.content.decode()


def deep(client: Client) -> tuple[int, dict[str, Any]]:
    health._last.clear()
    response = client.get("/healthz/deep")
    return response.status_code, json.loads(response.content)


def waiting(competition: Competition, user: User, *, seconds: float) -> Submission:
    """A file that has waited for so long."""
    submission = submitting.submit_file(competition=competition, user=user, file_name="slow.csv", chunks=[answers()])
    Submission.objects.filter(pk=submission.pk).update(received_at=timezone.now() - timedelta(seconds=seconds))
    return submission


def test_olga_sees_that_the_mail_server_refuses(
    client: Client, olga: User, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert "Emails" not in status_page(client, olga)
    outbox.queue_email(EmailMessage("Hello", "Bo", to=["bo@example.org"]))
    page = re.sub(r"<[^>]+>", "", tidy(status_page(client, olga)))
    assert "1 email waits, written" in page

    def refuse(self: EmailMessage, fail_silently: bool = False) -> int:
        raise SMTPAuthenticationError(535, b"the password of nobody")

    monkeypatch.setattr(EmailMessage, "send", refuse)
    outbox.send_due_emails()
    page = tidy(status_page(client, olga))
    assert "The mail server's last error: SMTPAuthenticationError" in page.replace("&#x27;", "'")
    assert "the password of nobody" not in page


# --- the page ---------------------------------------------------------------------------------------------------


def test_olga_sees_waiting_files_workers_and_fates(client: Client, olga: User, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    submit(pets, bo, b"id,label\n1,cat\n")
    held = waiting(pets, bo, seconds=90)
    assert claim(held.pk)
    worker.report_worker()
    assert list(duties.begin_due_tasks())
    page = status_page(client, olga)
    text = tidy(page)
    assert "This site can score submissions." in text
    assert "<dt>Queue</dt><dd>1</dd>" in text
    assert re.search(r"<dt>Longest wait</dt><dd>9\d s</dd>", text)
    assert "<dt>In progress</dt><dd>1</dd>" in text
    assert "<dt>Scored, 24 h</dt><dd>1</dd>" in text
    assert "<dt>Invalid, 24 h</dt><dd>1</dd>" in text
    assert "Running" in text
    assert "Last sweep:<time" in text


def test_olga_reads_why_a_file_failed_and_where_it_is(client: Client, olga: User, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    failed = waiting(pets, bo, seconds=5)
    Submission.objects.filter(pk=failed.pk).update(tries=5, deaths=2, host_details="ZeroDivisionError")
    claims.fail_spent_submissions()
    page = status_page(client, olga)
    assert "Scoring failed through no fault of your file" in page
    assert "ZeroDivisionError" in page
    assert "tries: 5, scorer crashes: 2" in page
    assert 'href="/host/pets/submissions/?status=failed"' in page


def test_olga_reads_what_the_last_check_found(client: Client, olga: User, pets: Competition, bo: User) -> None:
    assert "Not checked yet" in status_page(client, olga)
    call_command("check_consistency", stdout=StringIO())
    assert "All OK" in status_page(client, olga)
    enter(pets, bo)
    submit(pets, bo, answers())
    pets.ground_truth.standings.update(value=0.5)  # type: ignore[union-attr]
    with pytest.raises(SystemExit):
        call_command("check_consistency", stdout=StringIO())
    page = status_page(client, olga)
    assert "Failed (1)" in page
    assert "public standing of team" in page


def test_olga_reads_what_is_away(client: Client, olga: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "queue_length", lambda: None)
    text = status_page(client, olga)
    assert "This site can't score right now" in text
    assert "The message broker isn't responding." in text
    assert "No worker is responding." in text
    assert "no answer" in text


def test_hosts_and_students_do_not_see_it(client: Client, ada: User, bo: User) -> None:
    assert client.get("/status/")["Location"] == "/accounts/login/?next=/status/"
    for user in (ada, bo):
        client.force_login(user)
        assert client.get("/status/").status_code == 403
        assert "/status/" not in client.get("/").content.decode()


# --- /healthz/deep ----------------------------------------------------------------------------------------------


@pytest.fixture
def looked_after(db: None) -> None:
    """A worker has just done what the clock brings."""
    list(duties.begin_due_tasks())


def test_with_a_worker_at_work_the_site_is_able(client: Client, looked_after: None) -> None:
    queue_health.report_worker()
    status, answer = deep(client)
    assert status == 200
    assert answer["able"]
    assert set(answer) == {
        "able", "database", "storage", "broker", "worker_heard", "oldest_pending", "in_hand", "late_tasks",
    }  # fmt: skip


def test_where_nobody_reveals_or_sweeps_it_is_not(client: Client, looked_after: None) -> None:
    queue_health.report_worker()
    Duty.objects.filter(task__endswith="reveal_due").update(begun_at=timezone.now() - timedelta(seconds=40))
    status, answer = deep(client)
    assert (status, answer["late_tasks"]) == (503, ["reveal_due"])
    Duty.objects.all().delete()
    assert deep(client)[0] == 503


def test_without_a_worker_it_is_not(client: Client, db: None) -> None:
    assert deep(client)[0] == 503
    queue_health.report_worker()
    Worker.objects.update(last_seen_at=timezone.now() - timedelta(seconds=31))
    status, answer = deep(client)
    assert (status, answer["able"]) == (503, False)
    assert answer["worker_heard"] >= 31


def test_a_broker_a_store_or_a_database_that_is_away_is_named(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    queue_health.report_worker()
    monkeypatch.setattr(health, "queue_length", lambda: None)
    assert deep(client)[1]["broker"] is False
    settings.FILES_DIR = "/proc/nowhere"
    assert deep(client)[1]["storage"] is False

    def away() -> None:
        raise OperationalError("the connection was refused")

    monkeypatch.setattr(health, "pending_files", away)
    status, answer = deep(client)
    assert (status, answer["database"]) == (503, False)


def test_a_file_that_waits_for_two_minutes_is_one_too_many(
    client: Client, pets: Competition, bo: User, looked_after: None
) -> None:
    enter(pets, bo)
    queue_health.report_worker()
    waiting(pets, bo, seconds=100)
    assert deep(client)[0] == 200
    waiting(pets, bo, seconds=130)
    assert deep(client)[0] == 503


def test_the_probe_leaves_nothing_behind(client: Client, db: None, settings: LazySettings) -> None:
    deep(client)
    assert not Worker.objects.exists()
    assert [path for path in settings.FILES_DIR.rglob("*") if path.is_file()] == []


def test_many_questions_cost_one_look(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    look = health._read_health
    monkeypatch.setattr(health, "_read_health", lambda: looks.append(1) or look())  # type: ignore[func-returns-value]
    for _ in range(5):
        client.get("/healthz/deep")
    assert len(looks) == 1


# --- workers that take no messages ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "is_held", "length", "asks"),
    [(61, False, 0, True), (40, False, 0, False), (61, True, 0, False), (61, False, None, False)],
    ids=["nobody takes it", "it has just come", "somebody has it", "the broker is away"],
)
def test_a_worker_asks_for_its_restart_where_a_file_waits_and_nobody_takes_it(
    seconds: int,
    is_held: bool,
    length: int | None,
    asks: bool,
    pets: Competition,
    bo: User,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(child_processes.HEARTBEAT_FOLDER, str(tmp_path))
    monkeypatch.setenv(child_processes.PART_VARIABLE, "worker")
    monkeypatch.setattr(worker, "queue_length", lambda: length)
    enter(pets, bo)
    waiting(pets, bo, seconds=seconds)
    if is_held:
        Submission.objects.update(claim=uuid.uuid4(), lease_until=timezone.now() + timedelta(seconds=20))
    worker.restart_deaf_worker()
    heartbeats = Heartbeats(tmp_path, "worker")
    heartbeats.look(0, os.getsid(0))
    assert heartbeats.silence(0) == ("files wait and no worker has any in hand" if asks else "")


def test_workers_that_were_silent_for_an_hour_are_forgotten(db: None) -> None:
    Worker.objects.create(host="old", process=1, version="1", last_seen_at=timezone.now() - timedelta(hours=2))
    queue_health.report_worker()
    assert "old" not in [worker.host for worker in Worker.objects.all()]
    assert Worker.objects.count() == 1


# --- /readyz ----------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_web_server_is_ready_when_all_that_it_stands_on_answers(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = client.get("/readyz")
    assert (response.status_code, response.json()["ready"]) == (200, True)
    for name, broken in (("queue_length", lambda: None), ("can_write", lambda: False)):
        with monkeypatch.context() as patched:
            patched.setattr(health, name, broken)
            assert client.get("/readyz").status_code == 503
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_a_web_server_is_not_ready_before_the_database_has_what_its_code_needs(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_is_migrated", [])
    with monkeypatch.context() as patched:
        patched.setattr(MigrationRecorder, "applied_migrations", lambda self: {})
        response = client.get("/readyz")
    assert response.status_code == 503
    assert not response.json()["migrations"]
    assert client.get("/readyz").json()["migrations"]
