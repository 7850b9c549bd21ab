"""What the frame around every page shows."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

THEMES = ("light", "dark")


def frame(request: HttpRequest) -> dict[str, Any]:
    """`theme` is empty while the viewer follows their system."""
    theme = request.COOKIES.get("theme", "")
    return {"theme": theme if theme in THEMES else "", "now": timezone.now()}
