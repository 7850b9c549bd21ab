"""Three numbers for Olga's curves, and nothing for anybody without the token."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Submission
from leaderboard.submissions import submitting
from tests.conftest import answers, enter, submit

TOKEN = "a-token-for-tests-4711"


@pytest.fixture(autouse=True)
def has_token(settings: LazySettings) -> None:
    settings.PROMETHEUS_TOKEN = TOKEN


def scrape(client: Client) -> dict[str, float]:
    """Every number by name, each with its type and a word about it before it."""
    response = client.get("/prometheus", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=")
    assert response["Cache-Control"] == "no-store"
    sample = r"# HELP (\w+) .+\n# TYPE \1 gauge\n\1 ([\d.]+)\n"
    text = response.content.decode()
    assert re.sub(sample, "", text) == ""
    return {name: float(number) for name, number in re.findall(sample, text)}


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


def test_the_numbers_are_those_of_the_database(client: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    submit(pets, bo, b"id,label\n1,cat\n")
    waiting = submitting.submit_file(competition=pets, user=bo, file_name="w.csv", chunks=[answers()])
    Submission.objects.filter(pk=waiting.pk).update(received_at=timezone.now() - timedelta(seconds=90))
    numbers = scrape(client)
    assert numbers["leaderboard_pending_submissions"] == 1
    assert numbers["leaderboard_scored_submissions"] == 1
    assert 89 < numbers["leaderboard_oldest_pending_seconds"] < 95


def test_where_nothing_waits_the_numbers_are_still_there(client: Client, db: None) -> None:
    assert scrape(client) == {
        "leaderboard_pending_submissions": 0,
        "leaderboard_oldest_pending_seconds": 0,
        "leaderboard_scored_submissions": 0,
    }
