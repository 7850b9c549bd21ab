"""Hooks by which rooms above react to events in the core and add to its pages.

The core calls the hook of an event inside the transaction of the event, so that both are committed or neither.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet, Subquery

from leaderboard.accounts.models import User
from leaderboard.common.hooks import Hook

from .models import Competition, Course, Extension, Submission

# --- actions of hosts -------------------------------------------------------------------------------------------


@Hook
def deadline_changed(*, competition: Competition, before: datetime, extensions: Sequence[Extension]) -> None:
    """A host moved the deadline of a competition, and with it these extensions. The new deadline is
    `competition.closes_at`."""


@Hook
def extension_ended(*, extension: Extension) -> None:
    """A host ended an extension of a team."""


@Hook
def ranking_changed(*, competition: Competition) -> None:
    """Settings that decide about ranks have changed: the deadline, or the number of final submissions after the end."""


@Hook
def competition_paused(*, competition: Competition, reason: str) -> None:
    """A host has paused a competition."""


@Hook
def competition_resumed(*, competition: Competition) -> None:
    """A host has ended the pause of a competition."""


@Hook
def submission_hidden(*, submission: Submission, reason: str) -> None:
    """A host has hidden a submission from the boards and the final submissions."""


@Hook
def submission_shown(*, submission: Submission) -> None:
    """A host has shown a hidden submission again."""


@Hook
def scored_again(*, competition: Competition, teams: Collection[int | None]) -> None:
    """A host has queued submissions of these teams, which had no score, for scoring again."""


@Hook
def rescored(*, competition: Competition, teams: Collection[int], message: str) -> int:
    """A candidate has become the current ground truth, and the host wants the affected teams to be notified.

    `message` is the host's message, if any. Returns the number of people notified.
    """
    raise NotImplementedError


@Hook
def attached_teams(*, competition: Competition) -> Collection[int]:
    """The teams that attached their work to a final submission."""
    raise NotImplementedError


# --- facts for pages --------------------------------------------------------------------------------------------


@Hook
def membership_facts() -> Mapping[str, Any]:
    """Annotations (name → expression) for the query of the viewer's membership."""
    raise NotImplementedError


@Hook
def course_chosen(*, competition: Competition, course: Course | None, user: User) -> object:
    """A host has chosen another course, or a new one (None), for a competition.

    Raises `CannotHost`; then nothing has changed.
    """


class Roster(Protocol):
    """Queries for names and sections on the roster. Callers check that their reader may see these."""

    def is_on_class_list(self, course_id: int, user: User) -> bool:
        """Whether the account is linked to the class list of a course and has not left."""

    def section_names(self, competition: Competition) -> list[str]:
        """The sections on the roster, sorted."""

    def teams_of_section(self, competition: Competition, section: str) -> QuerySet[Any, int | None]:
        """Subquery of the teams with a member in this section."""

    def section_sizes(self, competition: Competition) -> Mapping[str, int]:
        """Section → number of its active members, without people who have left."""

    def people_of_section(self, competition: Competition, section: str) -> QuerySet[Any, Any]:
        """Subquery of the accounts in a section, without people who have left."""

    def section_of_member(self) -> Subquery:
        """Annotation for rows with a `user` and a `competition`: the user's section; "" or NULL without one."""

    def name_on_roster(self) -> Subquery:
        """Annotation for rows with a `user` and a `competition`: the name on the roster; NULL without one."""

    def people_called(self, competition: Competition, text: str) -> QuerySet[User]:
        """Accounts whose user name, or name on the roster, contains a text."""

    def names_and_ids(self, competition: Competition) -> dict[int, tuple[str, str]]:
        """User → (name, student ID) for roster entries with an account."""


roster: Roster
"""Set by `classroom`."""


# --- workers and scheduled tasks --------------------------------------------------------------------------------


@Hook
def scoring_failed(*, submission_id: UUID) -> object:
    """A submission has failed through no fault of its team. Called after the commit."""


@Hook
def due_tasks() -> Iterable[tuple[Any, ...]]:
    """A room's work that waits and has no worker: (name of the task, *IDs). The sweep wakes a worker for each."""
    raise NotImplementedError
