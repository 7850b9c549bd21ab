"""What holds for every request: two layers, one around all and one that knows the viewer."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from structlog.contextvars import bind_contextvars, clear_contextvars

from leaderboard.accounts.adapter import needs_second_factor
from leaderboard.common import clock
from leaderboard.common.display_time import viewer_zone
from leaderboard.common.languages import language_of_request, note_language

log = logging.getLogger(__name__)

GetResponse = Callable[[HttpRequest], HttpResponse]

NO_POWERS = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()"
FOR_FILES = "default-src 'none'; frame-ancestors 'none'; sandbox"
# Asked every few seconds by programs, so they would fill the log.
ASKED_BY_PROGRAMS = ("healthz", "healthz_deep", "readyz", "prometheus")
OPEN_WITHOUT_SECOND_FACTOR = ("account_", "mfa_", "usersessions_", "theme", "healthz", "readyz", "api")


class RequestMiddleware:
    """Gives every request an id that its error page, its answer's header and the log share, and notes its end.

    The log names the page and the numbers in its address, never the address: it may hold a code that opens something.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.META["leaderboard.request_id"] = request_id = secrets.token_hex(6)
        remove_nul_characters(request)
        begun = time.perf_counter()
        clear_contextvars()
        bind_contextvars(request=request_id)
        response = self.get_response(request)
        note_answer(request, response.status_code, time.perf_counter() - begun)
        clear_contextvars()  # the thread of this request serves another next
        response["X-Request-ID"] = request_id
        response["Permissions-Policy"] = NO_POWERS
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        if response.get("Content-Disposition", "").startswith("attachment"):
            # What is handed out as a file may do nothing, should a browser show it after all.
            response["Content-Security-Policy"] = FOR_FILES
        return response

    def process_view(self, request: HttpRequest, _: object, __: object, arguments: dict[str, Any]) -> None:
        facts = {"competition": arguments.get("slug"), "submission": arguments.get("submission_id")}
        bind_contextvars(**{name: str(value) for name, value in facts.items() if value})


class ViewerMiddleware:
    """Shows a page in the viewer's language and zone, of one moment, and lets no cache on the way hold it.

    It comes after AuthenticationMiddleware, because it asks for the viewer, and before MessageMiddleware, because that
    writes translated texts.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = request.LANGUAGE_CODE = language_of_request(request)
        one_moment = clock.one_moment_per_page() if request.method in ("GET", "HEAD") else nullcontext()
        # Language and zone end with the request, because its thread serves another next.
        with translation.override(language), timezone.override(None), one_moment:
            response = self.get_response(request)
        note_language(request, response)
        if not response.has_header("Cache-Control") and request.user.is_authenticated:
            response["Cache-Control"] = "private, no-store"
        return response

    def process_view(self, request: HttpRequest, view: object, *_: object) -> HttpResponse | None:
        # Programs, the admin and files get UTC as ever.
        if hasattr(view, "audience") and (zone := viewer_zone(request)):
            timezone.activate(ZoneInfo(zone))
        return redirect_to_second_factor(request)


def remove_nul_characters(request: HttpRequest) -> None:
    """Take NUL characters out of the address: no name of ours has any, and PostgreSQL fails where it is given one."""
    request.path = request.path.replace("\0", "")
    request.path_info = request.path_info.replace("\0", "")
    # What stands around one may be another; a space for that ends it, however many are within each other.
    request.META["QUERY_STRING"] = request.META.get("QUERY_STRING", "").replace("%00", "").replace("%00", "+")


def note_answer(request: HttpRequest, status: int, seconds: float) -> None:
    """Write one line of the log."""
    match = request.resolver_match
    view = match.view_name if match else ""
    # Who it was is only known where somebody asked: asking here would cost every file of the frame a query.
    user = getattr(request, "_cached_user", None) or getattr(request, "auth", None)
    facts = {"method": request.method, "view": view, "status": status, "ms": round(seconds * 1000, 1)}
    if pk := getattr(user, "pk", None):
        facts["user"] = pk
    is_dull = view in ASKED_BY_PROGRAMS or (not view and status < 400)
    log.log(logging.DEBUG if is_dull else logging.INFO, "answered", extra=facts)


def redirect_to_second_factor(request: HttpRequest) -> HttpResponse | None:
    """Where the site wants a second factor, a person who lacks it sets it up before anything else."""
    match = request.resolver_match
    is_open = match is None or (not match.namespaces and (match.url_name or "").startswith(OPEN_WITHOUT_SECOND_FACTOR))
    if is_open or "api" in (match.namespaces if match else ()) or not needs_second_factor(request.user):
        return None
    messages.warning(request, _("This site requires a second factor for your role. Set it up now."))
    return redirect("mfa_index")
