"""Tags of grades."""

from __future__ import annotations

from django import template

from leaderboard.competitions.templatetags.leaderboard import number_in

from .. import marks

register = template.Library()


@register.filter
def points(value: float | str | None, decimals: int) -> str:
    """Points of a grade, a dash where there is none."""
    return marks.points_text(number_in(value), decimals)
