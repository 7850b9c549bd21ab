"""Whose grade a waiting ground truth would touch. For hosts, before they decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from leaderboard.competitions.models import Competition

from .saved_rules import saved_rules
from .sheets import GradeSheet, deciding_split, sheets_by_ground_truth
from .students import Student


@dataclass(frozen=True)
class GradeMove:
    """A student whose points would differ; None is no grade."""

    student: Student
    now: float | None
    then: float | None
    reason: str
    """Why it would be that, as the sheet says it."""

    @property
    def gained(self) -> float:
        """Points won, negative when lost; no grade counts as none."""
        return (self.then or 0.0) - (self.now or 0.0)


@dataclass(frozen=True)
class TouchedGrades:
    """The moves, the largest first. With `faults` the rules cannot grade under one of the two ground truths."""

    students: int
    moves: tuple[GradeMove, ...]
    faults: tuple[str, ...]
    is_released: bool
    """Whether students can see the grades of now."""

    @property
    def better(self) -> int:
        return sum(move.gained > 0 for move in self.moves)

    @property
    def worse(self) -> int:
        return sum(move.gained < 0 for move in self.moves)


def touched_grades(competition: Competition, *, at: datetime) -> TouchedGrades | None:
    """None without a candidate, and where nobody saved rules: what we only propose is nobody's grade."""
    current, candidate = competition.ground_truth, competition.candidate
    if current is None or candidate is None:
        return None
    saved = saved_rules(competition)
    if saved is None:
        return None
    rules, is_released = saved
    sheet = GradeSheet(rules, is_saved=True, split=deciding_split(competition, at))
    now, then = sheets_by_ground_truth((current, candidate), sheet, competition, released_marks={})
    moves = [
        GradeMove(row.student, row.mark.points, other.mark.points, other.mark.words)
        for row, other in zip(now.rows, then.rows, strict=False)  # one with faults has no rows
        if other.mark.points != row.mark.points
    ]
    moves.sort(key=lambda move: (-abs(move.gained), move.student.name.casefold()))
    faults = tuple(dict.fromkeys((*now.faults, *then.faults)))
    return TouchedGrades(len(now.rows), tuple(moves), faults, is_released)
