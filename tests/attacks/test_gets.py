"""Looking at a page changes nothing: no row, no message to a worker, no process, whoever looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from celery.app.base import Celery
from django.db import connection, transaction
from django.test import Client

from bench import term
from bench.pages import Readers, forget
from leaderboard.accounts.models import User
from leaderboard.competitions import wake_ups
from leaderboard.operations import demo
from leaderboard.scoring import table_jobs

from .scene import ROLES, Scene, addresses, ask, filled

pytestmark = pytest.mark.thorough

WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")
ALLOWED = {
    # At most once an hour for each token: its owner sees whether somebody else has it.
    "api/v1/": 'UPDATE "accounts_apitoken" SET "last_used_at"',
    # django-allauth's page makes the row of an address that has none, once for each account.
    "accounts/email/": 'INSERT INTO "account_emailaddress"',
}
"""Beginnings of addresses with the beginning of the one statement that they may send."""


@contextmanager
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is written, sent and started within the block."""
    done, really = list[str](), table_jobs.run_page_job

    def execute(run: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if sql.lstrip(" (").upper().startswith(WRITES):
            done.append(sql[:120])
        return run(sql, params, many, context)

    def run_page_job(job: str, **arguments: Any) -> Any:
        done.append(f"process {job}")
        return really(job, **arguments)

    with monkeypatch.context() as patch, connection.execute_wrapper(execute):
        patch.setattr(Celery, "send_task", lambda app, name, *_, **__: done.append(f"message {name}"))
        patch.setattr(wake_ups, "wake_workers", lambda task, *_, **__: done.append(f"message {task}"))
        patch.setattr(table_jobs, "run_page_job", run_page_job)
        yield done


def is_allowed(path: str, what: str) -> bool:
    return any(path.lstrip("/").startswith(begin) and what.startswith(sql) for begin, sql in ALLOWED.items())


@pytest.mark.parametrize("role", [*ROLES, "olga"])
def test_looking_at_any_address_writes_sends_and_starts_nothing(
    scene: Scene, olga: User, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.clients["olga"], scene.tokens["olga"] = Client(), "none"
    scene.clients["olga"].force_login(olga)
    found = []
    for address in addresses():
        savepoint = transaction.savepoint()
        with noted(monkeypatch) as done:
            ask(scene, role, "GET", filled(address.route, scene.arguments)).getvalue()
        transaction.savepoint_rollback(savepoint)
        found += [(address.route, what) for what in done if not is_allowed(address.route, what)]
    assert found == []


@pytest.mark.django_db
def test_looking_at_any_page_in_any_state_of_a_term_writes_sends_and_starts_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also the first look after a change, and whatever is asked of a page."""
    read, found, looked_at = Readers(), [], 0
    for page in term.asked(term.pages(term.fill())):
        client = read(page.who)
        forget()
        with noted(monkeypatch) as done:
            client.get(page.path).getvalue()
        looked_at += 1
        found += [(page.path, what) for what in done if not is_allowed(page.path, what)]
    assert looked_at > 200
    assert found == []


@pytest.mark.django_db
def test_looking_at_the_demo_writes_sends_and_starts_nothing(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], int]
) -> None:
    demo.make_demo_competition(demo.LIVE, teams=4)
    work()
    with noted(monkeypatch) as done:
        for path in ("/", "/c/bike-rides/", "/c/bike-rides/leaderboard/", "/c/bike-rides/projector/"):
            assert Client().get(path).status_code in (200, 302, 403, 404), path
    assert done == []


def test_what_a_page_writes_sends_and_starts_is_noticed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    with noted(monkeypatch) as done:
        ask(scene, "bo", "POST", filled("notifications/<int:number>/", scene.arguments), {})
        wake_ups.wake_workers(wake_ups.SWEEP)
    assert [what.split('"')[1] if '"' in what else what for what in done] == [
        "notifications_notice",
        "message leaderboard.competitions.tasks.sweep",
    ]
