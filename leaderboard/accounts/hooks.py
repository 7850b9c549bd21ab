"""Hooks by which rooms above take part in sign-up, export and deletion.

Functions of one hook are called in the order of `INSTALLED_APPS`: the core first, then the rooms that build on it. An
account is deleted in one transaction, in this order: `hold`, `obstacle_to_deleting`, `leave`, `forget`, the row with
all that goes with it.
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
    """Whether a join code, an invitation or a one-time link (by its digest, `join_card`) allows signing up."""
    raise NotImplementedError


@Hook
def is_address_of(*, account: User, address: str) -> bool:
    """Whether another way of signing in confirms that an unconfirmed main address is the account's."""
    raise NotImplementedError


@Hook
def student_number_confirmed(*, account: User) -> object:
    """Called when an institution sends the student number of an account (`institution.people.student_numbers_of`)."""


@Hook
def viewer_facts() -> Mapping[str, Any]:
    """Annotations (name → expression) for the query of the signed-in user, which the frame of each page shows."""
    raise NotImplementedError


# --- export of a person's data ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PersonalFile:
    """A stored file of a person, and its name in the zip."""

    name: str
    key: str
    sha256: str


@dataclass(frozen=True)
class PersonalData:
    """One room's part of an export: `texts` maps the name of each JSON file to its content."""

    texts: Mapping[str, object]
    files: Sequence[PersonalFile] = ()


@Hook
def export(*, account: User, at: datetime) -> PersonalData:
    """A room's data about a person, limited to what that person may see now; no secrets, no names of others."""
    raise NotImplementedError


# --- deleting an account ----------------------------------------------------------------------------------------

NAMELESS = "Former member"


@dataclass
class Leaving:
    """An account that is being deleted, with what `leave` collects for `forget`."""

    account: User
    user: User | None
    """The person who deletes it."""
    addresses: tuple[str, ...]
    """Its confirmed e-mail addresses."""
    competitions: set[int] = field(default_factory=set)
    """Competitions whose rows or notices may contain the person's names."""
    # Team → its name after the deletion.
    teams: dict[int, str] = field(default_factory=dict)
    # Submission → the file name that replaces the person's.
    files: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """Number of memberships and files the account had, for the audit log."""


@Hook
def hold(*, account: User) -> None:
    """Lock what the deletion of the account changes and must be locked before the account."""


@Hook
def obstacle_to_deleting(*, account: User) -> str:
    """A message that tells the person what to do before the account can be deleted; "" if nothing."""
    raise NotImplementedError


@Hook
def leave(*, leaving: Leaving) -> None:
    """Remove the person from teams, roles and lists, and add to `leaving` what `forget` needs."""


@Hook
def forget(*, leaving: Leaving) -> None:
    """Remove the person's names from rows that stay. Class lists still name the person: they go with the account."""
