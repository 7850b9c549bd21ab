"""How the site is: what waits, who works, and what the last consistency checks found."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.crypto import constant_time_compare

from leaderboard.common.access import SiteAudience, open_page_to

from .. import health


@open_page_to(SiteAudience.OPERATORS)
def status(request: HttpRequest) -> HttpResponse:
    return render(request, "operations/status.html", health.site_overview())


@open_page_to(SiteAudience.ANYONE)
def prometheus(request: HttpRequest) -> HttpResponse:
    """Numbers for the program that has this site's token; nobody else finds anything here."""
    token = settings.PROMETHEUS_TOKEN
    if not token or not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        raise Http404
    from .. import prometheus as prometheus_module  # most sites are never asked, and need not load its library

    return HttpResponse(
        prometheus_module.metrics_text(),
        content_type=prometheus_module.CONTENT_TYPE,
        headers={"Cache-Control": "no-store"},
    )
