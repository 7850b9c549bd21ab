"""Hooks by which other apps add to the pages of a class."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.accounts.models import User
from leaderboard.common.hooks import Hook
from leaderboard.competitions.models import Competition


@dataclass(frozen=True)
class StudentFact:
    """A figure on a student's page, shown to people who may export grades."""

    label: str
    figure: str
    line: str = ""


@Hook
def student_facts(*, competition: Competition, user: User) -> StudentFact | None:
    """An app's figure about one student, or None."""
    raise NotImplementedError
