"""In whose clocks times are shown: the viewer's own choice, else their browser's, else those of the competition."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from ..models.zones import known_zones

COOKIE = "zone"


def chosen_zone(request: HttpRequest) -> str:
    """What a person chose in their preferences, else what their browser said; empty where neither is known."""
    own = getattr(request.user, "zone", "")
    name = own or request.COOKIES.get(COOKIE, "")
    return name if name in known_zones() else ""


def show_in(request: HttpRequest, zone: str) -> None:
    """Show times of this request in a competition's zone, unless its viewer has one."""
    if not chosen_zone(request):
        timezone.activate(ZoneInfo(zone))


class ZoneMiddleware:
    """Pages of people are shown in their zone. Programs, the admin and files get UTC as ever."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            timezone.deactivate()

    def process_view(self, request: HttpRequest, view: object, *_: object) -> None:
        if hasattr(view, "audience") and (zone := chosen_zone(request)):
            timezone.activate(ZoneInfo(zone))
