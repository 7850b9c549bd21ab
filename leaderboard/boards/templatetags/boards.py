"""Template tags for what boards show beside the score."""

from __future__ import annotations

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.common.library_messages import translated_message
from leaderboard.competitions.templatetags.leaderboard import score

from .. import secondary

register = template.Library()

register.simple_tag(secondary.secondary_metrics_of)


@register.simple_tag(takes_context=True)
def secondary_value(context: Context, shown: secondary.ShownSecondaryValue | None, style: str = "") -> SafeString:
    """The value of a secondary metric, or a dash with the reason on hover; with the style `why` it is written out."""
    if shown is None or shown.value is None:
        dash = '– <span class="muted tiny">{}</span>' if style else '<span title="{}">–</span>'
        return format_html(dash, translated_message(shown.problem) if shown else "")
    return score(context, shown.value)
