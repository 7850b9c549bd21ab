"""API endpoints for hosts about courses: their competitions and hosts, the class list, and the grades."""

from __future__ import annotations

from typing import Annotated

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Query

from leaderboard.common.clock import database_now
from leaderboard.common.queries import only_row
from leaderboard.common.responses import csv_download
from leaderboard.competitions.access import CourseAudience, CourseContext
from leaderboard.competitions.models import Course
from leaderboard.grades import course_sheets, files

from .base import Scope, Token, api, declared_answers, file_answer, token_owner
from .host import call_host_service
from .schemas import (
    CourseCompetitionOut,
    CourseListOut,
    CourseOut,
    CourseSummaryOut,
    GradeKind,
    PersonListOut,
    PersonOut,
)

HOST = Token(Scope.HOST)
PERSON_FIELDS = ("name", "email", "student_id", "sis_user_id", "login", "section")


def _hosted_course(request: HttpRequest, slug: str, audience: CourseAudience = CourseAudience.HOSTS) -> CourseContext:
    """A course in which the token's owner hosts a competition. Raises `Http404` for everybody else."""
    course = only_row(Course.objects.filter(slug=slug))
    context = CourseContext(course, token_owner(request), database_now()) if course else None
    if context is None or not context.admits(audience):
        raise Http404(_("You don't host a course with this name."))
    return context


@api.get("courses", response=declared_answers(s200=CourseListOut), auth=HOST, url_name="api_courses")
def list_courses(request: HttpRequest) -> CourseListOut:
    """For hosts: the courses in which you host a competition, newest first."""
    courses = Course.hosted_by(token_owner(request))
    return CourseListOut(items=[CourseSummaryOut(slug=one.slug, title=one.title) for one in courses])


@api.get("courses/{slug:slug}", response=declared_answers(404, s200=CourseOut), auth=HOST, url_name="api_course")
def read_course(request: HttpRequest, slug: str) -> CourseOut:
    """For hosts: the competitions of a course with their hosts and assistants, by username."""
    context = _hosted_course(request, slug)
    competitions = [
        CourseCompetitionOut.model_validate(
            {
                "slug": one.slug,
                "title": one.title,
                "state": one.state(context.at),
                "hosts": sorted(one.hosts.values_list("username", flat=True)),
                "assistants": sorted(one.assistants.values_list("username", flat=True)),
            }
        )
        for one in context.competitions
    ]
    return CourseOut(slug=context.course.slug, title=context.course.title, competitions=competitions)


@api.get(
    "courses/{slug:slug}/people", response=declared_answers(404, s200=PersonListOut), auth=HOST, url_name="api_people"
)
def list_people(request: HttpRequest, slug: str) -> PersonListOut:
    """For hosts: the class list of a course, sorted by name."""
    entries = _hosted_course(request, slug).course.roster.select_related("user")
    people = [
        PersonOut.model_validate(
            {name: getattr(entry, name) for name in PERSON_FIELDS}
            | {"state": entry.state.value, "username": entry.user.get_username() if entry.user else None}
        )
        for entry in entries
    ]
    return PersonListOut(items=people)


@api.get(
    "courses/{slug:slug}/grades",
    response=declared_answers(404, 409, 422),
    auth=HOST,
    openapi_extra=file_answer("text/csv"),
    operation_id="export_course_grades",
    url_name="api_course_grades",
)
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
