"""Names in notices, stored as references; and hooks for export and deletion of a person's data.

Notices are written with `mark_mention(team)` in place of `team.name`, and store the plain text and the positions of the
names in it. So deleting an account replaces its names at these positions and no other text that is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.hooks import NAMELESS, Leaving, PersonalData
from leaderboard.accounts.models import User
from leaderboard.common.hooks import on
from leaderboard.competitions.models import Submission, Team

from .kinds import NoticeKind
from .models import Notice

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


def extract_mentions(field: str, text: str, max_characters: int) -> tuple[str, list[Mention]]:
    """(plain text of at most `max_characters`, its mentions) from a text with marks of `mark_mention`."""
    plain, mentions, end = "", list[Mention](), 0
    for mark in _MARKED.finditer(text):
        plain += text[end : mark.start()]
        mentions.append(Mention(field, len(plain), len(plain) + len(mark[3]), mark[1], mark[2]))
        plain, end = plain + mark[3], mark.end()
    shown = [
        mention._replace(end=min(mention.end, max_characters)) for mention in mentions if mention.start < max_characters
    ]
    return (plain + text[end:])[:max_characters], shown


def replace_mentions(
    field: str, text: str, mentions: list[Mention], name_of: Callable[[Mention, str], str | None]
) -> tuple[str, list[Mention]]:
    """(text with replaced names, mentions with new positions); `name_of` returns None to keep a name."""
    plain, replaced, end = "", list[Mention](), 0
    for mention in sorted(mention for mention in mentions if mention.field == field):
        plain += text[end : mention.start]
        old = text[mention.start : mention.end]
        new = name_of(mention, old)
        name = old if new is None else new
        replaced.append(mention._replace(start=len(plain), end=len(plain) + len(name)))
        plain, end = plain + name, mention.end
    return plain + text[end:], replaced


# --- export and deletion ----------------------------------------------------------------------------------------

# Announcements are written by hosts and are not changed.
KINDS_OF_THE_SITE = [kind for kind in NoticeKind if kind != NoticeKind.ANNOUNCEMENT]


@on(accounts_hooks.export)
def export_notices(*, account: User, at: datetime) -> PersonalData:
    names = ("kind", "title", "text", "created_at", "read_at", "mailed_at")
    return PersonalData({"notices": list(account.notices.values(*names))})


@on(accounts_hooks.forget)
def replace_names(*, leaving: Leaving) -> None:
    """Replace names of the person, their teams and their files in notices to others, at the stored mentions only.

    Confirmed addresses are replaced anywhere in a notice, because they can belong to no other person.
    """
    living = set(Team.objects.filter(competition__in=leaving.competitions).values_list("pk", flat=True))
    # A team of one is named after its member, with a number if the name was taken.
    own_name = re.compile(rf"{re.escape(leaving.account.get_username())}(?: \d+)?", re.IGNORECASE)
    number = str(leaving.account.pk)

    def name_of(mention: Mention, old: str) -> str | None:
        if mention.kind == "address":
            return NAMELESS
        if mention.kind == "user":
            return NAMELESS if mention.key == number else None
        if mention.kind == "file":
            return leaving.files.get(mention.key)
        given_up = int(mention.key) not in living and own_name.fullmatch(old)
        return NAMELESS if given_up else leaving.teams.get(int(mention.key))

    addresses = re.compile("|".join(map(re.escape, leaving.addresses)) or "(?!)", re.IGNORECASE)
    notices = Notice.objects.filter(competition__in=leaving.competitions, kind__in=KINDS_OF_THE_SITE)
    for notice in notices.only("title", "text", "mentions").iterator(chunk_size=500):
        mentions = [Mention(*values) for values in notice.mentions]
        title, in_title = replace_mentions(
            "title", notice.title, _add_address_mentions(addresses, "title", notice.title, mentions), name_of
        )
        text, in_text = replace_mentions(
            "text", notice.text, _add_address_mentions(addresses, "text", notice.text, mentions), name_of
        )
        if (title, text) != (notice.title, notice.text):
            Notice.objects.filter(pk=notice.pk).update(title=title[:200], text=text, mentions=[*in_title, *in_text])


def _add_address_mentions(addresses: re.Pattern[str], where: str, text: str, mentions: list[Mention]) -> list[Mention]:
    """The mentions, with further ones for addresses outside of them."""
    spans = [(mention.start, mention.end) for mention in mentions if mention.field == where]
    addresses_at = [address.span() for address in addresses.finditer(text)]
    free = [(start, end) for start, end in addresses_at if all(end <= first or start >= last for first, last in spans)]
    return [*mentions, *(Mention(where, start, end, "address", "") for start, end in free)]
