"""Notices: written, counted, read, and how each person wants them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone, translation

from leaderboard.accounts.models import User
from leaderboard.accounts.viewers import find_viewer
from leaderboard.common.clock import database_now
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, Submission, Team

from .models import Delivery, Notice, NoticeChoice, NoticeKind, email_due_at

log = logging.getLogger(__name__)

LONGEST_TITLE, LONGEST_TEXT = 200, 20_000
LATEST = 3
# A text, or what says it in the language that is active then.
TextOrCallable = str | Callable[[], str]


def notify(
    users: Iterable[User],
    *,
    kind: NoticeKind,
    competition: Competition | None,
    title: TextOrCallable,
    text: TextOrCallable,
    link: str,
    key: str = "",
) -> int:
    """Notify people: one notice each, and an e-mail as they chose for this kind; gives how many were notified.

    Part of the caller's transaction, and never raises: what went wrong is in the log, and the caller's work stands.
    `link` is a path of this site, `text` plain text (Markdown in announcements) without anything that its readers may
    not see; words to call are asked for in the language of each reader. With a `key` each person is notified once,
    however often this is called. Names of people, teams and files are written by `mark_mention`.
    """
    try:
        with transaction.atomic():
            notices = _build_notices(list(users), kind, competition, title, text, link, key)
            # People whom another process notified of the same meanwhile are skipped.
            Notice.objects.bulk_create(notices, batch_size=500, ignore_conflicts=bool(key))
            return len(notices)
    except Exception:
        log.exception("a notice could not be written: %s", kind)
        return 0


def _build_notices(
    users: list[User],
    kind: NoticeKind,
    competition: Competition | None,
    title: TextOrCallable,
    text: TextOrCallable,
    link: str,
    key: str,
) -> list[Notice]:
    people = {user.pk: user for user in users if user.is_active}
    if key:
        for pk in Notice.objects.filter(key=key, user__in=people).values_list("user", flat=True):
            del people[pk]
    chosen = dict(NoticeChoice.objects.filter(user__in=people, kind=kind).values_list("user", "delivery"))
    now, posts = database_now(), sends_mail()
    titles, texts = _texts_by_language(title, people.values()), _texts_by_language(text, people.values())
    found = []
    for pk, user in people.items():
        delivery = chosen.get(pk, kind.usual)
        if delivery == Delivery.NONE and kind.may_be_silent:
            continue
        language = user.notification_language
        shown_title, in_title = extract_mentions("title", " ".join(titles[language].split()), LONGEST_TITLE)
        shown_text, in_text = extract_mentions("text", texts[language].replace("\0", "").strip(), LONGEST_TEXT)
        found.append(
            Notice(
                user=user,
                competition=competition,
                kind=kind,
                title=shown_title,
                text=shown_text,
                mentions=[*in_title, *in_text],
                link=_site_path(link),
                key=key,
                created_at=now,
                mail_at=email_due_at(user, delivery, now) if posts else None,
            )
        )
    return found


def notify_team(
    team: Team,
    *,
    kind: NoticeKind,
    title: TextOrCallable,
    text: TextOrCallable,
    link: str = "",
    key: str = "",
    without: User | None = None,
) -> None:
    """Notify the members of a team; the notice leads to their team's page where nothing else is said."""
    people = User.objects.filter(memberships__team=team)
    if without is not None:
        people = people.exclude(pk=without.pk)
    link = link or reverse("team", kwargs={"slug": team.competition.slug})
    notify(people, kind=kind, competition=team.competition, title=title, text=text, link=link, key=key)


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


def latest_of(user: User) -> list[Notice]:
    """The newest few notices of a person, for the home page."""
    return list(Notice.objects.filter(user=user).select_related("competition").order_by("-created_at", "-pk")[:LATEST])


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
            waiting = Notice.objects.filter(user=user, kind=kind, mail_at__isnull=False)
            waiting.update(mail_at=email_due_at(user, delivery, now))


# --- names in notices, stored as references ----------------------------------------------------------------------
#
# A writer puts `mark_mention(team)` in place of `team.name`. What is stored is the plain text and where in it which
# thing is named, so that an account that is deleted leaves these places alone, whatever else is called the same.

# Of Unicode's private use: names and file names have no such characters, because they are taken out here.
_BEGIN, _MIDDLE, _END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"{_BEGIN}(user|team|file):([^{_MIDDLE}]+){_MIDDLE}([^{_END}]*){_END}")


class Mention(NamedTuple):
    """The characters from `start` to `end` of a notice's `field` name a `user`, a `team` or a `file` by its key."""

    field: str
    start: int
    end: int
    kind: str
    key: str


def mark_mention(named: User | Team | Submission) -> str:
    """The name of a person, a team or a file, marked for `extract_mentions`."""
    if isinstance(named, User):
        kind, text = "user", named.get_username()
    elif isinstance(named, Team):
        kind, text = "team", named.name
    else:
        kind, text = "file", named.file_name
    return f"{_BEGIN}{kind}:{named.pk}{_MIDDLE}{re.sub(f'[{_BEGIN}-{_END}]', '', text)}{_END}"


def extract_mentions(field: str, text: str, longest: int) -> tuple[str, list[Mention]]:
    """The plain text of one with marks, cut at its longest, and what it mentions."""
    plain, found, read = "", list[Mention](), 0
    for one in _MARKED.finditer(text):
        plain += text[read : one.start()]
        found.append(Mention(field, len(plain), len(plain) + len(one[3]), one[1], one[2]))
        plain, read = plain + one[3], one.end()
    whole = [one._replace(end=min(one.end, longest)) for one in found if one.start < longest]
    return (plain + text[read:])[:longest], whole


def replace_mentions(
    field: str, text: str, mentions: list[Mention], name_of: Callable[[Mention, str], str | None]
) -> tuple[str, list[Mention]]:
    """The text with other names, and where they stand now; `name_of` gives None for a name that stays."""
    plain, found, read = "", list[Mention](), 0
    for one in sorted(one for one in mentions if one.field == field):
        plain += text[read : one.start]
        old = text[one.start : one.end]
        new = name_of(one, old)
        name = old if new is None else new
        found.append(one._replace(start=len(plain), end=len(plain) + len(name)))
        plain, read = plain + name, one.end
    return plain + text[read:], found
