"""Error pages: the same frame, a request id, and advice on what to do next."""

from __future__ import annotations

import errno
import logging

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext_lazy

from leaderboard import __version__

from . import web_requests
from .storage import StorageUnreachable, size_text

log = logging.getLogger(__name__)

DISK_FULL = gettext_lazy(
    "This server's disk is full. Nothing was saved and no attempt was used. Tell your administrator."
)
REFUSED_BODIES = {
    web_requests.TOO_LARGE: (
        413,
        gettext_lazy("This is larger than %(limit)s, the most that is taken here. Nothing was saved."),
    ),
    web_requests.SIGN_IN_FIRST: (
        413,
        gettext_lazy("You aren't signed in, so this file wasn't taken. Sign in (or send a valid token) and try again."),
    ),
    web_requests.TOO_MANY: (
        503,
        gettext_lazy("Too many uploads are on their way. Nothing was saved. Try again in half a minute."),
    ),
    web_requests.NO_ROOM: (507, DISK_FULL),
    web_requests.CUT_OFF: (
        400,
        gettext_lazy("The form was cut off before its end. Nothing was saved and no attempt was used. Send it again."),
    ),
}
"""Status and message for each reason in `web_requests.py`."""

NO_ANSWER = gettext_lazy(
    "The database or file storage isn't responding. Nothing was saved and no attempt was used. Try again in a minute."
)


def server_error(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_in_bare_frame(request, "500.html"), status=500)


def temporary_failure(error: BaseException) -> tuple[int, str] | None:
    """Status and message where the database, the storage or the disk failed, not this program; None for other
    errors."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return 507, str(DISK_FULL)
    if isinstance(error, (StorageUnreachable, OperationalError, InterfaceError)):
        return 503, str(NO_ANSWER)
    return None


def refused_body(request: HttpRequest, reason: str) -> HttpResponse:
    """The response to a request whose body the web server did not accept."""
    status, text = REFUSED_BODIES[reason]
    message = text % {"limit": size_text(settings.MAX_UPLOAD_BYTES)}
    if not request.path.startswith("/api/"):
        return render(request, "400.html", {"why": message, "status": status}, status=status)
    if reason == web_requests.SIGN_IN_FIRST:
        status = 401
    return JsonResponse({"detail": message, "errors": []}, status=status)


def temporary_failure_page(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """The page in place of any other where `temporary_failure` is the reason; None for other errors."""
    found = temporary_failure(error)
    if found is None:
        return None
    log.error("what this site stands on failed", exc_info=error)
    status, words = found
    return HttpResponse(_in_bare_frame(request, "503.html", status=status, words=words), status=status)


def _in_bare_frame(request: HttpRequest, template: str, **context: object) -> str:
    """A template rendered without the request, because the page's frame may need what failed, for example the
    database."""
    frame = {
        "request_id": request.META.get("leaderboard.request_id", ""),
        "now": timezone.now(),
        "version": __version__,
    }
    return render_to_string(template, {**frame, **context})
