"""A student's released grade."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.competitions.access import Audience, PageContext, open_to

from ..models import Grade, GradeRelease
from ..reasons import Reason


@open_to(Audience.MEMBERS)
def grade(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Only the viewer's own, and only what was released: its reasons contain private scores."""
    release = GradeRelease.current(page_context.competition) if page_context.sees_private else None
    mine = Grade.objects.filter(release=release, user=page_context.user.pk).first() if release else None
    reasons = [Reason.from_json(one) for one in mine.reasons] if mine else []
    context = {"page_context": page_context, "release": release, "grade": mine, "reasons": reasons}
    return render(request, "grades/grade.html", context)
