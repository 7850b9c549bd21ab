"""Somebody with a grade, as files know them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GradedPerson:
    """Somebody with a grade, by all names that a platform may know; `points` is as written, None for no grade.

    `is_listed` tells that the names are the teacher's own, from the roster; others were chosen by the person.
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
        """The number that platforms share. Beside it the `student_id` of a Canvas list is one that Canvas gave."""
        return self.sis_user_id or self.student_id
