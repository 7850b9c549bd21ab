"""Error pages: the same frame, a request id, what to do next."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext_lazy

from leaderboard import __version__

from .storage import StorageUnreachable

log = logging.getLogger(__name__)

NO_ANSWER = gettext_lazy(
    "The database or file storage isn't responding. Nothing was saved and no attempt was used. Try again in a minute."
)
DISK_FULL = gettext_lazy(
    "This server's disk is full. Nothing was saved and no attempt was used. Tell your administrator."
)


def server_error(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_in_bare_frame(request, "500.html"), status=500)


def temporary_failure(error: BaseException) -> tuple[int, str] | None:
    """Status and words where not this program failed but what it stands on: it may be better in a minute."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return 507, str(DISK_FULL)
    if isinstance(error, (StorageUnreachable, OperationalError, InterfaceError)):
        return 503, str(NO_ANSWER)
    return None


class NotNowMiddleware:
    """Answers for pages of every audience what no page can do anything about."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        found = temporary_failure(error)
        if found is None:
            return None
        log.error("what this site stands on failed", exc_info=error)
        status, words = found
        return HttpResponse(_in_bare_frame(request, "503.html", status=status, words=words), status=status)


def _in_bare_frame(request: HttpRequest, template: str, **context: object) -> str:
    """Rendered without a request: whatever broke may be what the frame needs, the database for example."""
    frame = {
        "request_id": request.META.get("leaderboard.request_id", ""),
        "now": timezone.now(),
        "version": __version__,
    }
    return render_to_string(template, {**frame, **context})
