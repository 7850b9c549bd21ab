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
    """One operation for the template. Its answers are in the OpenAPI document."""
    fields = [
        {
            "name": parameter["name"],
            "place": parameter["in"],
            "kind": _type_text(parameter["schema"]),
            "is_required": parameter["required"],
            "description": parameter.get("description", ""),
        }
        for parameter in details["parameters"]
    ]
    for body in details.get("requestBody", {}).get("content", {}).values():
        fields += _form_fields(body["schema"])
    return {
        "id": details["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": details.get("description", ""),
        "fields": fields,
        "curl": _curl_command(method, path, site, [field["name"] for field in fields if field["place"] == "form"]),
    }


def _form_fields(schema: Document) -> list[Document]:
    return [
        {
            "name": name,
            "place": "form",
            "kind": _type_text(details),
            "is_required": name in schema.get("required", []),
            "description": details.get("description", ""),
        }
        for name, details in schema.get("properties", {}).items()
    ]


def _type_text(schema: Document) -> str:
    """A type as text: “string or null”, “list of uuid”, “public or private”."""
    if "anyOf" in schema:
        return " or ".join(_type_text(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"“{value}”" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type_text(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "object")


def _curl_command(method: str, path: str, site: str, fields: list[str]) -> str:
    address = f"{site}{path}".replace("{slug}", "my-competition").replace("{submission_id}", "ID")
    lines = ['curl -H "Authorization: Bearer $LEADERBOARD_TOKEN"']
    sent = [f"  -F {name}={value}" for name, value in EXAMPLE_VALUES.items() if name in fields]
    lines += sent or (["  -X POST"] if method == "post" else [])
    return " \\\n".join([*lines, f"  {address}"])
