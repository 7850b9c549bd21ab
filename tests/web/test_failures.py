"""Error pages wear the frame, with a request id and what to do next."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from leaderboard.models import Competition, User
from leaderboard.web.visitors import boards
from tests.conftest import make_competition


def test_a_missing_page_carries_its_request_id(client: Client, db: None) -> None:
    response = client.get("/nope/")
    assert response.status_code == 404
    assert re.fullmatch("[0-9a-f]{12}", response["X-Request-ID"])
    assert response["X-Request-ID"] in response.content.decode()
    assert "All competitions" in response.content.decode()


def test_a_refusal_says_why(client: Client, bo: User) -> None:
    client.force_login(bo)
    response = client.get("/host/")
    assert response.status_code == 403
    assert "Ask the operator" in response.content.decode()


def test_a_form_without_its_token_is_refused_in_the_frame(bo: User) -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "bo"})
    assert response.status_code == 403
    assert "Request id" in response.content.decode()


def test_a_bug_of_ours_gives_a_page_and_no_traceback(
    pets: Competition, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise RuntimeError("canary 123456789")

    monkeypatch.setattr(boards, "_page", broken)
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    response = client.get("/c/pets/leaderboard/")
    assert response.status_code == 500
    text = response.content.decode()
    assert response["X-Request-ID"] in text
    assert "canary" not in text
    assert "Sign in" not in text


def test_nul_characters_in_an_address_mean_nothing(client: Client, ada: User) -> None:
    make_competition(ada, is_listed=True)
    for query in ("%00", "cats%00", "%%0000cats"):
        assert "Cats or dogs" in client.get(f"/?q={query}").content.decode()
    client.force_login(ada)
    assert client.get("/join/AB%00CD/").status_code == 404
    assert client.get("/c/pets/data/files/a%00.csv").status_code == 404
