"""Whose grade the ground truth that waits would touch."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from leaderboard.competitions.access import Audience, PageContext, open_to

from .. import candidate_effects

PER_PAGE = 100


@open_to(Audience.HOSTS)
def host_candidate_grades(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The preview fetches the numbers of this page; while files are measured they are those of what is measured."""
    competition = page_context.competition
    if competition.candidate is None:
        return redirect("host_truth", slug=competition.slug)
    touched = candidate_effects.touched_grades(competition, at=page_context.at)
    page = Paginator(touched.moves if touched else (), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_context": page_context, "touched": touched, "page": page, "number": competition.candidate.number}
    return render(request, "grades/host_candidate_grades.html", context)
