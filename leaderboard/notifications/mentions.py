"""Names in notices, stored as references.

Notices are written with `mark_mention(team)` in place of `team.name`, and store the plain text and the positions of the
names in it. So deleting an account replaces its names at these positions and no other text that is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Submission, Team

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
    kept = [
        mention._replace(end=min(mention.end, max_characters)) for mention in mentions if mention.start < max_characters
    ]
    return (plain + text[end:])[:max_characters], kept


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
