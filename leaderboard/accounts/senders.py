"""The user of a request, for code that must know before the body is read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError
from django.http import parse_cookie

from .models import ApiToken


def user_of_request(environ: dict[str, Any]) -> str:
    """The account whose token or session comes with a request; empty for strangers, and while nobody can be asked."""
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    key = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
    try:
        if scheme.lower() == "bearer":
            owner = ApiToken.owner_of(token.strip())
            return f"account {owner.pk}" if owner else ""
        session = import_module(settings.SESSION_ENGINE).SessionStore(key) if key else {}
        number = session.get(SESSION_KEY)
    except DatabaseError:
        return ""
    return f"account {number}" if number else ""
