"""Hosts' page to move a competition to another course."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import add_refusal, posted_data
from leaderboard.competitions.services import CannotHost

from .. import courses
from ..forms import CourseForm


@open_to(Audience.HOSTS)
def host_course(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Move a competition to another course of its host, or to a new one."""
    competition, user, status = page_context.competition, signed_in_user(page_context.user), 200
    form = CourseForm(user, competition, posted_data(request))
    if request.method == "POST":
        status = 422
        try:
            if form.is_valid():
                courses.move_competition(competition=competition, course=form.cleaned_data["course"], user=user)
                messages.success(request, _("The competition was moved."))
                return see_other("host_people", slug=competition.slug)
        except CannotHost as error:
            status = add_refusal(form, error)
    context = {"page_context": page_context, "form": form}
    return render(request, "classroom/host_course.html", context, status=status)
