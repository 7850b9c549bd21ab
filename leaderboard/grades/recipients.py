"""A person with a grade, as files name them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GradedPerson:
    """A person with a grade, by all names that a platform may know; `points` is as written, None for no grade.

    `is_listed`: the names are those of the roster; otherwise the person chose them.
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

    @property
    def university_id(self) -> str:
        """The number that platforms share. In a Canvas list that has one, `student_id` is Canvas's own number."""
        return self.sis_user_id or self.student_id
