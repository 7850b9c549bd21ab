"""Write notices, mark them as read, save a person's choices; send, edit and withdraw hosts' announcements."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common import outbox
from leaderboard.common.clock import database_now
from leaderboard.common.display_time import moment_text
from leaderboard.common.models import AuditEntry, AuditEvent, audit_values
from leaderboard.common.queries import locked_by_key
from leaderboard.competitions.models import Competition, Submission, Team
from leaderboard.competitions.services import CannotHost

from . import kinds
from .kinds import Delivery, NoticeKind, NoticeText
from .models import Announcement, Notice, NoticeChoice
from .queries import announcement_readers

log = logging.getLogger(__name__)

MAX_TITLE_CHARACTERS, MAX_TEXT_CHARACTERS = 200, 20_000
EMAIL_KIND = "notices"


def notify_people(
    notice: NoticeText, users: Iterable[User], *, competition: Competition | None, key: str = "", **facts: Any
) -> int:
    """Write a notice to each active person, with an e-mail if they chose that for its kind; returns how many.

    Runs in the caller's transaction and never raises: errors are logged and the caller's work is kept. With a `key`
    each person is notified once, however often this is called.

    `facts` are the values of the notice's placeholders, which all readers may see: texts, numbers, people, teams and
    submissions (written as names), times (in the competition's zone), and functions, called in each reader's language.
    """
    try:
        with transaction.atomic():
            people = {user.pk: user for user in users if user.is_active}
            if key:
                for pk in Notice.objects.filter(key=key, user__in=people).values_list("user", flat=True):
                    del people[pk]
            deliveries = _deliveries_of(notice.kind, people)
            rows = _build_notices(notice, [people[pk] for pk in deliveries], competition, key, facts)
            # Conflicts: another process has just notified these people with the same key.
            rows = Notice.objects.bulk_create(rows, batch_size=500, ignore_conflicts=bool(key))
            if outbox.sends_mail():
                mailed = [row for row in rows if deliveries[row.user_id] == Delivery.EMAIL and row.user.email]
                _queue_emails(mailed, key)
            return len(rows)
    except Exception:
        log.exception("a notice could not be written: %s", notice.kind)
        return 0


def notify_team(notice: NoticeText, team: Team, *, without: User | None = None, **facts: Any) -> None:
    """Notify the members of a team, except `without`. The fact `team` is its name."""
    members = User.objects.filter(memberships__team=team)
    if without is not None:
        members = members.exclude(pk=without.pk)
    notify_people(notice, members, competition=team.competition, team=team, **facts)


def notify_class(notice: NoticeText, competition: Competition, **facts: Any) -> None:
    """Notify all members of a competition, unless it is a draft."""
    if competition.launched_at is not None:
        members = User.objects.filter(memberships__competition=competition)
        notify_people(notice, members, competition=competition, **facts)


def _build_notices(
    notice: NoticeText, users: list[User], competition: Competition | None, key: str, facts: Mapping[str, Any]
) -> list[Notice]:
    now, texts = database_now(), {}
    for language in {user.notification_language for user in users}:
        with translation.override(language):
            texts[language] = _fill_in(notice, competition, facts)
    shared: dict[str, Any] = {"competition": competition, "kind": notice.kind, "key": key, "created_at": now}
    return [Notice(user=user, **shared, **texts[user.notification_language]) for user in users]


def _deliveries_of(kind: NoticeKind, people: Collection[int]) -> dict[int, str]:
    """Person → delivery of a kind, without those who have switched it off."""
    chosen = dict(NoticeChoice.objects.filter(user__in=people, kind=kind).values_list("user", "delivery"))
    deliveries = {pk: chosen.get(pk, kind.default) for pk in people}
    return {pk: way for pk, way in deliveries.items() if way != Delivery.NONE or not kind.may_be_off}


def _queue_emails(notices: list[Notice], key: str) -> None:
    """Queue the e-mails about new notices. Those with a key were stored without returning their numbers."""
    numbers = [notice.pk for notice in notices]
    if key:
        stored = Notice.objects.filter(key=key, mailed_at=None, user__in=[notice.user_id for notice in notices])
        numbers = list(stored.values_list("pk", flat=True))
    if numbers:
        outbox.queue_references(EMAIL_KIND, numbers)


def _fill_in(notice: NoticeText, competition: Competition | None, facts: Mapping[str, Any]) -> dict[str, object]:
    """Fields of a notice in the active language."""
    zone = competition.zone if competition else "UTC"
    values = {name: _fact_text(fact, zone) for name, fact in facts.items()}
    if competition:
        values |= {"competition": competition.title, "slug": competition.slug}
    title = " ".join((notice.title % values).split())[:MAX_TITLE_CHARACTERS]
    text = (notice.text % values).replace("\0", "").strip()[:MAX_TEXT_CHARACTERS]
    named = {name: fact for name, fact in facts.items() if isinstance(fact, User | Team | Submission)}
    mentions = [(fact._meta.model_name, str(fact.pk), values[name]) for name, fact in named.items()]
    return {"title": title, "text": text, "mentions": mentions, "link": notice.link % values}


def _fact_text(fact: Any, zone: str) -> Any:
    if isinstance(fact, User):
        return fact.get_username()
    if isinstance(fact, Team):
        return fact.name
    if isinstance(fact, Submission):
        return fact.file_name
    if isinstance(fact, datetime):
        return moment_text(fact, zone)
    return fact() if callable(fact) else fact


# --- a person's notices -----------------------------------------------------------------------------------------


def mark_read(*, user: User, number: int | None = None) -> int:
    """Mark one notice of a person as read, or all; returns how many were unread."""
    unread = Notice.objects.filter(user=user, read_at=None)
    if number is not None:
        unread = unread.filter(pk=number)
    with transaction.atomic():
        return locked_by_key(unread).update(read_at=timezone.now())


def save_choices(*, user: User, choices: Mapping[NoticeKind, str]) -> None:
    """Store a person's choices; they hold for e-mails that wait, too."""
    with transaction.atomic():
        for kind, delivery in choices.items():
            if delivery == Delivery.NONE and not kind.may_be_off:
                delivery = Delivery.PAGE
            NoticeChoice.objects.update_or_create(user=user, kind=kind, defaults={"delivery": delivery})


# --- announcements ----------------------------------------------------------------------------------------------


def send_announcement(
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
            facts: dict[str, Any] = {"title": title, "text": text, "announcement_id": sent.pk}
            notify_people(kinds.ANNOUNCEMENT, people, competition=competition, key=key, **facts)
            after = audit_values({**fields, "reached": len(people)})
            AuditEntry.append(AuditEvent.ANNOUNCED, user=user, competition=competition, about=title, after=after)
    except IntegrityError:
        return Announcement.objects.get(key=key, competition=competition)
    return sent


def edit_announcement(*, announcement: Announcement, user: User, title: str, text: str, is_pinned: bool) -> None:
    """Change the text, also in people's notices; sent e-mails cannot be changed. Raises `CannotHost`."""
    with transaction.atomic():
        locked = _lock_announcement(announcement)
        before = {name: getattr(locked, name) for name in ("title", "text", "is_pinned")}
        after = {"title": title, "text": text, "is_pinned": is_pinned}
        if before == after:
            return
        moved = {"edited_at": database_now()} if (title, text) != (locked.title, locked.text) else {}
        Announcement.objects.filter(pk=locked.pk).update(**after, **moved)
        locked_by_key(Notice.objects.filter(key=locked.key)).update(title=title, text=text)
        AuditEntry.append(
            AuditEvent.ANNOUNCEMENT_EDITED,
            user=user,
            competition=locked.competition,
            about=title,
            before=audit_values(before),
            after=audit_values(after),
        )


def withdraw_announcement(*, announcement: Announcement, user: User) -> None:
    """Withdraw an announcement: it disappears from the overview, its notices say so, waiting e-mails are not sent.

    Raises `CannotHost` if it is withdrawn already.
    """
    with transaction.atomic():
        locked = _lock_announcement(announcement)
        Announcement.objects.filter(pk=locked.pk).update(withdrawn_at=database_now())
        locked_by_key(Notice.objects.filter(key=locked.key)).update(
            title=_("Withdrawn: %(title)s") % {"title": locked.title},
            text=_("The host withdrew this announcement."),
        )
        AuditEntry.append(
            AuditEvent.ANNOUNCEMENT_WITHDRAWN,
            user=user,
            competition=locked.competition,
            about=locked.title,
            before=audit_values({"title": locked.title, "text": locked.text}),
        )


def _lock_announcement(announcement: Announcement) -> Announcement:
    locked = (
        Announcement.objects.select_for_update(of=("self",)).select_related("competition").filter(pk=announcement.pk)
    ).first()
    if locked is None or locked.withdrawn_at is not None:
        raise CannotHost(_("This announcement has been withdrawn."))
    return locked
