"""Curves for Olga: facts from the database, counts from each process, and nothing for anybody without the token."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.accounts.models import User
from leaderboard.common import prometheus_counters
from leaderboard.competitions import duties, tasks
from leaderboard.competitions.models import Competition, Submission, Worker
from leaderboard.competitions.scoring import queue
from leaderboard.competitions.services import submit_conditions, submitting
from leaderboard.operations import prometheus
from leaderboard.operations.models import ConsistencyRun
from tests.conftest import answers, claim, enter, hand_in

TOKEN = "a-token-for-tests-4711"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> None:
    settings.PROMETHEUS_TOKEN = TOKEN
    prometheus_counters.reset_counters()
    monkeypatch.setattr(prometheus, "queue_length", lambda: 3)


def scrape(client: Client) -> Samples:
    """Every sample by name and labels, as Prometheus reads them."""
    response = client.get("/prometheus", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=")
    assert response["Cache-Control"] == "no-store"
    families = text_string_to_metric_families(response.content.decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def value(samples: Samples, name: str, **labels: str) -> float:
    """The sum of all samples of this name that have these labels."""
    found = [number for (own, of), number in samples.items() if own == name and labels.items() <= dict(of).items()]
    assert found, (name, labels)
    return sum(found)


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Authorization": "Bearer "}]
)
def test_without_the_token_there_is_no_such_page(client: Client, db: None, headers: dict[str, str]) -> None:
    assert client.get("/prometheus", headers=headers).status_code == 404
    assert client.get(f"/prometheus?token={TOKEN}", headers=headers).status_code == 404


def test_a_site_without_a_token_has_no_such_page(client: Client, olga: User, settings: LazySettings) -> None:
    settings.PROMETHEUS_TOKEN = ""
    client.force_login(olga)
    for given in ("Bearer ", "Bearer", "", f"Bearer {TOKEN}"):
        assert client.get("/prometheus", headers={"Authorization": given}).status_code == 404


def test_facts_are_those_of_the_database(client: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    hand_in(pets, bo, answers())
    hand_in(pets, bo, b"id,label\n1,cat\n")
    waiting = submitting.submit_file(competition=pets, user=bo, file_name="w.csv", chunks=[answers()])
    Submission.objects.filter(pk=waiting.pk).update(received_at=timezone.now() - timedelta(seconds=90))
    assert claim(waiting.pk)
    queue.report_worker()
    assert list(duties.begin_due_tasks())
    samples = scrape(client)
    for status, number in {"scored": 1, "invalid": 1, "pending": 1, "failed": 0}.items():
        assert value(samples, "leaderboard_submissions", status=status) == number
    assert 89 < value(samples, "leaderboard_oldest_pending_seconds") < 95
    assert value(samples, "leaderboard_leases") == 1
    assert value(samples, "leaderboard_workers") == 1
    assert value(samples, "leaderboard_last_sweep_seconds") < 5
    assert value(samples, "leaderboard_broker_up") == 1
    assert value(samples, "leaderboard_broker_messages") == 3
    assert value(samples, "leaderboard_attempts_today") == 2
    assert value(samples, "leaderboard_disk_free_bytes") > 1


def test_where_nothing_waits_and_nothing_answers_numbers_are_still_there(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus, "queue_length", lambda: None)
    samples = scrape(client)
    assert value(samples, "leaderboard_oldest_pending_seconds") == 0
    assert value(samples, "leaderboard_workers") == 0
    assert value(samples, "leaderboard_broker_up") == 0
    assert ("leaderboard_broker_messages", ()) not in samples
    assert ("leaderboard_last_sweep_seconds", ()) not in samples


def test_broken_checks_are_told_by_number(client: Client, db: None) -> None:
    report = {"promises": [{"number": 1, "broken": 0}, {"number": 7, "broken": 2}]}
    ConsistencyRun.objects.create(
        began_at=timezone.now() - timedelta(hours=5), seconds=1, is_consistent=False, report=report
    )
    samples = scrape(client)
    assert value(samples, "leaderboard_promises_broken", promise="7") == 2
    assert value(samples, "leaderboard_promises_broken", promise="1") == 0
    assert value(samples, "leaderboard_promises_checked_seconds") == pytest.approx(5 * 3600, abs=60)


def test_requests_are_counted_and_timed_by_page(client: Client, pets: Competition) -> None:
    for _ in range(3):
        client.get("/metrics/")
    client.get("/c/nothing/")
    samples = scrape(client)
    assert value(samples, "leaderboard_requests_total", view="metrics", status="200") == 3
    assert value(samples, "leaderboard_requests_total", view="overview", status="404") == 1
    assert value(samples, "leaderboard_request_seconds_count", view="metrics") == 3
    assert value(samples, "leaderboard_request_seconds_bucket", view="metrics", le="+Inf") == 3
    buckets = [
        n for (name, of), n in samples.items() if name.endswith("request_seconds_bucket") and ("view", "metrics") in of
    ]
    assert buckets == sorted(buckets), "buckets add up"
    assert value(samples, "leaderboard_request_seconds_sum", view="metrics") > 0


def test_refused_uploads_are_counted_by_their_code(
    client: Client, pets: Competition, bo: User, settings: LazySettings
) -> None:
    with pytest.raises(submit_conditions.SubmissionRefused):
        submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    samples = scrape(client)
    assert value(samples, "leaderboard_refused_uploads_total", code="not_joined") == 1


def test_what_workers_did_is_told_by_each_of_them(
    client: Client, pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes on two machines; the row of each travels through the database as JSON."""
    enter(pets, bo)
    for number, host in enumerate(("one", "two"), start=1):
        prometheus_counters.reset_counters()
        monkeypatch.setattr("socket.gethostname", lambda host=host: host)
        for _ in range(number):
            submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
            tasks.score_submission("", 1)
        queue.report_worker()
    prometheus_counters.reset_counters()
    samples = scrape(client)
    assert value(samples, "leaderboard_scoring_seconds_count", host="one", status="scored") == 1
    assert value(samples, "leaderboard_scoring_seconds_count", host="two", status="scored") == 2
    assert value(samples, "leaderboard_scoring_seconds_bucket", host="two", le="120.0") == 2
    assert 0 < value(samples, "leaderboard_scoring_seconds_sum", part="worker") < 60


def test_a_wake_up_that_the_broker_did_not_take_is_counted(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise ConnectionRefusedError

    monkeypatch.undo()
    monkeypatch.setattr(prometheus, "queue_length", lambda: 3)
    monkeypatch.setattr("django.conf.settings.PROMETHEUS_TOKEN", TOKEN)
    monkeypatch.setattr(tasks.sweep, "apply_async", refused)
    tasks.wake_workers(tasks.sweep)
    monkeypatch.setattr(tasks.sweep, "apply_async", lambda **_: None)
    tasks.wake_workers(tasks.sweep)
    samples = scrape(client)
    assert value(samples, "leaderboard_bells_total", taken="no") == 1
    assert value(samples, "leaderboard_bells_total", taken="yes") == 1


def test_names_of_people_files_and_competitions_are_in_no_number(client: Client, pets: Competition, bo: User) -> None:
    """Labels are words of ours: an unknown address adds none, so nobody fills the memory of Prometheus."""
    enter(pets, bo)
    hand_in(pets, bo, answers(), file_name="canary.csv")
    for n in range(20):
        client.get(f"/nowhere/{n}/canary")
    text = client.get("/prometheus", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
    assert "canary" not in text
    assert "pets" not in text
    assert text.count("leaderboard_requests_total{") == 1


def test_workers_of_other_versions_break_no_scrape(client: Client, db: None) -> None:
    newer = {"labels": {"status": "scored", "new": "x"}, "value": 2, "newer": 1}
    counts = [{**newer, "name": "leaderboard_scoring_seconds_sum"}, {**newer, "name": "leaderboard_new_total"}]
    Worker.objects.create(host="x", process=1, version="2", last_seen_at=timezone.now(), counts=counts)
    samples = scrape(client)
    assert value(samples, "leaderboard_workers") == 1
    assert value(samples, "leaderboard_worker_versions", version="2") == 1


def test_a_scrape_costs_a_handful_of_queries_however_many_files_there_are(
    client: Client, pets: Competition, bo: User, django_assert_max_num_queries: Any
) -> None:
    enter(pets, bo)
    for _ in range(3):
        hand_in(pets, bo, answers())
    Worker.objects.create(host="x", process=1, version="1", last_seen_at=timezone.now(), counts=json.loads("[]"))
    with django_assert_max_num_queries(20):
        scrape(client)
