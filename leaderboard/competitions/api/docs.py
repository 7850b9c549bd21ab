"""The API's own pages: the OpenAPI document, the page for people made from it, and the 404 in our shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from http.client import responses
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from leaderboard.common.access import SiteAudience, open_page_to

from .base import api as operations

ROOT = "/api/v1/"
Document = dict[str, Any]
# What the example of an operation sends, where it takes it.
EXAMPLE_VALUES = {"file": "@submission.csv", "note": '"first try"', "status": "failed"}


@dataclass(frozen=True)
class DocumentedField:
    """A parameter of an operation, or a field of an answer."""

    name: str
    place: str
    kind: str
    is_required: bool
    description: str


@dataclass(frozen=True)
class DocumentedOperation:
    """One operation as the page shows it."""

    id: str
    method: str
    path: str
    summary: str
    fields: tuple[DocumentedField, ...]
    success: tuple[str, str]
    """Status and shape of the good answer."""
    refusals: tuple[tuple[str, str], ...]
    """Status and meaning of the others; all of them have the shape `ErrorsOut`."""
    curl: str


@cache
def document() -> Document:
    """Cached until the next start, because making it takes longer than any page."""
    return dict(operations.get_openapi_schema(path_prefix=ROOT))


def openapi(request: HttpRequest) -> HttpResponse:
    return JsonResponse(document())


@open_page_to(SiteAudience.ANYONE)
def api(request: HttpRequest) -> HttpResponse:
    """The API for people."""
    found = document()
    site = request.build_absolute_uri("/").rstrip("/")
    listed = [
        _operation(found, method, path, details, site)
        for path, methods in found["paths"].items()
        for method, details in methods.items()
    ]
    shapes = [(name, _resolve_shape(found, name)) for name in sorted(found["components"]["schemas"])]
    context = {"operations": listed, "shapes": shapes, "site": site}
    return render(request, "competitions/api.html", context)


def not_found(request: HttpRequest, path: str) -> HttpResponse:
    raise Http404("The API has no such address; see /api/v1/docs.")


def _operation(found: Document, method: str, path: str, details: Document, site: str) -> DocumentedOperation:
    fields = [
        DocumentedField(p["name"], p["in"], _type_text(p["schema"]), p["required"], p.get("description", ""))
        for p in details["parameters"]
    ]
    content = details.get("requestBody", {}).get("content", {})
    for body in (kind["schema"] for kind in content.values()):
        fields += _fields(body, "form")
    statuses = details["responses"]
    return DocumentedOperation(
        id=details["operationId"],
        method=method.upper(),
        path=path,
        summary=details.get("description", ""),
        fields=tuple(fields),
        success=next((str(status), _shape_of(answer)) for status, answer in statuses.items() if int(status) < 400),
        refusals=tuple((str(status), responses[int(status)]) for status in statuses if int(status) >= 400),
        curl=_curl(method, path, site, [field.name for field in fields if field.place == "form"]),
    )


def _shape_of(answer: Document) -> str:
    """The name of the shape; "" for a file."""
    content = answer["content"].get("application/json", {})
    return str(content["schema"]["$ref"]).rsplit("/", 1)[-1] if content else ""


def _resolve_shape(found: Document, name: str) -> tuple[DocumentedField, ...]:
    return _fields(found["components"]["schemas"][name], "answer")


def _fields(schema: Document, place: str) -> tuple[DocumentedField, ...]:
    required = schema.get("required", [])
    return tuple(
        DocumentedField(name, place, _type_text(details), name in required, details.get("description", ""))
        for name, details in schema.get("properties", {}).items()
    )


def _type_text(schema: Document) -> str:
    """A type in a few words: “string or null”, “list of BoardRow”, “public or private”."""
    if "anyOf" in schema:
        return " or ".join(_type_text(each) for each in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return " or ".join(f"“{value}”" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type_text(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "object")


def _curl(method: str, path: str, site: str, fields: list[str]) -> str:
    address = f"{site}{path}".replace("{slug}", "my-competition").replace("{submission_id}", "ID")
    lines = ['curl -H "Authorization: Bearer $LEADERBOARD_TOKEN"']
    sent = [f"  -F {name}={value}" for name, value in EXAMPLE_VALUES.items() if name in fields]
    lines += sent or (["  -X POST"] if method == "post" else [])
    return " \\\n".join([*lines, f"  {address}"])
