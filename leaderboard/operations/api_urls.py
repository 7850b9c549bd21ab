"""Addresses below `/api/v1/`; every one of them answers in JSON, but for the page for people."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path

from leaderboard.competitions.api import host, student
from leaderboard.competitions.api.base import answer_in_json, api
from leaderboard.competitions.api.docs import api as page
from leaderboard.competitions.api.docs import not_found, openapi
from leaderboard.grades import api as grades

OPERATIONS = (grades, host, student)  # each declares its own addresses when it is imported


def _operations() -> list[URLPattern]:
    """Ninja's addresses, each answering in our shape; its own root is left out."""
    found = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern) and pattern.name != "api-root"]
    return [URLPattern(p.pattern, answer_in_json(p.callback), p.default_args, p.name) for p in found]


urlpatterns = [
    path("docs", page, name="api"),
    path("openapi.json", answer_in_json(openapi), name="openapi"),
    *_operations(),
    re_path(r"^(?P<path>[\s\S]*)$", answer_in_json(not_found), name="api_nothing"),
]
