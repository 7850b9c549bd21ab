"""The query for the user of a session."""

from __future__ import annotations

from typing import Any

from leaderboard.common.queries import only_row

from . import hooks
from .models import User


def find_viewer(key: int) -> User | None:
    """The user with all annotations that the frame of a page needs (`hooks.viewer_facts`), in one query."""
    facts: dict[str, Any] = {name: fact for found in hooks.viewer_facts() for name, fact in found.items()}
    return only_row(User.objects.annotate(**facts).filter(pk=key))
