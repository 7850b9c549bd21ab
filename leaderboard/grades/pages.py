"""Pages about grades, each of which a competition and a course have alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, path

from leaderboard.accounts.models import User
from leaderboard.common.access import View
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.course_access import CourseAudience, CourseContext, open_course_to
from leaderboard.competitions.models import Competition, Course

from .course_sheets import course_sheet
from .queries import GradeSheet, grade_sheet

PER_PAGE = 100
KINDS = ("host", "course")
"""The first part of the URLs of a competition's pages, and of a course's."""


@dataclass(frozen=True)
class GradePages:
    """The competition or course of a page about grades; the same views serve both."""

    context: PageContext | CourseContext

    @property
    def graded(self) -> Competition | Course:
        return self.context.course if isinstance(self.context, CourseContext) else self.context.competition

    @property
    def kind(self) -> str:
        return KINDS[isinstance(self.context, CourseContext)]

    @property
    def user(self) -> User:
        return signed_in_user(self.context.user)

    def sheet(self) -> GradeSheet:
        if isinstance(self.context, CourseContext):
            return course_sheet(self.context.course, self.context.competitions)
        return grade_sheet(self.context.competition, at=self.context.at)

    @property
    def frame(self) -> dict[str, Any]:
        """Context for all templates; with `is_host` the reader may change rules and release grades."""
        frame = {"graded": self.graded, "kind": self.kind}
        if isinstance(self.context, CourseContext):
            return frame | {"frame": "grades/course_frame.html", "course": self.graded, "is_host": True}
        return frame | {
            "frame": "competitions/manage.html",
            "page_context": self.context,
            "is_host": self.context.is_host,
        }

    def leave_to(self, page: str, **parts: Any) -> HttpResponse:
        """Go to `grades`, `grade_canvas` or another page by GET."""
        return see_other(f"{self.kind}_{page}", slug=self.graded.slug, **parts)


def grade_page(audience: Audience) -> Callable[[View], list[View]]:
    """Decorator that makes two views of one `(request, pages, …)`: for a competition's `audience`, and for a course."""

    def declare(view: View) -> list[View]:
        @wraps(view)
        def show(request: HttpRequest, context: PageContext | CourseContext, **parts: Any) -> HttpResponseBase:
            return view(request, GradePages(context), **parts)

        views = [open_to(audience)(show), open_course_to(CourseAudience.GRADERS)(show)]
        for kind, made in zip(KINDS, views, strict=True):
            made.__name__ = f"{kind}_{view.__name__}"
        return views

    return declare


def grade_paths(address: str, views: list[View]) -> list[URLPattern]:
    """The URLs of a page, each with the name of its view."""
    pairs = zip(KINDS, views, strict=True)
    return [path(f"{kind}/<slug:slug>/grades/{address}", view, name=view.__name__) for kind, view in pairs]
