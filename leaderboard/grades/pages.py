"""What pages about the grades of a competition and of a course have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from leaderboard.accounts.models import User
from leaderboard.common.responses import signed_in_user
from leaderboard.competitions.access import CourseContext, PageContext
from leaderboard.competitions.models import Competition, Course

from . import course_sheets, queries


@dataclass(frozen=True)
class GradePages:
    """The pages of a competition's grades, or of a course's: their frame and their addresses."""

    graded: Competition | Course
    context: PageContext | CourseContext

    @classmethod
    def of_competition(cls, page_context: PageContext) -> GradePages:
        return cls(page_context.competition, page_context)

    @classmethod
    def of_course(cls, course_context: CourseContext) -> GradePages:
        return cls(course_context.course, course_context)

    def address(self, page: str, *more: Any) -> str:
        """The address of `sheet`, or of `rules`, `points`, `student`, `release`, `canvas` or `file`."""
        kind = "course" if isinstance(self.graded, Course) else "host"
        name = f"{kind}_grades" if page == "sheet" else f"{kind}_grade_{page}"
        return reverse(name, args=(self.graded.slug, *more))

    def sheet(self) -> queries.GradeSheet:
        if isinstance(self.graded, Course):
            known = self.context.competitions if isinstance(self.context, CourseContext) else None
            return course_sheets.course_sheet(self.graded, known)
        return queries.grade_sheet(self.graded, at=self.context.at)

    @property
    def frame(self) -> dict[str, Any]:
        """What every page of either kind needs."""
        frame: dict[str, Any] = {
            "graded": self.graded,
            **{f"{page}_page": self.address(page) for page in ("sheet", "rules", "points", "release")},
        }
        if isinstance(self.graded, Course):
            return frame | {"frame": "grades/course_frame.html", "course": self.graded}
        return frame | {"frame": "competitions/manage.html", "page_context": self.context}

    @property
    def user(self) -> User:
        return signed_in_user(self.context.user)
