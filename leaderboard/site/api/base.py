"""The basis of all API operations: authentication by token, declared responses, one shape for all errors.

Every error response is `{"detail": …, "errors": […]}`, whatever raised it:

ApiError           an operation refuses, with a message for the caller
ValidationError    the request does not fit the OpenAPI document          422
AuthenticationError                                                       401
Http404            nothing here for this person                           404
SuspiciousOperation, MultiPartParserError, …   an unreadable body         400, 413
Unreachable, OperationalError, a full disk: logged, try again later       503, 507
anything else      our bug: logged, answered without details              500
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from ninja import NinjaAPI, Schema
from ninja import operation as ninja_operation
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer

from leaderboard.accounts.models import ApiToken, User
from leaderboard.common.error_pages import temporary_failure
from leaderboard.competitions import page_tasks, wake_ups
from leaderboard.competitions.models import PageTask

from .schemas import ErrorsOut, TaskOut

log = logging.getLogger(__name__)

NO_TOKEN = "Send a valid API token: “Authorization: Bearer lb_…”. Tokens are made on your account page."
OUR_FAULT = "Something went wrong on our side. It has been logged; try again later."
UNREADABLE = "This body cannot be read, or it was cut off on its way. Send multipart/form-data with one file."
Scope = ApiToken.Scope
ERROR_STATUSES = (400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 507)


class ApiError(Exception):
    """A refusal of an operation; `errors` are dictionaries with at least `code` and `message`."""

    def __init__(
        self,
        status: int,
        detail: str,
        errors: Iterable[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})


def error_response(
    status: int, detail: str, errors: Iterable[Mapping[str, Any]] = (), headers: Mapping[str, str] | None = None
) -> HttpResponse:
    return JsonResponse({"detail": detail, "errors": list(errors)}, status=status, headers=dict(headers or {}))


def exception_response(request: HttpRequest, error: Any) -> HttpResponse:
    """The response to an exception, also used by ninja's handlers."""
    if isinstance(error, ApiError):
        return error_response(error.status, error.detail, error.errors, error.headers)
    if isinstance(error, AuthenticationError):
        return error_response(401, NO_TOKEN, headers={"WWW-Authenticate": "Bearer"})
    if isinstance(error, Http404):
        return error_response(404, str(error) or "There is nothing here.")
    if isinstance(error, RequestDataTooBig):
        return error_response(413, f"This site takes files of at most {settings.MAX_UPLOAD_BYTES / 1_048_576:.0f} MB.")
    if isinstance(error, ValidationError):
        return error_response(
            422, "This request does not fit the API.", [_validation_problem(found) for found in error.errors]
        )
    if isinstance(error, (SuspiciousOperation, MultiPartParserError, BadRequest)):
        return error_response(400, UNREADABLE)
    log.error("an API request failed", exc_info=error)
    if found := temporary_failure(error):
        return error_response(*found)
    return error_response(500, OUR_FAULT)


def answer_in_json(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate a view so that errors which ninja does not handle get our shape, and no cache stores the response."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except Exception as error:
            response = exception_response(request, error)
        if isinstance(response, HttpResponseNotAllowed):
            words = f"{request.method} is not allowed here."
            response = error_response(405, words, headers={"Allow": response["Allow"]})
        response["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Authorization"])
        return response

    # Other sites cannot make a browser send a bearer token, so no CSRF token is needed.
    answer.csrf_exempt = True  # type: ignore[attr-defined]
    return answer


def _validation_problem(found: Mapping[str, Any]) -> dict[str, str]:
    """A problem from one of pydantic's errors; `column` is the name of the parameter."""
    name = str(found["loc"][-1]) if found.get("loc") else ""
    return {"code": str(found["type"]), "message": f"{name}: {found['msg']}", "column": name}


class Token(HttpBearer):
    """Authentication by an API token. Sessions and cookies are ignored, so requests cannot be forged (CSRF)."""

    def __init__(self, needs: Scope = Scope.READ) -> None:
        super().__init__()
        self.needs = needs

    def __call__(self, request: HttpRequest) -> User | None:
        if not isinstance(request, page_tasks.StoredForm):
            found: User | None = super().__call__(request)
            return found
        # Authenticated when it was stored, but the token may have been revoked since.
        tokens = ApiToken.objects.filter(pk=request.META.get(page_tasks.TOKEN, 0), user=request.sender)
        return request.sender if any(token.allows(self.needs) for token in tokens) else None

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        found = ApiToken.find_and_note_use(token)
        if found is None:
            return None
        if not found.allows(self.needs):
            words = f"This token may not do this: it needs one that may “{self.needs.label.lower()}”. "
            raise ApiError(403, words + "Make it on your account page.", [{"code": "scope", "message": words.strip()}])
        request.META[page_tasks.TOKEN] = found.pk
        return found.user


def token_owner(request: HttpRequest) -> User:
    """The owner of the request's token."""
    return cast(User, request.auth)  # type: ignore[attr-defined]


def _answered_by_worker(function: Callable[..., Any], *, is_of_student: bool) -> Callable[..., Any]:
    """Have an operation run by a worker of pages: the response is 202 with a URL to poll, unless it is done at once."""

    @wraps(function)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if isinstance(request, page_tasks.StoredForm):
            return function(request, *args, **kwargs)
        return answer_later(request, is_of_student=is_of_student)

    # Evaluated here, because the annotations are strings, which ninja would look up in this module.
    answered.__signature__ = inspect.signature(function, eval_str=True)  # type: ignore[attr-defined]
    return answered


def answer_later(request: HttpRequest, *, path: str = "", is_of_student: bool = False) -> HttpResponse:
    """Store a request as a task for a worker. Raises `ApiError`.

    With `path` the task is an empty request for that path, not this one.
    """
    try:
        task = page_tasks.add_task(
            request, token_owner(request), path=path, is_empty=bool(path), is_of_student=is_of_student
        )
    except page_tasks.TooManyTasks as error:
        words = "Two of your requests aren't done yet. Wait for one of them."
        raise ApiError(429, words, [{"code": "busy", "message": words}], {"Retry-After": "5"}) from error
    wake_ups.wake_workers(wake_ups.ANSWER_PAGE)
    task.refresh_from_db()
    return task_response(task)


def task_response(task: PageTask) -> HttpResponse:
    """The response of the operation; before it is done 202 with the URL to poll and `Retry-After`."""
    if task.status == PageTask.Status.FAILED:
        return error_response(503, page_tasks.failure_text(task))
    if task.status == PageTask.Status.DONE:
        answer = task.answer
        return HttpResponse(answer["text"], status=answer["status"], content_type=answer["content_type"])
    address = reverse("api_task", kwargs={"task_id": task.pk})
    found = {"status": task.status, "task": address}
    return JsonResponse(found, status=202, headers={"Location": address, "Retry-After": "1"})


class LeaderboardApi(NinjaAPI):
    def get_openapi_operation_id(self, operation: ninja_operation.Operation) -> str:
        return operation.view_func.__name__


api = LeaderboardApi(
    title="Leaderboard API",
    version="1",
    description="Read competitions and leaderboards, submit files and read their scores; host competitions.",
    openapi_url=None,
    docs_url=None,
    urls_namespace="api",
    auth=Token(),
)
for kind in (Exception, ApiError, Http404, HttpError, AuthenticationError, ValidationError):
    api.add_exception_handler(kind, exception_response)


Operation = TypeVar("Operation", bound=Callable[..., Any])


def operation(
    method: str,
    path: str,
    name: str,
    schema: type[Schema] | None = None,
    *,
    statuses: Collection[int] = (200,),
    scope: Scope = Scope.READ,
    by_worker: bool = False,
    file_type: str = "",
) -> Callable[[Operation], Operation]:
    """Decorator for an operation, whose URL is named `api_…`: it answers with a schema or with a file.

    Every operation declares all errors, and 202 for what a worker does first.
    """
    answers: dict[int, Any] = {202: TaskOut, **dict.fromkeys(ERROR_STATUSES, ErrorsOut)}
    answers |= dict.fromkeys(statuses, schema) if schema else {}
    content = {file_type: {"schema": {"type": "string", "format": "binary"}}}
    file = {"responses": {200: {"description": "The file", "content": content}}} if file_type else None

    def declare(function: Operation) -> Operation:
        view = _answered_by_worker(function, is_of_student=scope is Scope.SUBMIT) if by_worker else function
        api.api_operation(
            [method], path, response=answers, auth=Token(scope), url_name=f"api_{name}", openapi_extra=file
        )(view)
        return function

    return declare
