"""Hooks by which other apps add to notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from leaderboard.common.hooks import Hook
from leaderboard.competitions.models import Competition


@Hook
def section_sizes(*, competition: Competition) -> Mapping[str, int]:
    """Section → number of its members who compete."""
    raise NotImplementedError


@Hook
def people_of_section(*, competition: Competition, section: str) -> QuerySet[Any, Any]:
    """Subquery of the primary keys of the accounts in a section."""
    raise NotImplementedError
