"""What every answer carries."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from .. import counting, logs
from ..models import clock
from .accounts import needs_second_factor

log = logging.getLogger(__name__)

NO_POWERS = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()"
FOR_FILES = "default-src 'none'; frame-ancestors 'none'; sandbox"


# Asked every few seconds by programs, so they would fill the log.
ASKED_BY_PROGRAMS = ("healthz", "healthz_deep", "prometheus")


class RequestIdMiddleware:
    """Gives every request a name that its error page, its answer's header and the log share, and notes its end.

    The log names the page and the numbers in its address, never the address: it may hold a code that opens something.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.META["leaderboard.request_id"] = request_id = secrets.token_hex(6)
        begun = time.perf_counter()
        with logs.request(request_id):
            response = self.get_response(request)
            note_answer(request, response.status_code, time.perf_counter() - begun)
        response["X-Request-ID"] = request_id
        return response

    def process_view(self, request: HttpRequest, _: object, __: object, arguments: dict[str, Any]) -> None:
        facts = {"competition": arguments.get("slug"), "submission": arguments.get("submission_id")}
        logs.add(**{name: str(value) for name, value in facts.items() if value})


def note_answer(request: HttpRequest, status: int, seconds: float) -> None:
    """One line of the log and one more in the counts."""
    match = request.resolver_match
    view = match.view_name if match else ""
    # Who it was is only known where somebody asked: asking here would cost every file of the frame a query.
    user = getattr(request, "_cached_user", None) or getattr(request, "auth", None)
    facts = {"method": request.method, "view": view, "status": status, "ms": round(seconds * 1000, 1)}
    if pk := getattr(user, "pk", None):
        facts["user"] = pk
    is_dull = view in ASKED_BY_PROGRAMS or (not view and status < 400)
    log.log(logging.DEBUG if is_dull else logging.INFO, "answered", extra=facts)
    counting.REQUESTS.labels(view, str(status)).inc()
    counting.REQUEST_SECONDS.labels(view).observe(seconds)
    if status == 413:  # wherever it was noticed: by its announced length, while it came in, or while it was stored
        counting.REFUSED_UPLOADS.labels("too_large").inc()


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


class OneMomentMiddleware:
    """All that a page says is of one moment."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return self.get_response(request)
        with clock.one_moment():
            return self.get_response(request)


class PlainAddressMiddleware:
    """Takes NUL characters out of addresses: no name of ours has any, and PostgreSQL fails where it is given one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.path = request.path.replace("\0", "")
        request.path_info = request.path_info.replace("\0", "")
        # What stands around one may be another; a space for that ends it, however many are within each other.
        request.META["QUERY_STRING"] = request.META.get("QUERY_STRING", "").replace("%00", "").replace("%00", "+")
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

    def process_view(self, request: HttpRequest, *_parts: object) -> HttpResponse | None:
        match = request.resolver_match
        is_open = match is None or (not match.namespaces and (match.url_name or "").startswith(self.OPEN))
        if is_open or "api" in (match.namespaces if match else ()) or not needs_second_factor(request.user):
            return None
        messages.warning(request, _("This site asks for a second factor from people with your rights. Set it up now."))
        return redirect("mfa_index")
