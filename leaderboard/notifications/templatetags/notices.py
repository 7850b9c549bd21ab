"""Template tags for notifications: facts for the header, newest notices, announcements of a competition."""

from __future__ import annotations

from django import template

from leaderboard.competitions.access import PageContext

from .. import queries
from ..models import Announcement

register = template.Library()
register.simple_tag(queries.page_header)
register.simple_tag(queries.latest_notices)

MAX_ANNOUNCEMENTS = 30


@register.simple_tag
def announcements_for(page_context: PageContext) -> list[Announcement]:
    """Announcements that are not withdrawn: for members those sent to them, for hosts and assistants all."""
    announcements = Announcement.objects.filter(competition=page_context.competition)
    if page_context.membership is not None:
        return list(announcements.for_user(page_context.user)[:MAX_ANNOUNCEMENTS])
    return list(announcements.filter(withdrawn_at=None)[:MAX_ANNOUNCEMENTS]) if page_context.assists else []
