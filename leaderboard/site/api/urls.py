"""URLs of the API. Every URL below `/api/v1/` responds in JSON, except the documentation page."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path

from . import courses, docs, host, student
from .base import answer_in_json, api

OPERATIONS = (host, student, courses)  # each registers its URLs with the API when it is imported


def _operation_urls() -> list[URLPattern]:
    """Ninja's URL patterns, with responses in this site's JSON format; without Ninja's root."""
    found = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern) and pattern.name != "api-root"]
    return [URLPattern(p.pattern, answer_in_json(p.callback), p.default_args, p.name) for p in found]


urlpatterns = [
    path("docs", docs.api, name="api"),
    path("openapi.json", answer_in_json(docs.openapi), name="openapi"),
    *_operation_urls(),
    re_path(r"^(?P<path>[\s\S]*)$", answer_in_json(docs.not_found), name="api_nothing"),
]
