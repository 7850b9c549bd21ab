"""Services for hosts' announcements to the class or to a part of it."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards.scores import sign_of
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_values
from leaderboard.competitions.models import Competition, Membership, Standing, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import CannotHost

from . import hooks, notices
from .models import Announcement, Notice, NoticeKind


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
        is_in_section = Q(pk__in=[])
        for people in hooks.people_of_section(competition=competition, section=section):
            is_in_section |= Q(user__in=people)
        members = members.filter(is_in_section)
    return User.objects.filter(is_active=True, pk__in=members.values("user"))


def available_audiences(competition: Competition) -> list[Announcement.Audience]:
    """The audiences to offer: `BELOW_BASELINE` only with a baseline on the public board, and never `TEAM`."""
    has_baseline = _best_baseline(competition) is not None
    choices = [one for one in Announcement.Audience if one != Announcement.Audience.TEAM]
    return [one for one in choices if has_baseline or one != Announcement.Audience.BELOW_BASELINE]


def section_sizes(competition: Competition) -> dict[str, int]:
    """Section → number of people that an announcement to it reaches; one query."""
    return {name: size for sizes in hooks.section_sizes(competition=competition) for name, size in sizes.items()}


def _best_baseline(competition: Competition) -> float | None:
    """Sort key of the best baseline on the public board; None without one."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return None
    sign = sign_of(ground_truth)
    shown = (sign * row.value for row in boards.baseline_rows(ground_truth, Split.PUBLIC) if row.value is not None)
    return min(shown, default=None)


def announce(
    *,
    competition: Competition,
    user: User,
    title: str,
    text: str,
    audience: str = Announcement.Audience.ALL,
    section: str = "",
    team: Team | None = None,
    is_pinned: bool = False,
    key: str = "",
) -> Announcement:
    """Send an announcement; with a `key` that was used before, return the first one instead.

    Raises `CannotHost` for an empty audience.
    """
    key = key or Announcement.new_key()
    people = list(announcement_readers(competition, audience, section, team))
    section = team.name if team is not None else section
    if not people and audience != Announcement.Audience.ALL:
        raise CannotHost(_("This audience is empty right now, so nothing was sent."))
    fields = {"title": title, "text": text, "audience": audience, "section": section, "is_pinned": is_pinned}
    try:
        with transaction.atomic():
            sent = Announcement(competition=competition, by=user, key=key, reached=len(people), **fields)
            sent.save(force_insert=True)
            notices.notify(
                people,
                kind=NoticeKind.ANNOUNCEMENT,
                competition=competition,
                title=title,
                text=text,
                link=reverse("overview", kwargs={"slug": competition.slug}) + f"#announcement-{sent.pk}",
                key=key,
            )
            after = audit_values({**fields, "reached": len(people)})
            AuditEntry.append(AuditEvent.ANNOUNCED, user=user, competition=competition, about=title, after=after)
    except IntegrityError:
        return Announcement.objects.get(key=key, competition=competition)
    return sent


def edit_announcement(*, announcement: Announcement, user: User, title: str, text: str, is_pinned: bool) -> None:
    """Change the text, also in people's notices; sent e-mails cannot be changed. Raises `CannotHost`."""
    with transaction.atomic():
        held = _lock_announcement(announcement)
        before = {name: getattr(held, name) for name in ("title", "text", "is_pinned")}
        after = {"title": title, "text": text, "is_pinned": is_pinned}
        if before == after:
            return
        moved = {"edited_at": database_now()} if (title, text) != (held.title, held.text) else {}
        Announcement.objects.filter(pk=held.pk).update(**after, **moved)
        Notice.objects.filter(key=held.key).update(title=title, text=text)
        AuditEntry.append(
            AuditEvent.ANNOUNCEMENT_EDITED,
            user=user,
            competition=held.competition,
            about=title,
            before=audit_values(before),
            after=audit_values(after),
        )


def withdraw_announcement(*, announcement: Announcement, user: User) -> None:
    """Withdraw an announcement: it disappears from the overview, its notices say so, waiting e-mails are not sent.

    Raises `CannotHost` if it is withdrawn already.
    """
    with transaction.atomic():
        held = _lock_announcement(announcement)
        Announcement.objects.filter(pk=held.pk).update(withdrawn_at=database_now())
        Notice.objects.filter(key=held.key).update(
            title=_("Withdrawn: %(title)s") % {"title": held.title},
            text=_("The host withdrew this announcement."),
            mail_at=None,
        )
        AuditEntry.append(
            AuditEvent.ANNOUNCEMENT_WITHDRAWN,
            user=user,
            competition=held.competition,
            about=held.title,
            before=audit_values({"title": held.title, "text": held.text}),
        )


def _lock_announcement(announcement: Announcement) -> Announcement:
    held = (
        Announcement.objects.select_for_update(of=("self",)).select_related("competition").filter(pk=announcement.pk)
    ).first()
    if held is None or held.withdrawn_at is not None:
        raise CannotHost(_("This announcement has been withdrawn."))
    return held
