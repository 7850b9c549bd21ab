"""Middleware for every request: IDs, logs, security headers, compression; the viewer's language, time zone and second
factor."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from structlog.contextvars import bind_contextvars, clear_contextvars

from leaderboard.accounts.models import Viewer
from leaderboard.common import clock, error_pages
from leaderboard.common.viewer import language_of_request, note_language, viewer_zone
from leaderboard.common.web_pools import REFUSAL

log = logging.getLogger(__name__)

GetResponse = Callable[[HttpRequest], HttpResponse]

NO_POWERS = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()"
FOR_FILES = "default-src 'none'; frame-ancestors 'none'; sandbox"
COMPRESSED_FILES = ("text/css", "text/javascript", "image/svg+xml")
# Views that programs request every few seconds; logged at level DEBUG only.
ASKED_BY_PROGRAMS = ("healthz", "healthz_deep", "readyz", "prometheus")
OPEN_WITHOUT_SECOND_FACTOR = ("account_", "mfa_", "usersessions_", "theme", "healthz", "readyz", "api")


class RequestMiddleware:
    """Give every request an ID, for its error page, response header and log lines; log its end; set security headers.

    Answer in place of any page if the request's body was refused, or the database, storage or disk fails.

    The log has the name of the view, never the URL, which may contain a secret code.
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
        clear_contextvars()  # the thread will serve another request
        response["X-Request-ID"] = request_id
        response["Permissions-Policy"] = NO_POWERS
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        if response.get("Content-Disposition", "").startswith("attachment"):
            # A downloaded file may run nothing, in case a browser shows it in a page.
            response["Content-Security-Policy"] = FOR_FILES
        return response

    def process_view(
        self, request: HttpRequest, _: object, __: object, arguments: dict[str, Any]
    ) -> HttpResponse | None:
        facts = {"competition": arguments.get("slug"), "submission": arguments.get("submission_id")}
        bind_contextvars(**{name: str(value) for name, value in facts.items() if value})
        reason = request.META.get(REFUSAL)
        return error_pages.refused_body(request, reason) if reason else None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return error_pages.temporary_failure_page(request, error)


class CompressionMiddleware(GZipMiddleware):
    """Django's gzip for pages, API responses and the site's own text files. Other streamed files are left alone: fonts
    are compressed already, and a data file would be compressed anew for each student."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming and not response.get("Content-Type", "").startswith(COMPRESSED_FILES):
            return response
        return super().process_response(request, response)


class ViewerMiddleware:
    """Activate the viewer's language and time zone, fix the time of the page, and forbid caches to store it.

    Must come after AuthenticationMiddleware, because it needs the viewer, and before MessageMiddleware, which stores
    translated texts.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = request.LANGUAGE_CODE = language_of_request(request)
        one_moment = clock.one_moment_per_page() if request.method in ("GET", "HEAD") else nullcontext()
        # Language and time zone end with the request, because the thread will serve another one.
        with translation.override(language), timezone.override(None), one_moment:
            response = self.get_response(request)
        note_language(request, response)
        if not response.has_header("Cache-Control") and request.user.is_authenticated:
            response["Cache-Control"] = "private, no-store"
        return response

    def process_view(self, request: HttpRequest, view: object, *_: object) -> HttpResponse | None:
        # Only pages with an audience; the API, the admin and files use UTC.
        if hasattr(view, "audience") and (zone := viewer_zone(request)):
            timezone.activate(ZoneInfo(zone))
        return redirect_to_second_factor(request)


def remove_nul_characters(request: HttpRequest) -> None:
    """Remove NUL characters from path and query string, because PostgreSQL raises errors for them."""
    request.path = request.path.replace("\0", "")
    request.path_info = request.path_info.replace("\0", "")
    # Removing `%00` can join its neighbours to another `%00`; replacing that by a space ends it.
    request.META["QUERY_STRING"] = request.META.get("QUERY_STRING", "").replace("%00", "").replace("%00", "+")


def note_answer(request: HttpRequest, status: int, seconds: float) -> None:
    """Log view, status and duration of a request."""
    match = request.resolver_match
    view = match.view_name if match else ""
    # Only if the view has read the user: reading it here would cost a query for each static file.
    user = getattr(request, "_cached_user", None) or getattr(request, "auth", None)
    facts = {"method": request.method, "view": view, "status": status, "ms": round(seconds * 1000, 1)}
    if pk := getattr(user, "pk", None):
        facts["user"] = pk
    is_dull = view in ASKED_BY_PROGRAMS or (not view and status < 400)
    log.log(logging.DEBUG if is_dull else logging.INFO, "answered", extra=facts)


def _needs_second_factor(user: Viewer) -> bool:
    """Whether `SECOND_FACTOR_FOR` covers this person and no second factor is set up yet."""
    wanted = {"operators": ("is_staff",), "hosts": ("is_staff", "is_host_anywhere")}.get(settings.SECOND_FACTOR_FOR, ())
    if not any(getattr(user, right, False) for right in wanted):
        return False
    from allauth.mfa.utils import is_mfa_enabled

    return not is_mfa_enabled(user)


def redirect_to_second_factor(request: HttpRequest) -> HttpResponse | None:
    """Redirect to the setup of a second factor if the site requires one of this person and there is none; else None."""
    match = request.resolver_match
    is_open = match is None or (not match.namespaces and (match.url_name or "").startswith(OPEN_WITHOUT_SECOND_FACTOR))
    if is_open or "api" in (match.namespaces if match else ()) or not _needs_second_factor(request.user):
        return None
    messages.warning(request, _("This site requires a second factor for your role. Set it up now."))
    return redirect("mfa_index")
