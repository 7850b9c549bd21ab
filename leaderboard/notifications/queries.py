"""Queries for a person's notices and choices, and for the readers of announcements."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.backend import find_viewer
from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.common.hooks import on
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.queries import count_rows
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import Competition, Membership, Standing, Submission, Team
from leaderboard.competitions.models.competition import Split

from .kinds import REMINDER_KEY, NoticeKind
from .models import Announcement, Notice

MAX_LATEST_NOTICES = 3
MAX_ANNOUNCEMENTS = 30


@on(accounts_hooks.viewer_facts)
def viewer_facts() -> dict[str, Any]:
    """Annotations for the account of a session: unread notices, and whether the person hosts or assists anywhere, even
    without the right to open a competition."""
    waiting = Notice.objects.filter(user=OuterRef("pk"), read_at=None)
    hosts_any = Exists(Competition.hosts.through.objects.filter(user=OuterRef("pk")))
    assists_any = Exists(Competition.assistants.through.objects.filter(user=OuterRef("pk")))
    return {"unread_notices": count_rows(waiting, "user"), "runs_any": hosts_any | assists_any}


def page_header_context(request: HttpRequest) -> dict[str, Any]:
    """Template context `page_header`, the viewer with `viewer_facts`; an account that has just signed in has none yet,
    and is read when a template needs them."""
    return {
        "page_header": SimpleLazyObject(
            lambda: request.user if hasattr(request.user, "unread_notices") else find_viewer(request.user.pk or 0)
        )
    }


def latest_notices(user: User, at: datetime) -> list[Notice]:
    """The newest notices of a person, for the home page; no reminder of a deadline that is over."""
    # Keys of reminders end with their deadline, as digits that sort like times.
    now_key = Concat(
        Value(REMINDER_KEY), Cast("competition_id", CharField()), Value(f":{at.astimezone(UTC):%Y%m%dT%H%M%S}")
    )
    is_over = Q(key__startswith=REMINDER_KEY, key__lte=now_key)
    notices = Notice.objects.filter(user=user).exclude(is_over).select_related("competition")
    return list(notices.order_by("-created_at", "-pk")[:MAX_LATEST_NOTICES])


def notice_choices_of(user: User) -> dict[NoticeKind, str]:
    """Kind → delivery chosen by a person or by default, in the order of `NoticeKind`."""
    chosen = dict(user.notice_choices.values_list("kind", "delivery"))
    return {kind: chosen.get(kind.value, kind.default.value) for kind in NoticeKind}


# --- announcements ----------------------------------------------------------------------------------------------


def announcements_for(page_context: PageContext) -> list[Announcement]:
    """Announcements that are not withdrawn: for members those sent to them, for hosts and assistants all."""
    competition = page_context.competition
    if page_context.membership is not None:
        return _announcements_for_member.rows(competition=competition.pk, user_id=page_context.membership.user_id)
    announcements = Announcement.objects.filter(competition=competition, withdrawn_at=None)
    return list(announcements[:MAX_ANNOUNCEMENTS]) if page_context.assists else []


@PreparedQuery
def _announcements_for_member(competition: int, user_id: int) -> QuerySet[Announcement]:
    return Announcement.objects.filter(competition=competition).for_account(user_id)[:MAX_ANNOUNCEMENTS]


def announcement_readers(
    competition: Competition, audience: str, section: str = "", team: Team | None = None
) -> QuerySet[User]:
    """The members that an announcement to this audience reaches now.

    Audiences depend only on the public board and the member's files, so getting an announcement reveals no secret.
    """
    members = Membership.objects.filter(competition=competition)
    if audience == Announcement.Audience.NO_VALID_FILE:
        valid = Submission.objects.filter(team=OuterRef("team"), status=Submission.Status.SCORED, hidden_at=None)
        members = members.filter(~Exists(valid), team__disqualified_at=None)
    elif audience == Announcement.Audience.BELOW_BASELINE:
        best = _best_baseline(competition)
        standings = Standing.objects.filter(ground_truth=competition.ground_truth, split=Split.PUBLIC)
        below = standings.none() if best is None else standings.filter(sort_key__gt=best)
        members = members.filter(team__in=below.values("team"))
    elif audience == Announcement.Audience.TEAM:
        members = members.filter(team=team)
    elif audience == Announcement.Audience.SECTION:
        members = members.filter(user__in=competitions_hooks.roster.people_of_section(competition, section))
    return User.objects.filter(is_active=True, pk__in=members.values("user"))


def available_audiences(competition: Competition) -> list[Announcement.Audience]:
    """The audiences to offer: `BELOW_BASELINE` only with a baseline on the public board, and never `TEAM`."""
    left_out = [Announcement.Audience.TEAM]
    if _best_baseline(competition) is None:
        left_out.append(Announcement.Audience.BELOW_BASELINE)
    return [audience for audience in Announcement.Audience if audience not in left_out]


def _best_baseline(competition: Competition) -> float | None:
    """Sort key of the best baseline on the public board; None without one."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return None
    sign = ground_truth.sort_sign
    shown = (sign * row.value for row in boards.baseline_rows(ground_truth, Split.PUBLIC) if row.value is not None)
    return min(shown, default=None)
