"""Access to the pages of a course. They declare a `CourseAudience` by `open_course_to`, which finds the course by the
`slug`:

| audience | admitted | others get |
|---|---|---|
| `course_members` | people on its class list, members, hosts and assistants of its competitions | sign-in or 404 |
| `course_hosts` | hosts of one of its competitions | sign-in or 404; its assistants 403 |
| `course_graders` | hosts of all its competitions | sign-in or 404; hosts of some and assistants 403 |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from leaderboard.accounts.models import Viewer
from leaderboard.common.access import View
from leaderboard.common.clock import database_now
from leaderboard.common.queries import only_row

from . import hooks
from .models import Competition, Course, Membership


class CourseAudience(StrEnum):
    MEMBERS = "course_members"
    HOSTS = "course_hosts"
    GRADERS = "course_graders"


@dataclass
class CourseContext:
    """A viewer, a course and the time of the request (`at`)."""

    course: Course
    user: Viewer
    at: datetime

    @cached_property
    def competitions(self) -> list[Competition]:
        """The competitions of the course, the last one to open first; those in the bin are left out."""
        held = self.course.competitions.outside_bin().with_roles_of(self.user)
        return list(held.select_related("ground_truth").order_by("-opens_at", "slug"))

    @cached_property
    def run(self) -> list[Competition]:
        """The competitions that the viewer hosts or assists in."""
        return [one for one in self.competitions if one.is_run_by(self.user)]

    @cached_property
    def is_member(self) -> bool:
        if self.user.is_anonymous:
            return False
        entered = Membership.objects.filter(user=self.user, competition__in=self.competitions)
        return bool(self.run) or entered.exists() or hooks.roster.is_on_class_list(self.course.pk, self.user)

    def admits(self, audience: CourseAudience) -> bool:
        hosted = [one.is_hosted_by(self.user) for one in self.competitions]
        if audience is CourseAudience.GRADERS:
            return bool(hosted) and all(hosted)
        return any(hosted) if audience is CourseAudience.HOSTS else self.is_member


def open_course_to(audience: CourseAudience) -> Callable[[View], View]:
    """Decorator that declares the audience of a view about a course and refuses everybody else."""

    def declare(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, slug: str, **kwargs: Any) -> HttpResponseBase:
            if request.user.is_anonymous:
                return redirect_to_login(request.get_full_path())
            course = only_row(Course.titled().filter(slug=slug))
            context = CourseContext(course, request.user, database_now()) if course else None
            if context is not None and context.admits(audience):
                return view(request, context, *args, **kwargs)
            if context is not None and context.run:
                raise PermissionDenied(_("This page is only for people who host the course."))
            raise Http404(_("No course with this name is open to you."))

        guarded.audience = audience  # type: ignore[attr-defined]
        return guarded

    return declare
