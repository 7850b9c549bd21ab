"""The time zone of pages: the viewer's own choice, else their browser's, else the competition's."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils import timezone

from .time_zones import known_zones

COOKIE = "zone"


def viewer_zone(request: HttpRequest) -> str:
    """What a person chose in their preferences, else what their browser said; empty where neither is known."""
    own = getattr(request.user, "zone", "")
    name = own or request.COOKIES.get(COOKIE, "")
    return name if name in known_zones() else ""


def activate_competition_zone(request: HttpRequest, zone: str) -> None:
    """Show times of this request in a competition's zone, unless its viewer has one."""
    if not viewer_zone(request):
        timezone.activate(ZoneInfo(zone))
