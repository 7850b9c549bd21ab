"""Pages of a course's grades: the sheet with its release, the rules, the student's grade."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import CourseAudience, CourseContext, open_course_to
from leaderboard.competitions.host_responses import posted_data
from leaderboard.competitions.services import CannotHost

from . import course_sheets, services
from .forms import CourseRulesForm
from .models import Grade, GradeRelease
from .pages import GradePages
from .queries import course_scheme
from .reading import BadRules
from .reasons import Reason
from .rules import CourseScheme
from .views import PER_PAGE, grade_numbers


@open_course_to(CourseAudience.GRADERS)
def course_grades(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    sheet = course_sheets.course_sheet(course_context.course, course_context.competitions)
    page = Paginator(sheet.rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **GradePages.of_course(course_context).frame,
        "sheet": sheet,
        "page": page,
        "numbers": grade_numbers(sheet),
        "obstacles": services.release_obstacles(sheet, course_context.course),
    }
    return render(request, "grades/course_grades.html", context)


@open_course_to(CourseAudience.GRADERS)
def course_grade_release(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    """Release the course's grades, or withdraw them."""
    course, user = course_context.course, signed_in_user(course_context.user)
    try:
        if request.POST.get("action") == "release":
            release = services.release_grades(graded=course, user=user)
            text = _("Grades of %(number)s students released.")
            messages.success(request, text % {"number": release.grades.count()})
        elif request.POST.get("action") == "withdraw":
            services.withdraw_grades(graded=course, user=user)
            messages.success(request, _("Grades withdrawn. Students can't see them any more."))
    except CannotHost as error:
        messages.error(request, " ".join([error.message, *error.details]))
    return see_other("course_grades", slug=course.slug)


@open_course_to(CourseAudience.GRADERS)
def course_grade_rules(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    course, action, status = course_context.course, request.POST.get("action", ""), 200
    competitions = course_sheets.course_competitions(course)
    saved = course_scheme(course.pk)
    scheme = saved or course_sheets.suggested_scheme(competitions, course.title)
    form = CourseRulesForm(posted_data(request), scheme.as_json(), competitions=competitions, add=action)
    if request.method == "POST" and action != "plus":
        status = 422
        if form.is_valid():
            try:
                services.checked_rules(course, form.rule_values)
                services.set_grade_rules(
                    graded=course, values=form.rule_values, user=signed_in_user(course_context.user)
                )
            except BadRules as error:
                form.add_faults(error.faults)
                status = 409
            else:
                messages.success(request, _("Grade rules saved."))
                return see_other("course_grades", slug=course.slug)
    context = {**GradePages.of_course(course_context).frame, "form": form, "is_saved": saved is not None}
    return render(request, "grades/course_grade_rules.html", context, status=status)


@open_course_to(CourseAudience.MEMBERS)
def course_grade(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    """The viewer's released grade of the course."""
    release = GradeRelease.current(course_context.course)
    mine = Grade.objects.filter(release=release, user=course_context.user.pk).first() if release else None
    context: dict[str, Any] = {
        "course": course_context.course,
        "release": release,
        "rules": CourseScheme.from_values(release.rules) if release else None,
        "grade": mine,
        "reasons": [Reason.from_json(stored) for stored in mine.reasons] if mine else [],
    }
    return render(request, "grades/course_grade.html", context)
