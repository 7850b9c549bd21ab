"""What apps above add to accounts. An app appends its functions in `AppConfig.ready()`.

Functions of one hook are called in the order of `INSTALLED_APPS`: the core first, then what stands on it. An account is
deleted within one transaction, in this order: `obstacle_to_deleting`, `leave`, `forget`, `delete`, then its own row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from leaderboard.common.hooks import Hook

from .models import User

# --- signing up and signing in ----------------------------------------------------------------------------------


@Hook
def lets_in(*, code: str = "", invitation: str = "", join_card: str = "") -> bool:
    """Whether a join code, an invitation or a one-time link (its digest) lets its holder make an account."""
    raise NotImplementedError


@Hook
def address_confirmed(*, address: str) -> object:
    """An account has shown that an e-mail address is its own."""


@Hook
def student_number_confirmed(*, account: User) -> object:
    """An institution has named the student number of an account (`institution.people.student_numbers_of`)."""


@Hook
def viewer_facts() -> Mapping[str, Any]:
    """Name → what to annotate on the account of a session, for the frame of each page."""
    raise NotImplementedError


# --- taking one's data along ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PersonalFile:
    """A stored file of a person, and its name in the zip."""

    name: str
    key: str
    sha256: str


@dataclass(frozen=True)
class PersonalData:
    """What an app knows about a person: each of `texts` is a JSON file of its name."""

    texts: Mapping[str, object]
    files: Sequence[PersonalFile] = ()


@Hook
def export(*, account: User, at: datetime) -> PersonalData:
    """What a person may see themselves at this moment; no secrets and no other person's name."""
    raise NotImplementedError


# --- deleting an account ----------------------------------------------------------------------------------------

NAMELESS = "Former member"


@dataclass
class Leaving:
    """An account that is being deleted: what it is known by, and what was its own and is called otherwise now."""

    account: User
    user: User | None
    """Who deletes it."""
    addresses: tuple[str, ...]
    """Its confirmed ones."""
    competitions: set[int] = field(default_factory=set)
    """Where others may have its names."""
    teams: dict[int, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """For the audit log: how many of what it had."""


@Hook
def obstacle_to_deleting(*, account: User) -> str:
    """What has to be settled before; empty where nothing has."""
    raise NotImplementedError


@Hook
def leave(*, leaving: Leaving) -> None:
    """Take the person out of what they take part in, and add to `leaving` what `forget` needs."""


@Hook
def forget(*, leaving: Leaving) -> None:
    """Take the person's names out of what stays for others. What names them on a list of a host is still there."""


@Hook
def delete(*, leaving: Leaving) -> None:
    """Delete rows about the person that the database does not delete with the account."""
