"""A walk through the whole product with the log as it is written: who, what and how long, and never a secret."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.test import Client
from django.urls import reverse

from leaderboard.accounts.models import ApiToken, SetupLink, User
from leaderboard.boards.views import leaderboard
from leaderboard.classroom import teams
from leaderboard.common import logs
from leaderboard.competitions.models import Competition, Submission
from leaderboard.submissions import submit_conditions, submitting
from leaderboard.submissions import tasks as submission_tasks
from tests.conftest import answers, enter
from tests.pages import signed_in

from .scene import FILE, NOTE, PRIVATE_NUMBERS, TRUTH, Scene, addresses, ask, filled

pytestmark = pytest.mark.thorough


@pytest.fixture(params=["text", "json"])
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Everything, down to what is only told at the level DEBUG by the site, in the form that is written."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.formatter(request.param))
    handler.addFilter(logs.RedactingFilter())
    root, site = logging.getLogger(), logging.getLogger("leaderboard")
    level = site.level
    root.addHandler(handler)
    site.setLevel(logging.DEBUG)
    yield written
    site.setLevel(level)
    root.removeHandler(handler)


@pytest.mark.attack("forged lines and secrets in logs")
def test_no_secret_is_in_the_log_of_a_walk_through_the_product(scene: Scene, log: io.StringIO) -> None:
    bo, competition = User.objects.get(username="bo"), scene.competition
    secrets = {"password": "correct horse", "wrong password": "wrong-horse-4711", "new password": "new-horse-90210"}
    for given in list(secrets.values()):
        Client().post("/accounts/login/", {"login": "bo", "password": given})
    Client().post("/accounts/password/reset/", {"email": "bo@example.org"})
    (letter,) = mail.outbox
    (reset,) = re.findall(r"/accounts/password/reset/key/[\w-]+/", str(letter.body))
    changing = Client()
    form = changing.get(reset, follow=True)
    both = {"password1": secrets["new password"], "password2": secrets["new password"]}
    changing.post(form.redirect_chain[-1][0], both)
    secrets |= {"reset link": reset, "address": "bo@example.org", "mail text": "someone has requested"}
    secrets |= {
        "token": ApiToken.issue(bo, "log")[1],
        "setup link": SetupLink.issue(),
        "join code": competition.admission.join_code,
    }
    secrets["invitation"] = competition.teams.get(name="bo").invitation
    for path in (
        reverse("join_code", args=[secrets["join code"]]),
        reverse("join_code", args=[secrets["join code"]]) + "more",
        reverse("invitation", args=[secrets["invitation"]]),
        reverse("setup", args=[secrets["setup link"]]),
        f"/nowhere/{secrets['join code']}?token={secrets['token']}",
    ):
        for method in ("get", "post"):
            getattr(Client(enforce_csrf_checks=True), method)(path, headers={"User-Agent": "agentcanary"})
    for token in (secrets["token"], secrets["token"] + "x"):
        Client().get("/api/v1/competitions", headers={"Authorization": f"Bearer {token}"})
    for role in ("anonymous", "bo", "ada"):
        for address in addresses():
            if not address.route.startswith("admin/"):
                ask(scene, role, "GET", filled(address.route, scene.arguments)).getvalue()
    secrets |= {f"token of {name}": token for name, token in scene.tokens.items() if name != "anonymous"}
    secrets |= {
        f"{name} of {role}": cookie.value
        for role, client in scene.clients.items()
        for name, cookie in client.cookies.items()
        if len(cookie.value) > 20
    }
    secrets |= {"truth": TRUTH, "file": FILE, "note": NOTE, "user agent": "agentcanary", "key": settings.SECRET_KEY}
    text = log.getvalue()
    assert [name for name, secret in secrets.items() if secret in text] == []
    assert not PRIVATE_NUMBERS.search(text)
    assert len(text.splitlines()) > 150, "a log without lines has no secrets either"


def test_a_request_a_file_and_its_score_can_be_followed(
    pets: Competition, bo: User, log: io.StringIO, django_capture_on_commit_callbacks: Any
) -> None:
    """The request's id is on what the request did; the submission's is on what the worker did."""
    enter(pets, bo)
    client = signed_in(bo)
    upload = io.BytesIO(answers())
    upload.name = "mine.csv"
    response = client.post("/c/pets/submit/", {"file": upload, "note": "", "upload_key": "k" * 32})
    assert response.status_code == 303
    submission = str(Submission.objects.get().pk)
    submission_tasks.score_next_submissions(submission, pets.ground_truth_id)
    for line in log.getvalue().splitlines():
        assert ("mine.csv" in line) is False
    if log.getvalue().startswith("{"):
        lines = [json.loads(line) for line in log.getvalue().splitlines()]
        received = next(line for line in lines if line["event"] == "received")
        answered = next(line for line in lines if line["event"] == "answered")
        scored = next(line for line in lines if line["event"] == "scored")
        assert received["request"] == answered["request"] == response["X-Request-ID"]
        assert received["submission"] == scored["submission"] == submission
        assert (answered["user"], answered["view"], answered["status"]) == (bo.pk, "submit", 303)
        assert answered["ms"] > 0
        assert (scored["competition"], scored["ground_truth"], scored["status"]) == (
            "pets", pets.ground_truth_id, "scored",
        )  # fmt: skip
        assert scored["seconds"] > 0
    else:
        assert re.search(
            rf"info leaderboard\.submissions\.tasks scored competition=pets submission={submission} .*status=scored",
            log.getvalue(),
        )


def test_the_person_behind_a_program_is_told_by_number(pets: Competition, bo: User, log: io.StringIO) -> None:
    token = ApiToken.issue(bo, "log")[1]
    Client().get("/api/v1/competitions", headers={"Authorization": f"Bearer {token}"})
    Client().get("/api/v1/competitions")
    known, unknown = (line for line in log.getvalue().splitlines() if "api_competitions" in line)
    assert re.search(rf'"?user"?[:=] ?{bo.pk}\b', known)
    assert "user" not in unknown


def test_a_refusal_is_told_by_its_code(pets: Competition, bo: User, log: io.StringIO) -> None:
    with pytest.raises(submit_conditions.SubmissionRefused):
        submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    assert "not_joined" in log.getvalue()


@pytest.mark.parametrize("name", ["a\nERROR all is well", "a\x1b[31mb", "a\u2028ERROR b"])
@pytest.mark.attack("forged lines and secrets in logs")
def test_names_of_teams_files_and_browsers_forge_no_line(
    pets: Competition, bo: User, log: io.StringIO, name: str
) -> None:
    membership = enter(pets, bo)
    client = signed_in(bo)
    teams.rename_team(membership=membership, name="Bo")
    client.post(
        "/c/pets/team/", {"action": "rename", "name": name}, headers={"User-Agent": name.encode().decode("latin-1")}
    )
    submission = submitting.submit_file(
        competition=pets, user=bo, file_name=f"{name}.csv", chunks=[answers()], note=name
    )
    submission_tasks.score_next_submissions(str(submission.pk), pets.ground_truth_id)
    client.get(f"/join/{name}/")
    for line in log.getvalue().split("\n")[:-1]:
        assert line.startswith(("{", "20", "    ")), line
        assert line.isprintable()
        assert "all is well" not in line


def test_a_page_that_breaks_tells_where_and_quotes_nothing(
    pets: Competition, ada: User, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> bytes:
        raise ValueError("canary 123456789")

    monkeypatch.setattr(leaderboard, "_board_context", broken)
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    response = client.get("/c/pets/leaderboard/")
    said_to_user = [line for line in log.getvalue().splitlines() if response["X-Request-ID"] in line]
    assert len(said_to_user) == 2, "what broke, and what it came to"
    assert "canary" not in log.getvalue()
    assert "in broken" in log.getvalue()
