"""Tags of grades."""

from __future__ import annotations

from django import template

from leaderboard.competitions.access import Visit
from leaderboard.competitions.templatetags.leaderboard import number_in

from .. import marks

register = template.Library()


@register.filter
def points(value: float | str | None, decimals: int) -> str:
    """Points of a grade, a dash where there is none."""
    return marks.points_text(number_in(value), decimals)


@register.filter
def is_graded(visit: Visit) -> bool:
    """Whether the viewer has a team and students can see their grades; `membership_facts` is where it is found."""
    return visit.competition.revealed_at is not None and getattr(visit.membership, "is_graded", False)
