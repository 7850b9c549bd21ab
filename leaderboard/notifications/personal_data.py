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
from .models import Notice

# Announcements are written by hosts and are not changed.
KINDS_OF_THE_SITE = [kind for kind in NoticeKind if kind != NoticeKind.ANNOUNCEMENT]


@on(accounts_hooks.export)
def export_notices(*, account: User, at: datetime) -> PersonalData:
    names = ("kind", "title", "text", "created_at", "read_at", "mailed_at")
    return PersonalData({"notices": list(account.notices.values(*names))})


@on(accounts_hooks.forget)
def replace_names(*, leaving: Leaving) -> None:
    """Replace quoted names of the person, their teams and their files in notices to others that mention them.

    Confirmed addresses are replaced anywhere in a notice, because they can belong to no other person.
    """
    living = set(Team.objects.filter(competition__in=leaving.competitions).values_list("pk", flat=True))
    # A team of one is named after its member, with a number if the name was taken.
    own_name = re.compile(rf"{re.escape(leaving.account.get_username())}(?: \d+)?", re.IGNORECASE)
    number = str(leaving.account.pk)

    def name_of(kind: str, key: str, old: str) -> str:
        if kind == "user":
            return NAMELESS if key == number else old
        if kind == "submission":
            return leaving.files.get(key, old)
        given_up = int(key) not in living and own_name.fullmatch(old)
        return NAMELESS if given_up else leaving.teams.get(int(key), old)

    addresses = re.compile("|".join(map(re.escape, leaving.addresses)) or "(?!)", re.IGNORECASE)
    notices = Notice.objects.filter(competition__in=leaving.competitions, kind__in=KINDS_OF_THE_SITE)
    for notice in notices.only("title", "text", "mentions").order_by("pk").iterator(chunk_size=500):
        text, mentions = notice.text, []
        for kind, key, old in notice.mentions:
            new = name_of(kind, key, old)
            text = text.replace(f"“{old}”", f"“{new}”")
            mentions.append([kind, key, new])
        title, text = addresses.sub(NAMELESS, notice.title), addresses.sub(NAMELESS, text)
        if (title, text, mentions) != (notice.title, notice.text, notice.mentions):
            Notice.objects.filter(pk=notice.pk).update(title=title[:200], text=text, mentions=mentions)
