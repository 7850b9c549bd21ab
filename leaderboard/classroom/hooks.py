"""What apps above add to the pages of a class. An app appends its functions in `AppConfig.ready()`."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.accounts.models import User
from leaderboard.common.hooks import Hook
from leaderboard.competitions.models import Competition


@dataclass(frozen=True)
class StudentFact:
    """A figure about a student, for those who may export grades."""

    label: str
    figure: str
    line: str = ""


@Hook
def student_facts(*, competition: Competition, user: User) -> StudentFact | None:
    """What an app knows of one student."""
    raise NotImplementedError
