"""Hooks by which rooms above react to released grades and add to the page of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.common.hooks import Hook
from leaderboard.competitions.models import Competition

from .models import GradeRelease


@Hook
def released(*, release: GradeRelease) -> None:
    """Grades were released; called in that transaction."""


@Hook
def withdrawn(*, release: GradeRelease) -> None:
    """A release was withdrawn; called in that transaction."""


@dataclass(frozen=True)
class GradeColumn:
    """The state of a learning platform's column: numbers of grades, and why some were refused.

    A form that is posted to `address` sends the refused ones again.
    """

    name: str
    sent: int
    waiting: int
    refused: int
    problems: Sequence[str]
    address: str


@dataclass(frozen=True)
class GradeColumns:
    """The columns that a competition's grades go to; `missing` graded students are in none of these platforms."""

    columns: Sequence[GradeColumn]
    missing: int


@Hook
def grade_columns(*, competition: Competition, release: GradeRelease | None) -> GradeColumns | None:
    """The columns of learning platforms, or None if there are none. `release` is the current one."""
    raise NotImplementedError
