"""What apps above the core do when something happens in it, and what they add to its pages.

The core calls the hook of an event within the transaction of the event, so that either both happen or neither. An app
appends its functions in `AppConfig.ready()`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet, Subquery

from leaderboard.accounts.models import User
from leaderboard.common.hooks import Hook

from .models import Competition, Submission

# --- what a host does -------------------------------------------------------------------------------------------


@Hook
def deadline_changed(*, competition: Competition, before: datetime) -> None:
    """A host moved the deadline of a competition; the new one is `competition.closes_at`."""


@Hook
def paused(*, competition: Competition, reason: str) -> None:
    """A competition takes no files any more."""


@Hook
def resumed(*, competition: Competition) -> None:
    """A paused competition takes files again."""


@Hook
def submission_hidden(*, submission: Submission, reason: str) -> None:
    """A host took a submission from the boards and the final picks."""


@Hook
def submission_shown(*, submission: Submission) -> None:
    """A hidden submission counts again."""


@Hook
def scored_again(*, competition: Competition, teams: Collection[int | None]) -> None:
    """Submissions of these teams that had got no score wait for one again."""


@Hook
def rescored(*, competition: Competition, teams: Collection[int], words: str) -> int:
    """Another ground truth decides, and the host wants the teams whose scores or ranks it changes to know, in these
    words if there are any. Gives how many people were notified."""
    raise NotImplementedError


# --- what pages show --------------------------------------------------------------------------------------------


@Hook
def membership_facts() -> Mapping[str, Any]:
    """Gives what an app annotates on the membership of a person who looks at a competition, by the names it chooses."""
    raise NotImplementedError


class Roster(Protocol):
    """What the core asks about the people of a class: who they are and in which section.

    Callers see to it that their reader may know.
    """

    def section_names(self, competition: Competition) -> list[str]:
        """The sections that people are in, sorted."""

    def teams_of_section(self, competition: Competition, section: str) -> QuerySet[Any, int | None]:
        """The teams that somebody of a section is in, for a query."""

    def section_of_member(self) -> Subquery:
        """For rows with a `user` and a `competition`: the section of the user; empty or null where there is none."""

    def name_on_roster(self) -> Subquery:
        """For rows with a `user` and a `competition`: the name of the user; null where it is not known."""

    def people_called(self, competition: Competition, text: str) -> QuerySet[User]:
        """Whose username or name has a text in it."""

    def names_and_ids(self, competition: Competition) -> dict[int, tuple[str, str]]:
        """User → name and student id."""


roster: Roster
"""Set by `classroom`."""


# --- what the clock and the workers do --------------------------------------------------------------------------


@Hook
def scoring_failed(*, submission_id: UUID) -> object:
    """A submission could not be scored through no fault of its team. Called once that is committed."""


@Hook
def due_tasks() -> Iterable[Any]:
    """Gives tasks of an app that have something to do by now, for the sweep to wake a worker for each."""
    raise NotImplementedError
