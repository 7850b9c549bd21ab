"""The account of a request: by its session for Django, and before its body is read for the web server."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db.models import QuerySet
from django.http import HttpRequest, parse_cookie

from leaderboard.common.prepared_queries import PreparedQuery

from . import hooks
from .adapter import account_named, login_of, may_use_password
from .models import ApiToken, User


def find_viewer(key: int) -> User | None:
    """The user with all annotations that the frame of a page needs (`hooks.viewer_facts`), in one query."""
    return _viewers.only_row(key=key)


@PreparedQuery
def _viewers(key: int) -> QuerySet[User]:
    facts: dict[str, Any] = {name: fact for found in hooks.viewer_facts() for name, fact in found.items()}
    return User.objects.annotate(**facts).filter(pk=key)


class OneHashBackend(AuthenticationBackend):  # type: ignore[misc]
    """Sign-in by user name or e-mail address, with exactly one password hash per try.

    django-allauth's backend hashes twice for an address and once for an unknown one, so its response time reveals
    which addresses have an account.
    """

    def _authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        user: User | None = self._check_password(account_named(login_of(credentials)), credentials["password"])
        return user if user is not None and may_use_password(user) else None

    def get_user(self, user_id: Any) -> User | None:
        user = find_viewer(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


def user_of_request(environ: dict[str, Any]) -> str:
    """`account 12` for the owner of a request's API token or session; "" for visitors. Raises `DatabaseError`."""
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer":
        found = ApiToken.find_and_note_use(token.strip())
        return f"account {found.user_id}" if found else ""
    key = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
    session = import_module(settings.SESSION_ENGINE).SessionStore(key) if key else {}
    number = session.get(SESSION_KEY)
    return f"account {number}" if number else ""
