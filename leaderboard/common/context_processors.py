"""Template context for the frame of every page."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from leaderboard import __version__

from .outbox import sends_mail

THEMES = ("light", "dark")


def theme_of(request: HttpRequest) -> str:
    """The colour theme that the viewer chose; "" to follow the system's."""
    theme = request.COOKIES.get("theme", "")
    return theme if theme in THEMES else ""


def frame_context(request: HttpRequest) -> dict[str, Any]:
    return {
        "theme": theme_of(request),
        "now": timezone.now(),
        "version": __version__,
        "has_fonts": bool(settings.STATICFILES_DIRS),
        "is_open": settings.OPEN_SIGN_UP and settings.LOCAL_PASSWORDS,
        "institutions": settings.INSTITUTIONS,
        "local_passwords": settings.LOCAL_PASSWORDS,
        "sends_mail": sends_mail(),
        "request_id": request.META.get("leaderboard.request_id", ""),
    }
