"""Pages about the API: the OpenAPI document, its page for people, and the 404 response."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from leaderboard.common.access import SiteAudience, open_page_to

from .base import api as operations

ROOT = "/api/v1/"
Document = dict[str, Any]
# Values of form fields in the examples.
EXAMPLE_VALUES = {"file": "@submission.csv", "note": '"first try"', "status": "failed"}


@cache
def openapi_document() -> Document:
    """The OpenAPI document; cached until the next start, because making it is slow."""
    return dict(operations.get_openapi_schema(path_prefix=ROOT))


def openapi(request: HttpRequest) -> HttpResponse:
    return JsonResponse(openapi_document())


@open_page_to(SiteAudience.ANYONE)
def api(request: HttpRequest) -> HttpResponse:
    """The page with the documentation of the API."""
    found = openapi_document()
    site = request.build_absolute_uri("/").rstrip("/")
    listed = [
        _operation_facts(method, path, details, site)
        for path, methods in found["paths"].items()
        for method, details in methods.items()
    ]
    return render(request, "site/api.html", {"operations": listed, "site": site})


def not_found(request: HttpRequest, path: str) -> HttpResponse:
    raise Http404("The API has no such address; see /api/v1/docs.")


def _operation_facts(method: str, path: str, details: Document, site: str) -> Document:
    """One operation for the template. Its parameters and answers are in the OpenAPI document."""
    bodies = details.get("requestBody", {}).get("content", {}).values()
    fields = {name for body in bodies for name in body["schema"].get("properties", {})}
    return {
        "id": details["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": details.get("description", ""),
        "curl": _curl_command(method, path, site, fields),
    }


def _curl_command(method: str, path: str, site: str, fields: set[str]) -> str:
    address = f"{site}{path}".replace("{slug}", "my-competition").replace("{submission_id}", "ID")
    lines = ['curl -H "Authorization: Bearer $LEADERBOARD_TOKEN"']
    sent = [f"  -F {name}={value}" for name, value in EXAMPLE_VALUES.items() if name in fields]
    lines += sent or (["  -X POST"] if method == "post" else [])
    return " \\\n".join([*lines, f"  {address}"])
