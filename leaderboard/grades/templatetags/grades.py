"""Template filters for grades."""

from __future__ import annotations

from django import template

from leaderboard.competitions.templatetags.leaderboard import number_in

from .. import marks

register = template.Library()


@register.filter
def points(value: float | str | None, decimals: int) -> str:
    """The points with this number of decimals, “–” for None."""
    return marks.points_text(number_in(value), decimals)
