"""The two doors for files: the form of the Submit page, and the API. Both are asked the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.accounts.models import ApiToken, User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import DailyAttempts, Submission
from tests.conftest import answers
from tests.event_loop import HANG_UP, Reply, send_request

BOUNDARY = "----leaderboard-inputs"
HANGS_UP = "(hangs up)"
"""Instead of a header: the client closes the connection behind the body."""


@dataclass(frozen=True)
class Answer:
    """What a door said: its status, its words, the submission if there is one, and the headers."""

    status: int
    words: str
    submission: Submission | None
    headers: Mapping[str, str]


class Door:
    """One way for a person to hand in a file for `slug`. `view` is the module that takes it."""

    view = ""

    def __init__(self, user: User, slug: str = "pets") -> None:
        self.user, self.slug, self.client = user, slug, Client()
        self.sign_in()

    def sign_in(self) -> None:
        raise NotImplementedError

    def send(self, data: bytes, name: str = "mine.csv", key: str = "", **form: Any) -> Answer:
        return self.post({"file": SimpleUploadedFile(name, data, "text/csv"), **form}, key)

    def post(self, form: dict[str, Any], key: str = "") -> Answer:
        """Send a form as a client makes it."""
        raise NotImplementedError

    def post_raw(self, body: bytes, headers: Mapping[str, str] = {}) -> Answer:
        """Send the bytes of a form as they are, through the web server's event loop."""
        raise NotImplementedError

    def said_to_user(self, submission: Submission) -> str:
        """All that the person reads about a file of theirs."""
        raise NotImplementedError


class Form(Door):
    """The page, without JavaScript."""

    view = "leaderboard.submissions.views.submit"

    def sign_in(self) -> None:
        self.client.force_login(self.user)

    @property
    def address(self) -> str:
        return f"/c/{self.slug}/submit/"

    def post(self, form: dict[str, Any], key: str = "") -> Answer:
        return self._answer(self.client.post(self.address, {**form, "upload_key": key}))

    def post_raw(self, body: bytes, headers: Mapping[str, str] = {}) -> Answer:
        cookies = {name: morsel.value for name, morsel in self.client.cookies.items()} | {"csrftoken": "x" * 32}
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()), "X-CSRFToken": "x" * 32}
        return self._answer(post_bytes(self.address, body, {**sent, **headers}))

    def _answer(self, response: Any) -> Answer:
        where = parse_qs(urlsplit(response.get("Location", "")).query).get("submission")
        found = Submission.objects.filter(pk=where[0]).first() if where else None
        return Answer(response.status_code, response.content.decode(), found, response.headers)

    def said_to_user(self, submission: Submission) -> str:
        page: str = self.client.get(f"/c/{self.slug}/submissions/{submission.pk}/").content.decode()
        return page


class Api(Door):
    """A program with the person's token."""

    view = "leaderboard.site.api.student"

    def sign_in(self) -> None:
        self.headers = {"Authorization": f"Bearer {ApiToken.issue(self.user, 'laptop')[1]}"}

    @property
    def address(self) -> str:
        return f"/api/v1/competitions/{self.slug}/submissions"

    def post(self, form: dict[str, Any], key: str = "") -> Answer:
        headers = self.headers | ({"Idempotency-Key": key} if key else {})
        return self._answer(self.client.post(self.address, form, headers=headers))

    def post_raw(self, body: bytes, headers: Mapping[str, str] = {}) -> Answer:
        return self._answer(post_bytes(self.address, body, {**self.headers, **headers}))

    def _answer(self, response: Any) -> Answer:
        output = json.loads(response.content or b"{}")
        found = Submission.objects.filter(pk=output["id"]).first() if "id" in output else None
        return Answer(response.status_code, json.dumps(output, ensure_ascii=False), found, response.headers)

    def said_to_user(self, submission: Submission) -> str:
        response = self.client.get(f"/api/v1/submissions/{submission.pk}", headers=self.headers)
        return json.dumps(json.loads(response.content), ensure_ascii=False)


def post_bytes(address: str, body: bytes, headers: Mapping[str, str]) -> Reply:
    """Send a form in pieces; a header whose value is empty is left out, and a shorter length cuts the body."""
    hangs_up = HANGS_UP in headers
    headers = {name: value for name, value in headers.items() if name != HANGS_UP}
    usual = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Content-Length": str(len(body))}
    given = {name: value for name, value in {**usual, **headers}.items() if value}
    if (length := given.get("Content-Length", "")).isdigit():
        body = body[: int(length)]
    pieces: list[object] = [body[at : at + 65_536] for at in range(0, len(body), 65_536)]
    pieces += [HANG_UP] * hangs_up
    return send_request("POST", address, given, pieces)


DOORS: dict[str, type[Door]] = {"form": Form, "api": Api}


def another(number: int) -> bytes:
    """A good file with other bytes for each number up to 48: the same bytes again would only raise a question."""
    return answers(public=number % 7, private=number // 7)


def part(name: str, data: bytes, disposition: str = "") -> bytes:
    """One part of a form; `disposition` is what stands behind its name."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{disposition}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def body_of(*parts: bytes) -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def attempts_used(user: User) -> int:
    return sum(DailyAttempts.objects.filter(team__memberships__user=user).values_list("used", flat=True))


def stored_files() -> list[str]:
    """Submissions on the disk, and what lies about of unfinished ones."""
    folders = ("submissions", "checks")
    return [str(one) for folder in folders for one in path_of(folder).rglob("*") if one.is_file()]


def nothing_happened(user: User) -> bool:
    """No row, no file, no attempt."""
    return not Submission.objects.exists() and not stored_files() and not attempts_used(user)
