"""Tags of notifications: what the header tells a signed-in person, and what a class was told."""

from __future__ import annotations

from django import template

from leaderboard.accounts.models import User
from leaderboard.competitions.access import PageContext

from .. import notices
from ..models import Announcement

register = template.Library()

MOST_ANNOUNCEMENTS = 30


@register.simple_tag
def header_of(user: User) -> notices.PageHeader:
    """What the header shows a signed-in person."""
    return notices.header_of(user)


@register.simple_tag
def announcements_for(page_context: PageContext) -> list[Announcement]:
    """The announcements: for members those written to them, for hosts all that were not withdrawn."""
    found = Announcement.objects.filter(competition=page_context.competition)
    if page_context.membership is not None:
        return list(found.for_user(page_context.user)[:MOST_ANNOUNCEMENTS])
    return list(found.filter(withdrawn_at=None)[:MOST_ANNOUNCEMENTS]) if page_context.assists else []
