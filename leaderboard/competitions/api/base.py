"""Shared parts of all operations: token authentication, declared responses, rate limit."""

from __future__ import annotations

from typing import Any, cast

from django.http import Http404, HttpRequest
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer

from leaderboard.accounts.models import ApiToken, User
from leaderboard.common.shared_cache import count_try

from .errors import ApiError, exception_response
from .schemas import ErrorsOut

Scope = ApiToken.Scope
MINUTE = 60
PER_MINUTE = {Scope.READ: 1200, Scope.SUBMIT: 300, Scope.HOST: 120}
"""Requests of one person a minute, by what the operation needs; a pupil's loop must not be a class's outage."""


class Token(HttpBearer):
    """A token from the account page; sessions and cookies are not looked at, so there is nothing to forge."""

    def __init__(self, needs: Scope = Scope.READ) -> None:
        super().__init__()
        self.needs = needs

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        found = ApiToken.find_and_note_use(token)
        if found is None:
            return None
        _count_request(found.user, self.needs)
        if not found.allows(self.needs):
            words = f"This token may not do this: it needs one that may “{self.needs.label.lower()}”. "
            raise ApiError(403, words + "Make it on your account page.", [{"code": "scope", "message": words.strip()}])
        return found.user


def _count_request(user: User, needs: Scope) -> None:
    """Raises a refusal with 429 for more requests than a person's programs need."""
    what = f"api-{needs}"
    if count_try(what, user.pk, seconds=MINUTE) > PER_MINUTE[needs]:
        words = "Your programs ask too often. Wait a minute, and let them wait between two questions."
        raise ApiError(429, words, [{"code": "too_often", "message": words}], {"Retry-After": str(MINUTE)})


def declared_answers(*others: int, **success: Any) -> dict[int, Any]:
    """The declared answers: the success, those that every operation may give, and `others`."""
    good = {int(name.removeprefix("s")): shape for name, shape in success.items()}
    return good | {status: ErrorsOut for status in sorted({401, 403, 429, 500, *others})}


def file_answer(kind: str) -> dict[str, Any]:
    """The OpenAPI words for an answer that is a file."""
    content = {kind: {"schema": {"type": "string", "format": "binary"}}}
    return {"responses": {200: {"description": "The file", "content": content}}}


def token_owner(request: HttpRequest) -> User:
    """The owner of the request's token."""
    return cast(User, request.auth)  # type: ignore[attr-defined]


api = NinjaAPI(
    title="Leaderboard API",
    version="1",
    description="Read competitions and boards, hand in files and read what they scored; host competitions.",
    openapi_url=None,
    docs_url=None,
    urls_namespace="api",
    auth=Token(),
)
for kind in (Exception, ApiError, Http404, HttpError, AuthenticationError, ValidationError):
    api.add_exception_handler(kind, exception_response)
