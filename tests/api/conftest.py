"""A program with a person's token."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions.models import Competition, Submission
from tests.conftest import answers, enter, person, submit

ROOT = "/api/v1/"


class Program:
    """Speaks to the API with somebody's token, or with none."""

    def __init__(self, user: User | None, scope: str = ApiToken.Scope.SUBMIT) -> None:
        self.client = Client()
        self.headers = {"Authorization": f"Bearer {ApiToken.issue(user, 'laptop', scope)[1]}"} if user else {}

    def get(self, path: str, **query: Any) -> tuple[int, Any]:
        response = self.client.get(ROOT + path, query, headers=self.headers)
        return response.status_code, json.loads(response.content)

    def post(
        self, path: str, data: bytes | None = None, *, name: str = "mine.csv", key: str = "", **form: Any
    ) -> tuple[int, Any]:
        if data is not None:
            form["file"] = SimpleUploadedFile(name, data)
        headers = self.headers | ({"Idempotency-Key": key} if key else {})
        response = self.client.post(ROOT + path, form, headers=headers)
        return response.status_code, json.loads(response.content)

    def submit(self, data: bytes, slug: str = "pets", **more: Any) -> tuple[int, Any]:
        return self.post(f"competitions/{slug}/submissions", data, **more)


@pytest.fixture
def bos(pets: Competition, bo: User) -> Submission:
    """Bo's scored file: one public answer wrong, two private ones."""
    enter(pets, bo)
    return submit(pets, bo, answers(public=1, private=2), note="first")


@pytest.fixture
def mate(pets: Competition, bo: User, bos: Submission) -> User:
    """Max, in Bo's team."""
    from leaderboard.classroom import joining

    user = person("max")
    assert bos.team is not None
    joining.accept_rules(membership=joining.join_by_invitation(user=user, invitation=bos.team.invitation))
    return user


@pytest.fixture
def otto(db: None) -> User:
    """Hosts elsewhere."""
    return person("otto", can_host=True)


@pytest.fixture
def programs(
    pets: Competition, ada: User, bo: User, cy: User, dee: User, mate: User, otto: User, olga: User
) -> dict[str, Program]:
    enter(pets, cy)
    people: dict[str, User | None] = {
        "nobody": None,
        "ada": ada,
        "bo": bo,
        "cy": cy,
        "dee": dee,
        "mate": mate,
        "otto": otto,
        "olga": olga,
    }
    return {name: Program(user) for name, user in people.items()}
