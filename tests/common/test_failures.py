"""Error pages wear the frame, with a request id and what to do next."""

from __future__ import annotations

import errno
import re
import time
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client

from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards.views import leaderboard
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions.models import Competition, DailyAttempts, Submission
from leaderboard.submissions import submitting
from tests.conftest import answers, enter, make_competition
from tests.pages import signed_in


def test_a_missing_page_carries_its_request_id(client: Client, db: None) -> None:
    response = client.get("/nope/")
    assert response.status_code == 404
    assert re.fullmatch("[0-9a-f]{12}", response["X-Request-ID"])
    assert response["X-Request-ID"] in response.content.decode()
    assert "All competitions" in response.content.decode()


def test_a_missing_page_offers_the_next_step_that_fits_the_reader(client: Client, bo: User) -> None:
    assert "Sign in" in client.get("/c/nothing/").content.decode()
    client.force_login(bo)
    page = client.get("/c/nothing/").content.decode()
    assert "Join with a code" in page
    assert "Try signing in" not in page


def test_a_refusal_says_why(client: Client, bo: User) -> None:
    client.force_login(bo)
    response = client.get("/host/")
    assert response.status_code == 403
    assert "Ask your administrator" in response.content.decode()


def test_a_form_without_its_token_is_refused_in_the_frame(bo: User) -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "bo"})
    assert response.status_code == 403
    assert "Request ID" in response.content.decode()
    assert "This page has expired" in response.content.decode()
    assert 'href="/accounts/login/">' in response.content.decode()


def test_a_bug_of_ours_gives_a_page_and_no_traceback(
    pets: Competition, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> bytes:
        raise RuntimeError("canary 123456789")

    monkeypatch.setattr(leaderboard, "_board_context", broken)
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    response = client.get("/c/pets/leaderboard/")
    assert response.status_code == 500
    text = response.content.decode()
    assert response["X-Request-ID"] in text
    assert "canary" not in text
    assert "Sign in" not in text


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (StorageUnreachable("the bucket"), 503, "Try again in a minute"),
        (OperationalError("the server closed the connection"), 503, "Try again in a minute"),
        (OSError(errno.ENOSPC, "No space left on device"), 507, "disk is full"),
    ],
)
@pytest.mark.fault(17, 20)
def test_17_20_22_what_the_site_stands_on_is_away_and_nothing_is_taken(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
) -> None:
    """On the website and through the API alike: no row, no attempt, words; and it works again afterwards."""

    def broken(*_: object, **__: object) -> None:
        raise error

    enter(pets, bo)
    client = signed_in(bo)
    token = ApiToken.issue(bo, "test")[1]

    def upload() -> tuple[Any, Any]:
        return (
            client.post("/c/pets/submit/", {"file": SimpleUploadedFile("a.csv", answers())}),
            Client().post(
                "/api/v1/competitions/pets/submissions",
                {"file": SimpleUploadedFile("a.csv", answers())},
                headers={"authorization": f"Bearer {token}"},
            ),
        )

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(submitting, "store_file", broken)
        page, answer = upload()
    assert page.status_code == answer.status_code == status
    assert words in page.content.decode()
    assert page["X-Request-ID"] in page.content.decode()
    assert words in answer.json()["detail"]
    assert not Submission.objects.exists()
    assert not DailyAttempts.objects.filter(used__gt=0).exists()
    page, answer = upload()
    assert (page.status_code, answer.status_code) == (303, 201)


@pytest.mark.attack("an address that takes half a minute to be read")
def test_nul_characters_within_each_other_take_nobodys_time(client: Client, db: None) -> None:
    """Taken out one after the other those of an address of 60 kB took half a minute."""
    begun = time.process_time()
    assert client.get("/theme/?next=/" + "%" * 20_000 + "00" * 20_000).status_code == 302
    assert time.process_time() - begun < 3


def test_nul_characters_in_an_address_mean_nothing(client: Client, ada: User) -> None:
    make_competition(ada, is_listed=True)
    for query in ("%00", "cats%00", "%%0000cats"):
        assert "Cats or dogs" in client.get(f"/?q={query}").content.decode()
    client.force_login(ada)
    assert client.get("/join/AB%00CD/").status_code == 404
    assert client.get("/c/pets/data/files/a%00.csv").status_code == 404
