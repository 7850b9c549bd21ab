"""A student as grade sheets and files for learning platforms know one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Student:
    """A student who gets a grade, with all names and numbers that a learning platform may know them by.

    `points` and `reasons` are the grade as text for a file; None is no grade.
    """

    name: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    student_id: str = ""
    sis_user_id: str = ""
    login: str = ""
    section: str = ""
    team: str = ""
    points: str | None = None
    reasons: str = ""
    is_listed: bool = False
    """Whether the names come from the teacher's class list; otherwise the person chose them."""
    username: str = ""
    user_id: int | None = None
    entry_id: int | None = None
    """The entry on the class list, of a student without an account."""
    team_id: int | None = None
    has_joined: bool = True
    disqualified: str | None = None
    """The reason if the team is disqualified."""
    is_awaited: bool = False
    """Whether the team still has time after the final ranking opened."""

    @property
    def key(self) -> int:
        """The number of the account, or without one that of the entry as a negative number."""
        return self.user_id or -(self.entry_id or 0)

    @property
    def university_id(self) -> str:
        """The university's number. If the class list came from Canvas, `student_id` is Canvas's internal ID."""
        return self.sis_user_id or self.student_id
