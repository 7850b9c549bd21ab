"""API endpoints for hosts about courses: their competitions and hosts, the class list, and the grades."""

from __future__ import annotations

from typing import Annotated

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Query

from leaderboard.common.clock import database_now
from leaderboard.common.queries import only_row
from leaderboard.common.responses import csv_download
from leaderboard.competitions.course_access import CourseAudience, CourseContext
from leaderboard.competitions.models import Course
from leaderboard.grades import course_sheets, files

from .base import Scope, operation, token_owner
from .host import call_host_service
from .schemas import CourseListOut, CourseOut, GradeKind, PersonListOut

PERSON_FIELDS = ("name", "email", "student_id", "sis_user_id", "login", "section")


def _hosted_course(request: HttpRequest, slug: str, audience: CourseAudience = CourseAudience.HOSTS) -> CourseContext:
    """A course in which the token's owner hosts a competition. Raises `Http404` for everybody else."""
    course = only_row(Course.objects.filter(slug=slug))
    context = CourseContext(course, token_owner(request), database_now()) if course else None
    if context is None or not context.admits(audience):
        raise Http404(_("You don't host a course with this name."))
    return context


@operation("GET", "courses", "courses", CourseListOut, scope=Scope.HOST)
def list_courses(request: HttpRequest) -> CourseListOut:
    """For hosts: the courses in which you host a competition, newest first."""
    return CourseListOut.model_validate({"items": list(Course.hosted_by(token_owner(request)))})


@operation("GET", "courses/{slug:slug}", "course", CourseOut, scope=Scope.HOST)
def read_course(request: HttpRequest, slug: str) -> CourseOut:
    """For hosts: the competitions of a course with their hosts and assistants, by username."""
    context = _hosted_course(request, slug)
    competitions = [
        {
            "slug": one.slug,
            "title": one.title,
            "state": one.state(context.at),
            "hosts": sorted(one.hosts.values_list("username", flat=True)),
            "assistants": sorted(one.assistants.values_list("username", flat=True)),
        }
        for one in context.competitions
    ]
    found = {"slug": context.course.slug, "title": context.course.title, "competitions": competitions}
    return CourseOut.model_validate(found)


@operation("GET", "courses/{slug:slug}/people", "people", PersonListOut, scope=Scope.HOST)
def list_people(request: HttpRequest, slug: str) -> PersonListOut:
    """For hosts: the class list of a course, sorted by name."""
    entries = _hosted_course(request, slug).course.roster.select_related("user")
    people = [
        {name: getattr(entry, name) for name in PERSON_FIELDS}
        | {"state": entry.state.value, "username": entry.user.get_username() if entry.user else None}
        for entry in entries
    ]
    return PersonListOut.model_validate({"items": people})


@operation("GET", "courses/{slug:slug}/grades", "course_grades", scope=Scope.HOST, file_type="text/csv")
def export_course_grades(
    request: HttpRequest,
    slug: str,
    kind: Annotated[GradeKind, Query(description="For which learning platform.")] = "plain",
) -> HttpResponse:
    """For hosts of all competitions of a course: everybody's grade of the course as CSV, by the saved rules."""
    context = _hosted_course(request, slug, CourseAudience.GRADERS)
    sheet = course_sheets.course_sheet(context.course, context.competitions)
    data = call_host_service(lambda: files.grade_file(context.course, sheet, kind))
    return csv_download(data, f"{slug}-grades-{kind}")
