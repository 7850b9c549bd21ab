"""Forged, redirected and misdirected requests; names of hosts; guessed paths; words that look like SQL."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.common import storage
from leaderboard.competitions.models import Competition, GroundTruth
from tests.conftest import make_competition
from tests.inputs.doors import body_of, part, post_bytes, stored_files
from tests.pages import signed_in

from .scene import Scene, addresses, ask, filled

pytestmark = pytest.mark.thorough

ELSEWHERE = [
    "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https:evil.example",
    "https://evil.example", "http:///evil.example", "/\t/evil.example", "\t//evil.example", "/%0d//evil.example",
    "/\r\nLocation: https://evil.example", " //evil.example", "javascript:alert(1)", "https://testserver@evil.example",
    "https://testserver.evil.example", "//evil.example/%2f..", "data:text/html,x", "/\x00/evil.example",
    "https://[", "//[",
]  # fmt: skip


# --- forged -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [pytest.param("bo", marks=pytest.mark.long), "ada"])
@pytest.mark.attack("forged forms, sessions used as API keys")
def test_nothing_is_changed_by_a_form_from_elsewhere(scene: Scene, role: str) -> None:
    """Every address refuses a POST without the token of its form; programs send theirs in a header instead. A mail
    program has a signed link, and a learning platform a signed launch: without the right one there is nothing."""
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = scene.clients[role].cookies
    let_through = []
    for address in addresses():
        savepoint = transaction.savepoint()
        path = filled(address.route, {**scene.arguments, "stop/token": "of somebody else"})
        response = strict.post(path, {"action": "x", "accepted": "on"})
        transaction.savepoint_rollback(savepoint)
        wanted = 403 if not address.route.startswith("api/") else None
        if address.name == "stop_mail":
            wanted = 404
        if address.name in ("lti_login", "lti_launch"):
            wanted = 400
        if wanted and response.status_code not in (wanted, 405):
            let_through.append((address.route, response.status_code))
        if not wanted and response.status_code < 400 and address.name != "openapi":  # one text, whoever asks how
            let_through.append((address.route, response.status_code))
    assert let_through == []


@pytest.mark.parametrize(
    "path", ["/accounts/login/", "/c/pets/submit/", "/join/", "/api/v1/competitions/pets/submissions"]
)
@pytest.mark.attack("files sent by people without an account, to fill the disk")
def test_what_strangers_send_as_files_fills_no_disk(pets: Competition, path: str) -> None:
    """Of a made-up session or token no body is taken that is larger than a form."""
    body = body_of(part("file", b"x" * 3_000_000, '; filename="a.csv"'), part("login", b"bo"))
    made_up = {"Cookie": f"sessionid={'x' * 32}; csrftoken={'x' * 32}", "X-CSRFToken": "x" * 32}
    for headers in ({}, made_up, {"Authorization": "Bearer lb_forged"}):
        answer = post_bytes(path, body, headers)
        assert answer.status_code == (401 if path.startswith("/api/") else 413)
    assert not stored_files()


def test_who_was_signed_out_meanwhile_is_asked_to_sign_in(pets: Competition) -> None:
    """Without a word about the file, of which nothing was stored."""
    answer = Client().post("/c/pets/submit/", {"file": SimpleUploadedFile("a.csv", b"x" * 3_000_000)})
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/c/pets/submit/")


# --- led elsewhere ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ELSEWHERE)
@pytest.mark.attack("links of ours that lead elsewhere")
def test_no_link_of_ours_leads_elsewhere(bo: User, target: str) -> None:
    answers = [Client().get("/theme/", {"to": "dark", "next": target})]
    given = {"login": "bo", "password": "correct horse", "next": target}
    answers.append(Client().post("/accounts/login/", given))
    client = signed_in(bo)
    answers.append(client.get("/accounts/login/", {"next": target}))
    answers.append(client.get("/accounts/signup/", {"next": target}))
    answers.append(client.post("/accounts/logout/", {"next": target}))
    for answer in answers:
        assert re.fullmatch(r"/(?![/\\])[^\s\\]*", answer["Location"]), answer["Location"]


def test_the_way_back_is_on_this_site(bo: User) -> None:
    """The test above would also pass if nobody were led anywhere."""
    given = {"login": "bo", "password": "correct horse", "next": "/metrics/"}
    assert Client().post("/accounts/login/", given)["Location"] == "/metrics/"


# --- called by another name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", "testserver:80@evil.example", "", "a b"])
@pytest.mark.attack("forged host names, poisoned reset links")
def test_another_host_name_is_not_answered(db: None, host: str) -> None:
    assert Client().get("/", headers={"Host": host}).status_code == 400


@pytest.mark.attack("forged host names, poisoned reset links")
def test_links_in_e_mails_have_the_sites_own_address(bo: User, settings: LazySettings) -> None:
    settings.SITE_URL = "https://leaderboard.example.org"
    forged = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example", "Host": "localhost"}
    Client().post("/accounts/password/reset/", {"email": "bo@example.org"}, headers=forged)
    body = str(mail.outbox[0].body)
    assert re.findall(r"https?://\S+?/", body)[0] == "https://leaderboard.example.org/"
    assert "evil" not in str(mail.outbox[0].message())
    assert "https://leaderboard.example.org/accounts/password/reset/key/" in body


# --- guessed ------------------------------------------------------------------------------------------------------


@pytest.mark.attack("the truth file by a guessed path")
def test_no_path_leads_to_the_truth(scene: Scene) -> None:
    key = GroundTruth.objects.get(competition=scene.competition).file_key
    assert storage.path_of(key).exists()
    guesses = [
        f"/{key}", f"/files/{key}", f"/media/{key}", f"/static/{key}", f"/static/../files/{key}", f"/var/files/{key}",
        f"/static/%2e%2e/%2e%2e/{key}", f"/c/secret/data/files/..%2f..%2f{key}", f"/c/secret/data/files/{key}",
        "/c/secret/data/files/truth.csv", "/static/../leaderboard/settings.py", "/static/%2e%2e/settings.py",
        "/metrics/download/..%2f..%2fmanage.py", "/host/secret/truth/1/file/", "/var/secret_key", "/.git/config",
    ]  # fmt: skip
    for path in guesses:
        response = ask(scene, "bo", "GET", path)
        assert response.status_code in (302, 404), path
        assert b"truthcanary" not in response.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        "'",
        "' OR 1=1 --",
        "1; DROP TABLE accounts_user",
        '") UNION SELECT password FROM accounts_user --',
        "%",
        "\\",
    ],
)
@pytest.mark.attack("SQL in parameters")
def test_words_that_look_like_sql_are_words(ada: User, words: str) -> None:
    make_competition(ada, is_listed=True)
    for query in ("q", "ordering", "sort", "page", "tab", "score__private__gt", "competition", "board"):
        for path in ("/", "/metrics/", "/c/pets/leaderboard/", "/c/pets/leaderboard.csv", "/join/"):
            response = Client().get(path, {query: words})
            assert response.status_code < 500, (path, query)
            assert b"argon2" not in response.getvalue()
    assert Client().post("/accounts/login/", {"login": words, "password": words}).status_code == 200
    assert Competition.objects.count() == 1


@pytest.mark.attack("ordering and filters by private fields")
def test_what_order_a_reader_asks_for_does_not_matter(scene: Scene) -> None:
    def rows(query: str) -> Any:
        page = ask(scene, "bo", "GET", f"/c/secret/leaderboard.csv{query}")
        return page.getvalue()

    assert {rows(f"?ordering={field}&sort={field}") for field in ("score__private", "-private", "x")} == {rows("")}


# --- headers ------------------------------------------------------------------------------------------------------


def test_every_page_carries_its_headers(scene: Scene) -> None:
    for path in ("/", "/c/secret/", "/accounts/login/", "/api/v1/openapi.json", "/nope/"):
        headers = ask(scene, "bo", "GET", path).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["X-Frame-Options"] == "DENY"
        assert "Cross-Origin-Opener-Policy" not in headers, "over plain http browsers complain of it"
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert "camera=()" in headers["Permissions-Policy"]


@pytest.mark.attack("uploads that a browser shows")
def test_files_are_downloads_that_may_do_nothing(scene: Scene) -> None:
    path = f"/c/secret/submissions/{scene.submission.pk}/file/"
    response = ask(scene, "bo", "GET", path)
    response.getvalue()
    assert response["Content-Disposition"].startswith("attachment")
    assert "sandbox" in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.attack("pages of one person served to another by a cache")
def test_pages_of_signed_in_people_are_kept_by_nobody_on_the_way(scene: Scene) -> None:
    for path in ("/c/secret/leaderboard/", "/c/secret/submissions/", "/account/", "/teams/"):
        rule = ask(scene, "bo", "GET", path)["Cache-Control"]
        assert rule in ("private, no-store", "private, no-cache"), path  # a board is asked for again by its ETag
