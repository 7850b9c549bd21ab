"""The OpenAPI document against the running API: no answer that it does not declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks

from leaderboard.models import ApiToken, Competition, Submission, User
from leaderboard.wsgi import application

EXAMPLES = 12
BOUNDED = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CHECKS: list[Any] = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
OPERATIONS = (
    "list_competitions",
    "read_competition",
    "read_leaderboard",
    "hand_in",
    "list_submissions",
    "read_submission",
    "list_files",
    "download_file",
    "add_file",
    "check_file",
)
QUESTIONS = [name for name in OPERATIONS if name.startswith(("list_", "read_", "download_"))]


@pytest.fixture(autouse=True)
def connection_stays_open() -> Iterator[None]:
    """The application is called without the test client, which would keep the test's own connection open."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def secret(pets: Competition, bo: User, bos: Submission) -> str:
    return ApiToken.issue(bo, "contract")[1]


def hold(operation: Any, mode: GenerationMode, secret: str, fixed: dict[str, str] | None = None) -> None:
    """Send generated requests and check every answer against the document."""

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if fixed:
            case.path_parameters = fixed
        response = case.call(headers={"Authorization": f"Bearer {secret}"})
        assert response.status_code < 500
        case.validate_response(response, checks=CHECKS)

    check()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_answer_is_undeclared(name: str, mode: GenerationMode, secret: str, bos: Submission) -> None:
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)
    operation = schema.find_operation_by_id(name)
    hold(operation, mode, secret)
    hold(operation, mode, "lb_wrong")
    known = {name: value for name, value in known_to(bos).items() if f"{{{name}}}" in operation.path}
    hold(operation, mode, secret, known if "{" in operation.path else None)


def known_to(bos: Submission) -> dict[str, str]:
    return {"slug": "pets", "submission_id": str(bos.pk), "name": "sample_submission.csv"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_plain_question_is_answered_as_declared(name: str, secret: str, bos: Submission) -> None:
    operation = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application).find_operation_by_id(name)
    case = operation.Case(
        path_parameters={key: value for key, value in known_to(bos).items() if f"{{{key}}}" in operation.path}
    )
    response = case.call(headers={"Authorization": f"Bearer {secret}"})
    assert response.status_code == 200
    case.validate_response(response, checks=CHECKS)


def test_the_operations_under_test_are_all_there_are(db: None) -> None:
    document = Client().get("/api/v1/openapi.json").json()
    found = [details["operationId"] for methods in document["paths"].values() for details in methods.values()]
    assert sorted(found) == sorted(OPERATIONS)
