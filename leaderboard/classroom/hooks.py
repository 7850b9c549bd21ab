"""Hooks by which rooms above add to the pages of a class and follow its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.accounts.models import User
from leaderboard.common.hooks import Hook
from leaderboard.competitions.models import Competition

from .models import RosterEntry


@dataclass(frozen=True)
class StudentFact:
    """A figure on a student's page, shown to people who may export grades."""

    label: str
    figure: str
    line: str = ""


@Hook
def entry_merged(*, entry: RosterEntry, into: RosterEntry) -> None:
    """An entry is about to be deleted, because another one is the same person; called in that transaction."""


@dataclass(frozen=True)
class RosterSource:
    """A learning platform that has the class list; a form that is posted to `address` reads it into the preview."""

    name: str
    address: str
    problem: str = ""
    is_waiting: bool = False


@Hook
def roster_sources(*, competition: Competition) -> Sequence[RosterSource]:
    """Learning platforms whose class list a host of this competition may read."""
    raise NotImplementedError


@Hook
def student_facts(*, competition: Competition, user: User) -> StudentFact | None:
    """A room's figure about one student, or None."""
    raise NotImplementedError
