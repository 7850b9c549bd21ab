"""Notices for members of a team about each other."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Team
from leaderboard.notifications import notices
from leaderboard.notifications.models.mentions import mark_mention
from leaderboard.notifications.models.notice import NoticeKind


def notify_members(
    people: Iterable[User], competition: Competition, title: notices.TextOrCallable, words: notices.TextOrCallable
) -> None:
    link = reverse("team", kwargs={"slug": competition.slug})
    notices.notify(people, kind=NoticeKind.TEAM, competition=competition, title=title, text=words, link=link)


def notify_of_joining(team: Team, user: User) -> None:
    """The others of a team read who came by its link, which may have gone further than they meant."""
    words = gettext_lazy(
        "“%(name)s” joined “%(team)s” by the invitation link, sees its files and shares its attempts. If that was not "
        "meant, the captain can remove members and make a new link."
    )
    names = {"name": mark_mention(user), "team": mark_mention(team)}
    notify_members(
        _other_members(team, user), team.competition, lambda: _("Somebody joined your team"), lambda: words % names
    )


def notify_of_leaving(team: Team, user: User, *, heir: User | None) -> None:
    """The others of a team read who is gone, and one of them perhaps that they lead it now."""
    words = gettext_lazy("“%(name)s” is not in “%(team)s” any more. Files handed in so far stay with the team.")
    names = {"name": mark_mention(user), "team": mark_mention(team)}
    notify_members(
        _other_members(team, user), team.competition, lambda: _("Somebody left your team"), lambda: words % names
    )
    if heir is not None:
        notify_new_captain(heir, team)


def notify_new_captain(user: User, team: Team) -> None:
    words = gettext_lazy("You lead “%(team)s” now: you may remove members and decide about merging.")
    notify_members(
        [user], team.competition, lambda: _("You are the captain"), lambda: words % {"team": mark_mention(team)}
    )


def _other_members(team: Team, user: User) -> list[User]:
    return [held.user for held in team.memberships.select_related("user").exclude(user=user)]
