"""Notices: written, counted, read, and how each person wants them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone, translation

from leaderboard.accounts.models import User
from leaderboard.accounts.viewers import find_viewer
from leaderboard.common.clock import database_now
from leaderboard.common.subqueries import count_rows
from leaderboard.competitions.models import Competition

from .models import Notice, NoticeChoice
from .models.mentions import extract_mentions
from .models.notice import Delivery, NoticeKind, email_due_at

log = logging.getLogger(__name__)

LONGEST_TITLE, LONGEST_TEXT = 200, 20_000
# A text, or what says it in the language that is active then.
TextOrCallable = str | Callable[[], str]
# Nobody counts further, and the database need not either.
MAX_UNREAD_COUNT = 100


def notify(
    users: Iterable[User],
    *,
    kind: str,
    competition: Competition | None,
    title: TextOrCallable,
    text: TextOrCallable,
    link: str,
    key: str = "",
) -> int:
    """Notify people: one notice each, and an e-mail as they chose for this kind; gives how many were notified.

    Part of the caller's transaction, and never raises: what went wrong is in the log, and the caller's work stands.
    `kind` is a value of `Kind`, `link` a path of this site, `text` plain text (Markdown in announcements) without
    anything that its readers may not see; words to call are asked for in the language of each reader. With a `key`
    each person is notified once, however often this is called. Names of people, teams and files are written by
    `mention`.
    """
    try:
        with transaction.atomic():
            return _create_notices(
                list(users), kind=kind, competition=competition, title=title, text=text, link=link, key=key
            )
    except Exception:
        log.exception("a notice could not be written: %s", kind)
        return 0


def _create_notices(
    users: list[User],
    *,
    kind: str,
    competition: Competition | None,
    title: TextOrCallable,
    text: TextOrCallable,
    link: str,
    key: str,
) -> int:
    known = NoticeKind(kind) if kind in NoticeKind.values else NoticeKind.OTHER
    people = {user.pk: user for user in users if user.is_active}
    if key:
        for pk in Notice.objects.filter(key=key, user__in=people).values_list("user", flat=True):
            del people[pk]
    chosen = dict(NoticeChoice.objects.filter(user__in=people, kind=known).values_list("user", "delivery"))
    now, posts = database_now(), sends_mail()
    titles, texts = _texts_by_language(title, people.values()), _texts_by_language(text, people.values())
    notices = []
    for pk, user in people.items():
        delivery = chosen.get(pk, known.usual)
        if delivery == Delivery.NONE and known.may_be_silent:
            continue
        shown_title, in_title = extract_mentions(
            "title", " ".join(titles[user.notification_language].split()), LONGEST_TITLE
        )
        shown_text, in_text = extract_mentions(
            "text", texts[user.notification_language].replace("\0", "").strip(), LONGEST_TEXT
        )
        notices.append(
            Notice(
                user=user,
                competition=competition,
                kind=known,
                title=shown_title,
                text=shown_text,
                mentions=[*in_title, *in_text],
                link=_site_path(link),
                key=key,
                created_at=now,
                mail_at=email_due_at(user, delivery, now) if posts else None,
            )
        )
    # People whom another process notified of the same meanwhile are skipped.
    Notice.objects.bulk_create(notices, batch_size=500, ignore_conflicts=bool(key))
    return len(notices)


def _texts_by_language(words: TextOrCallable, users: Iterable[User]) -> dict[str, str]:
    """Language → the words in it, for the languages of these people."""
    found = {}
    for language in {user.notification_language for user in users}:
        with translation.override(language):
            found[language] = words if isinstance(words, str) else words()
    return found


def _site_path(link: str) -> str:
    """A path of this site; a notice leads nowhere else."""
    is_path = link.startswith("/") and not link.startswith("//") and "\\" not in link and link.isprintable()
    return link if is_path and len(link) <= 300 else ""


def sends_mail() -> bool:
    """Whether this installation has a mail server; without one everything is on the page alone."""
    return bool(settings.ACCOUNT_EMAIL_VERIFICATION != "none")


def unread_count(user: User) -> int:
    """How many notices a person has not read, up to a hundred; one query."""
    return Notice.objects.filter(user=user, read_at=None).order_by()[:MAX_UNREAD_COUNT].count()


@dataclass(frozen=True)
class PageHeader:
    """What every page shows a signed-in person in its header."""

    unread: int
    runs_any: bool
    """Whether the person hosts or assists anywhere, also without the right to open competitions."""


def viewer_facts() -> dict[str, Any]:
    """What `header_of` tells of a viewer, to annotate on their account."""
    waiting = Notice.objects.filter(user=OuterRef("pk"), read_at=None)
    return {
        "unread_notices": count_rows(waiting, "user"),
        "hosts_any": Exists(Competition.hosts.through.objects.filter(user=OuterRef("pk"))),
        "assists_any": Exists(Competition.assistants.through.objects.filter(user=OuterRef("pk"))),
    }


def header_of(user: User) -> PageHeader:
    """No query for the account of a session, one for an account that was found in another way."""
    facts: Any = user if hasattr(user, "unread_notices") else find_viewer(user.pk)
    if facts is None:
        return PageHeader(0, runs_any=False)
    return PageHeader(unread=facts.unread_notices, runs_any=bool(facts.hosts_any or facts.assists_any))


def mark_read(*, user: User, number: int | None = None) -> int:
    """Note that a person has read a notice, or all of them; gives how many were unread."""
    mine = Notice.objects.filter(user=user, read_at=None)
    if number is not None:
        mine = mine.filter(pk=number)
    return mine.update(read_at=timezone.now())


def notice_choices_of(user: User) -> dict[NoticeKind, str]:
    """How a person wants each kind, in the order of the kinds."""
    chosen = dict(user.notice_choices.values_list("kind", "delivery"))
    return {kind: chosen.get(kind.value, kind.usual.value) for kind in NoticeKind}


def save_choices(*, user: User, choices: Mapping[NoticeKind, str]) -> None:
    """Store how a person wants kinds of notices; waiting e-mails are delayed or brought forward accordingly."""
    now = database_now()
    with transaction.atomic():
        for kind, delivery in choices.items():
            if delivery == Delivery.NONE and not kind.may_be_silent:
                delivery = Delivery.PAGE
            NoticeChoice.objects.update_or_create(user=user, kind=kind, defaults={"delivery": delivery})
            waiting = Notice.objects.filter(user=user, kind=kind, mail_at__isnull=False, mail_claim=None)
            waiting.update(mail_at=email_due_at(user, delivery, now))
