"""A program's form that takes long is answered by a worker: 202 with where to ask, then the answer."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions import page_tasks, wake_ups
from leaderboard.competitions.models import Competition, PageTask, TruthDraft
from tests.api.conftest import Program
from tests.conftest import TRUTH

TRUTHS = "competitions/pets/truth"


@pytest.fixture(autouse=True)
def worker_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: False)


@pytest.fixture
def adas(pets: Competition, ada: User) -> Program:
    return Program(ada, ApiToken.Scope.HOST)


def address(answer: dict[str, str]) -> str:
    return answer["task"].removeprefix("/api/v1/")


def test_ada_asks_until_her_answers_are_checked(adas: Program) -> None:
    status, told = adas.post(TRUTHS, TRUTH.encode())
    assert (status, told["status"]) == (202, "waiting")
    assert adas.get(address(told)) == (202, told)
    assert page_tasks.answer_next_task("a worker")
    status, report = adas.get(address(told))
    assert (status, report["is_good"]) == (200, True)
    assert TruthDraft.objects.get().file_name == "mine.csv"


def test_what_was_refused_is_answered_as_it_would_have_been_at_once(adas: Program) -> None:
    _, told = adas.post(TRUTHS, TRUTH.encode(), metric="nonsense")
    assert page_tasks.answer_next_task("a worker")
    status, refused = adas.get(address(told))
    assert (status, refused["errors"][0]["code"]) == (422, "metric")


def test_a_third_form_is_told_to_wait(adas: Program) -> None:
    for seed in ("1", "2"):
        assert adas.post(TRUTHS, TRUTH.encode(), seed=seed)[0] == 202
    status, refused = adas.post(TRUTHS, TRUTH.encode(), seed="3")
    assert (status, refused["errors"][0]["code"]) == (429, "busy")
    assert PageTask.objects.count() == 2


def test_a_token_that_was_revoked_meanwhile_does_nothing(adas: Program, ada: User) -> None:
    _, told = adas.post(TRUTHS, TRUTH.encode())
    ApiToken.objects.filter(user=ada).delete()
    assert page_tasks.answer_next_task("a worker")
    assert Program(ada).get(address(told))[0] == 401
    assert not TruthDraft.objects.exists()


def test_nobody_else_asks_for_it(adas: Program, bo: User) -> None:
    _, told = adas.post(TRUTHS, TRUTH.encode())
    assert Program(bo).get(address(told))[0] == 404
    assert Program(None).get(address(told))[0] == 401
