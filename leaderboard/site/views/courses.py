"""Pages of a course: its competitions for students and hosts, and a further competition in it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.classroom import courses
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import CourseAudience, CourseContext, open_course_to
from leaderboard.competitions.services import CannotHost
from leaderboard.grades.models import GradeRelease
from leaderboard.grades.services import released_points

from .home import hosted_competitions, my_teams


@open_course_to(CourseAudience.MEMBERS)
def course(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    """The competitions of a course: for hosts and assistants all, for students the launched ones."""
    user, at = signed_in_user(course_context.user), course_context.at
    of_course = {one.pk for one in course_context.competitions}
    runs = {one.pk for one in course_context.run}
    teams = {one.competition.pk: one for one in my_teams(user, at)} if of_course - runs else {}
    points = released_points(user, of_course - runs)
    launched = [one for one in course_context.competitions if one.launched_at and one.pk not in runs]
    is_outside = any(one.pk not in teams for one in launched)
    enterable = {one.pk for one in courses.open_from_list(user, at)} if is_outside else set()
    context: dict[str, Any] = {
        "course": course_context.course,
        "hosted": [one for one in hosted_competitions(user, at, runs)] if runs else [],
        "is_host": course_context.admits(CourseAudience.HOSTS),
        "is_grader": course_context.admits(CourseAudience.GRADERS) and len(of_course) > 1,
        "newest": course_context.run[0] if runs else None,
        "is_graded": GradeRelease.current(course_context.course) is not None,
        "lines": [
            {
                "competition": one,
                "state": one.state(at),
                "team": teams.get(one.pk),
                "points": points.get(one.pk),
                "enters_from_list": one.pk in enterable,
            }
            for one in launched
        ],
    }
    return render(request, "site/course.html", context)


@open_course_to(CourseAudience.HOSTS)
def course_add(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    """Make a draft in the course, with the people and limits of its newest competition."""
    if request.method != "POST":
        return see_other("course", slug=course_context.course.slug)
    try:
        draft = courses.new_competition_in(course=course_context.course, user=signed_in_user(course_context.user))
    except CannotHost as error:
        messages.error(request, error.message)
        return see_other("course", slug=course_context.course.slug)
    messages.success(request, _("Hosts, assistants and limits are taken over. Add the files."))
    return see_other("host_setup", slug=draft.slug)
