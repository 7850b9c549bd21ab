"""Error pages: the same frame, a request id, what to do next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone

from .. import __version__


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "400.html", status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", {"exception": str(exception)}, status=403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without a request: whatever broke may be what the frame needs, the database for example."""
    frame = {
        "request_id": request.META.get("leaderboard.request_id", ""),
        "now": timezone.now(),
        "version": __version__,
    }
    return HttpResponse(render_to_string("500.html", frame), status=500)
