"""Services and queries for notices: write, count and mark them as read; people's choices; names in notices."""

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

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.models import User
from leaderboard.accounts.people import find_viewer
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, Submission, Team

from .models import Delivery, Notice, NoticeChoice, NoticeKind, email_due_at

log = logging.getLogger(__name__)

LONGEST_TITLE, LONGEST_TEXT = 200, 20_000
LATEST = 3
# A text, or a function that returns it in the active language.
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
    """Write one notice per active person, with an e-mail if they chose that for this kind; returns how many.

    Runs in the caller's transaction and never raises: errors are logged and the caller's work is kept. `link` is a path
    of this site; `text` is plain text (Markdown in announcements) that all readers may see; callables are called in the
    language of each reader. With a `key` each person is notified once, however often this is called. Names of people,
    teams and files must be written with `mark_mention`.
    """
    try:
        with transaction.atomic():
            notices = _build_notices(list(users), kind, competition, title, text, link, key)
            # Conflicts: another process has just notified these people with the same key.
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
    """Notify the members of a team, except `without`; the default link is the team's page."""
    people = User.objects.filter(memberships__team=team)
    if without is not None:
        people = people.exclude(pk=without.pk)
    link = link or reverse("team", kwargs={"slug": team.competition.slug})
    notify(people, kind=kind, competition=team.competition, title=title, text=text, link=link, key=key)


def _texts_by_language(words: TextOrCallable, users: Iterable[User]) -> dict[str, str]:
    """Language → text, for the languages of these people."""
    found = {}
    for language in {user.notification_language for user in users}:
        with translation.override(language):
            found[language] = words if isinstance(words, str) else words()
    return found


def _site_path(link: str) -> str:
    """The link if it is a path of this site, else "": a notice must not lead to another site."""
    is_path = link.startswith("/") and not link.startswith("//") and "\\" not in link and link.isprintable()
    return link if is_path and len(link) <= 300 else ""


def sends_mail() -> bool:
    """Whether this site has a mail server; without one notices are shown on the site only."""
    return bool(settings.ACCOUNT_EMAIL_VERIFICATION != "none")


@dataclass(frozen=True)
class PageHeader:
    """Facts about a signed-in person for the header of every page."""

    unread: int
    runs_any: bool
    """Whether the person hosts or assists in any competition, even without the right to open one."""


@on(accounts_hooks.viewer_facts)
def viewer_facts() -> dict[str, Any]:
    """Annotations for the account of a session, from which `header_of` is computed."""
    waiting = Notice.objects.filter(user=OuterRef("pk"), read_at=None)
    return {
        "unread_notices": count_rows(waiting, "user"),
        "hosts_any": Exists(Competition.hosts.through.objects.filter(user=OuterRef("pk"))),
        "assists_any": Exists(Competition.assistants.through.objects.filter(user=OuterRef("pk"))),
    }


def header_of(user: User) -> PageHeader:
    """The header of a person; no query for the account of a session, else one."""
    facts: Any = user if hasattr(user, "unread_notices") else find_viewer(user.pk)
    if facts is None:
        return PageHeader(0, runs_any=False)
    return PageHeader(unread=facts.unread_notices, runs_any=bool(facts.hosts_any or facts.assists_any))


def latest_of(user: User) -> list[Notice]:
    """The newest `LATEST` notices of a person, for the home page."""
    return list(Notice.objects.filter(user=user).select_related("competition").order_by("-created_at", "-pk")[:LATEST])


def mark_read(*, user: User, number: int | None = None) -> int:
    """Mark one notice of a person as read, or all; returns how many were unread."""
    mine = Notice.objects.filter(user=user, read_at=None)
    if number is not None:
        mine = mine.filter(pk=number)
    return mine.update(read_at=timezone.now())


def notice_choices_of(user: User) -> dict[NoticeKind, str]:
    """Kind → delivery chosen by a person or by default, in the order of `NoticeKind`."""
    chosen = dict(user.notice_choices.values_list("kind", "delivery"))
    return {kind: chosen.get(kind.value, kind.usual.value) for kind in NoticeKind}


def save_choices(*, user: User, choices: Mapping[NoticeKind, str]) -> None:
    """Store a person's choices and apply them to e-mails that are not due yet."""
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
# Texts are written with `mark_mention(team)` in place of `team.name`. A notice stores the plain text and the positions
# of the names in it. So deleting an account replaces its names at these positions and no other text that is the same.

# From Unicode's private use area; `mark_mention` removes these characters from names.
_BEGIN, _MIDDLE, _END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"{_BEGIN}(user|team|file):([^{_MIDDLE}]+){_MIDDLE}([^{_END}]*){_END}")


class Mention(NamedTuple):
    """Characters `start` to `end` of a notice's `field` are the name of a user, team or file (`kind`) with this key."""

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
    """(plain text of at most `longest` characters, its mentions) from a text with marks of `mark_mention`."""
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
    """(text with replaced names, mentions with new positions); `name_of` returns None to keep a name."""
    plain, found, read = "", list[Mention](), 0
    for one in sorted(one for one in mentions if one.field == field):
        plain += text[read : one.start]
        old = text[one.start : one.end]
        new = name_of(one, old)
        name = old if new is None else new
        found.append(one._replace(start=len(plain), end=len(plain) + len(name)))
        plain, read = plain + name, one.end
    return plain + text[read:], found
