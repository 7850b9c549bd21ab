"""Addresses below `/api/v1/`; every one of them answers in JSON, but for the page for people."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path

from . import exports, files, host, operations  # noqa: F401  (each adds its operations to `api`)
from .base import api
from .docs import api as page
from .docs import nothing, openapi
from .errors import in_json


def _operations() -> list[URLPattern]:
    """Ninja's addresses, each answering in our shape; its own root is left out."""
    found = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern) and pattern.name != "api-root"]
    return [URLPattern(p.pattern, in_json(p.callback), p.default_args, p.name) for p in found]


urlpatterns = [
    path("docs", page, name="api"),
    path("openapi.json", in_json(openapi), name="openapi"),
    *_operations(),
    re_path(r"^(?P<path>[\s\S]*)$", in_json(nothing), name="api_nothing"),
]
