"""Tags of grades."""

from __future__ import annotations

from django import template

from leaderboard.competitions.access import PageContext
from leaderboard.competitions.templatetags.leaderboard import number_in

from .. import marks

register = template.Library()


@register.filter
def points(value: float | str | None, decimals: int) -> str:
    """Points of a grade, a dash where there is none."""
    return marks.points_text(number_in(value), decimals)


@register.filter
def is_graded(page_context: PageContext) -> bool:
    """Whether the viewer has a team and students can see their grades; `membership_facts` is where it is found."""
    return page_context.competition.revealed_at is not None and getattr(page_context.membership, "is_graded", False)
