"""The OpenAPI document against the running API: no answer that it does not declare."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks

from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions.models import Competition, Submission

pytestmark = pytest.mark.thorough

CHECKS: list[Any] = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
HOSTED = (
    "add_file",
    "create_competition",
    "check_truth",
    "publish_truth",
    "launch",
    "read_rescoring",
    "apply_rescoring",
    "discard_rescoring",
    "score_again",
    "export_grades",
    "export_competition",
    "list_courses",
    "read_course",
    "list_people",
    "export_course_grades",
)
OPERATIONS = (
    "list_competitions",
    "read_competition",
    "read_leaderboard",
    "submit",
    "list_submissions",
    "read_submission",
    "answer_of_task",
    "list_files",
    "download_file",
    "convert_submission",
    *HOSTED,
)
ASKED = ("list_", "read_", "download_")
QUESTIONS = [name for name in OPERATIONS if name.startswith(ASKED) and name not in HOSTED]


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


@pytest.fixture
def adas(pets: Competition, ada: User) -> str:
    return ApiToken.issue(ada, "contract", ApiToken.Scope.HOST)[1]


@cache
def schema() -> Any:
    django = get_wsgi_application()

    def application(environ: Any, start_response: Any) -> list[bytes]:
        """Close each response as a server does; the client of the generated requests does not."""
        with closing(django(environ, start_response)) as response:
            return [b"".join(response)]

    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)


def hold(
    operation: Any, mode: GenerationMode, secret: str, fixed: dict[str, str] | None = None, *, examples: int = 6
) -> None:
    """Send generated requests and check every answer against the document."""

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if fixed:
            case.path_parameters = fixed
        response = case.call(headers={"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"})
        assert response.status_code < 500
        case.validate_response(response, checks=CHECKS)

    check()


@pytest.mark.parametrize("examples", [6, pytest.param(120, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_answer_is_undeclared(
    name: str, mode: GenerationMode, examples: int, secret: str, adas: str, bos: Submission
) -> None:
    operation = schema().find_operation_by_id(name)
    hold(operation, mode, secret, examples=examples)
    hold(operation, mode, "lb_wrong", examples=3)
    hold(operation, mode, secret, known_to(bos, operation), examples=examples)
    if name in HOSTED:
        hold(operation, mode, adas, known_to(bos, operation), examples=examples)


def known_to(bos: Submission, operation: Any) -> dict[str, str]:
    """What is there, for the parts of an address."""
    values = {"slug": "pets", "submission_id": str(bos.pk), "name": "sample_submission.csv"}
    return {name: value for name, value in values.items() if f"{{{name}}}" in operation.path}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_plain_question_is_answered_as_declared(name: str, secret: str, bos: Submission) -> None:
    operation = schema().find_operation_by_id(name)
    case = operation.Case(path_parameters=known_to(bos, operation))
    response = case.call(headers={"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"})
    assert response.status_code == 200
    case.validate_response(response, checks=CHECKS)


def test_the_operations_under_test_are_all_there_are(db: None) -> None:
    document = Client().get("/api/v1/openapi.json").json()
    found = [details["operationId"] for methods in document["paths"].values() for details in methods.values()]
    assert sorted(found) == sorted(OPERATIONS)
