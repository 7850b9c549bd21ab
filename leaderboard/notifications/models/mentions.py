"""Names of people, teams and files in the text of a notice, stored as references.

A writer puts `mention(team)` in place of `team.name`. What is stored is the plain text and where in it which thing is
named, so that an account that is deleted leaves these places alone, whatever else is called the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Submission, Team

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
    """The name of a person, a team or a file, marked for `parted`."""
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
