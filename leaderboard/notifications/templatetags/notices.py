"""Template tags for notifications: facts for the header, newest notices, announcements of a competition."""

from __future__ import annotations

from django import template

from leaderboard.competitions.access import PageContext

from .. import notices
from ..models import Announcement

register = template.Library()
register.simple_tag(notices.header_of)
register.simple_tag(notices.latest_of, name="latest_notices")

MOST_ANNOUNCEMENTS = 30


@register.simple_tag
def announcements_for(page_context: PageContext) -> list[Announcement]:
    """Announcements that are not withdrawn: for members those sent to them, for hosts and assistants all."""
    found = Announcement.objects.filter(competition=page_context.competition)
    if page_context.membership is not None:
        return list(found.for_user(page_context.user)[:MOST_ANNOUNCEMENTS])
    return list(found.filter(withdrawn_at=None)[:MOST_ANNOUNCEMENTS]) if page_context.assists else []
