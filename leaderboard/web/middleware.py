"""What every answer carries."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from .accounts import needs_second_factor

NO_POWERS = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()"
FOR_FILES = "default-src 'none'; frame-ancestors 'none'; sandbox"


class RequestIdMiddleware:
    """Gives every request a name that its error page, its answer's header and the log share."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.META["leaderboard.request_id"] = request_id = secrets.token_hex(6)
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        return response


class HeadersMiddleware:
    """Headers of every answer. What is handed out as a file may do nothing, should a browser show it after all."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = NO_POWERS
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        if response.get("Content-Disposition", "").startswith("attachment"):
            response["Content-Security-Policy"] = FOR_FILES
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


class SecondFactorMiddleware:
    """Where the site wants a second factor, whoever lacks it sets it up before anything else."""

    OPEN = ("account_", "mfa_", "usersessions_", "theme", "healthz", "api")

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        match = request.resolver_match
        is_open = match is None or (not match.namespaces and (match.url_name or "").startswith(self.OPEN))
        if is_open or "api" in (match.namespaces if match else ()) or not needs_second_factor(request.user):
            return None
        messages.warning(request, "This site asks for a second factor from people with your rights. Set it up now.")
        return redirect("mfa_index")
