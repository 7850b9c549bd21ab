"""Hooks for export and deletion of a person's data: their notices, and their names in notices to others."""

from __future__ import annotations

import re
from datetime import datetime

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.hooks import NAMELESS, Leaving, PersonalData
from leaderboard.accounts.models import User
from leaderboard.common.hooks import on
from leaderboard.competitions.models import Team

from .kinds import NoticeKind
from .mentions import Mention, replace_mentions
from .models import Notice

# Kinds whose texts mention people, teams or files. Announcements are written by hosts and are not changed.
KINDS = (NoticeKind.TEAM, NoticeKind.DECISION, NoticeKind.ROLE, NoticeKind.FILE_FAILED)


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
    notices = Notice.objects.filter(competition__in=leaving.competitions, kind__in=KINDS)
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
