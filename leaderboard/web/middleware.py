"""What every answer carries."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class RequestIdMiddleware:
    """Gives every request a name that its error page, its answer's header and the log share."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.META["leaderboard.request_id"] = request_id = secrets.token_hex(6)
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        return response


class PlainAddressMiddleware:
    """Takes NUL characters out of addresses: no name of ours has any, and PostgreSQL fails where it is given one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.path = request.path.replace("\0", "")
        request.path_info = request.path_info.replace("\0", "")
        while "%00" in request.META.get("QUERY_STRING", ""):
            request.META["QUERY_STRING"] = request.META["QUERY_STRING"].replace("%00", "")
        return self.get_response(request)


class PrivatePagesMiddleware:
    """Pages made for a signed-in person are kept by no cache on the way."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.has_header("Cache-Control") and request.user.is_authenticated:
            response["Cache-Control"] = "private, no-store"
        return response
