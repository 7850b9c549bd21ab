"""Grades: the sheet with everybody's reasons, the rules, the release."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import boards, competitions
from leaderboard.competitions.views.host_responses import add_refusal, posted_data

from .. import releases, saved_rules, sheets
from ..forms import GradeRulesForm

PER_PAGE = 100


@open_to(Audience.GRADERS)
def host_grades(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    sheet = sheets.grade_sheet(page_context.competition, at=page_context.at)
    text = request.GET.get("q", "").strip()[:60]
    wanted = text.casefold()
    rows = [row for row in sheet.rows if wanted in f"{row.student.name} {row.student.team}".casefold()]
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_context": page_context, "sheet": sheet, "page": page, "q": text, "numbers": _numbers(sheet)}
    return render(request, "grades/host_grades.html", context)


@open_to(Audience.HOSTS)
def host_grade_rules(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    rules, is_saved = saved_rules.grade_rules(competition)
    scores = boards.baseline_scores(competition.ground_truth, Split.PUBLIC)
    form = GradeRulesForm(posted_data(request), rules, scores)
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        try:
            saved_rules.set_grade_rules(
                competition=competition, values=form.values, user=signed_in_user(page_context.user)
            )
        except competitions.CannotHost as error:
            status = add_refusal(form, error)
        else:
            messages.success(request, _("The grade rules are saved."))
            return see_other("host_grades", slug=competition.slug)
    decides = boards.baseline_scores(competition.ground_truth, Split.PRIVATE)
    both = [(name, value, decides.get(name)) for name, value in sorted(scores.items())]
    context = {"page_context": page_context, "form": form, "rules": rules, "is_saved": is_saved, "scores": both}
    return render(request, "grades/host_grade_rules.html", context, status=status)


@open_to(Audience.HOSTS)
def host_grade_release(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition, slug = page_context.competition, page_context.competition.slug
    action, problems = request.POST.get("action"), []
    try:
        if action == "release":
            release = releases.release_grades(competition=competition, user=signed_in_user(page_context.user))
            number = release.grades.count()
            messages.success(request, _("The grades of %(number)s students are released.") % {"number": number})
            return see_other("host_grades", slug=slug)
        if action == "withdraw":
            releases.withdraw_grades(competition=competition, user=signed_in_user(page_context.user))
            messages.success(request, _("The grades are withdrawn; students do not see them any more."))
            return see_other("host_grades", slug=slug)
    except competitions.CannotHost as error:
        problems = [error.message]
    sheet = sheets.grade_sheet(competition, at=page_context.at)
    obstacles = releases.obstacles_to_release(sheet, competition)
    numbers = _numbers(sheet)
    context = {
        "page_context": page_context,
        "sheet": sheet,
        "problems": problems,
        "obstacles": obstacles,
        "numbers": numbers,
    }
    return render(request, "grades/host_grade_release.html", context, status=409 if problems else 200)


def _numbers(sheet: sheets.GradeSheet) -> dict[str, Any]:
    """What a sheet comes to, in a few numbers."""
    points = [row.mark.points for row in sheet.rows if row.mark.points is not None]
    return {
        "students": len(sheet.rows),
        # Who has no account reads no grade here.
        "readers": sum(row.student.user_id is not None for row in sheet.rows),
        "graded": len(points),
        "without": len(sheet.rows) - len(points),
        "mean": round(sum(points) / len(points), 1) if points else None,
        "changed": sum(row.is_changed for row in sheet.rows),
    }
