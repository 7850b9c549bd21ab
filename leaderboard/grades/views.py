"""Pages of a competition's grades: the sheet, the rules, the release, the student's grade."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.boards import queries as boards
from leaderboard.boards.scores import sign_of
from leaderboard.common.charts import draw_histogram
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import posted_data
from leaderboard.competitions.models.competition import Split

from . import hooks, queries, services, suggestions
from .forms import GradeRulesForm
from .models import Grade, GradeRelease
from .reading import BadRules
from .reasons import Reason
from .rules import CourseScheme, GradeRules

PER_PAGE = 100


@open_to(Audience.GRADERS)
def host_grades(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    sheet = queries.grade_sheet(page_context.competition, at=page_context.at)
    text = request.GET.get("q", "").strip()[:60]
    folded = text.casefold()
    rows = [row for row in sheet.rows if folded in f"{row.student.name} {row.student.team}".casefold()]
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_context": page_context, "sheet": sheet, "page": page, "q": text, "numbers": grade_numbers(sheet)}
    return render(request, "grades/host_grades.html", context)


@open_to(Audience.HOSTS)
def host_grade_rules(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The rules, beside the grades that they give now. "Try" shows those of rules that are not saved."""
    competition, action = page_context.competition, request.POST.get("action", "")
    stored = queries.stored_rules(competition)
    scores = boards.baseline_scores(competition.ground_truth, Split.PUBLIC)
    rules, is_saved = stored.rules or queries.suggested_rules(competition, scores), stored.rules is not None
    higher = competition.ground_truth is None or sign_of(competition.ground_truth) < 0
    picture = suggestions.picture_values(request.GET.get("picture", ""), scores, higher_is_better=higher)
    initial = rules.as_json() if picture is None else {"title": rules.title, **picture}
    form = GradeRulesForm(posted_data(request), initial, baselines=scores, competition=competition, add=action)
    tried: GradeRules | CourseScheme | None = rules if picture is None else None
    status = 200
    if request.method == "POST" and action not in ("terms", "factors"):
        tried, status = None, 422
        if form.is_valid():
            try:
                tried, status = services.checked_rules(competition, form.rule_values), 200
            except BadRules as error:
                form.add_faults(error.faults)
                status = 409
        if tried is not None and action != "try":
            services.set_grade_rules(graded=competition, values=tried.as_json(), user=signed_in_user(page_context.user))
            messages.success(request, _("Grade rules saved."))
            return see_other("host_grades", slug=competition.slug)
    context = {
        "page_context": page_context,
        "form": form,
        "is_saved": is_saved,
        "is_suggested": not is_saved and tried is rules,
        "pictures": suggestions.PICTURES,
        **(_preview(queries.tried_sheet(competition, tried, stored, at=page_context.at)) if tried else {}),
    }
    return render(request, "grades/host_grade_rules.html", context, status=status)


def _preview(sheet: queries.GradeSheet) -> dict[str, Any]:
    """What the rules give: numbers, histogram, five students from the best to the worst."""
    graded = sorted((row for row in sheet.rows if row.mark.points is not None), key=lambda row: -(row.mark.points or 0))
    places = sorted({round(share * (len(graded) - 1) / 4) for share in range(5)}) if graded else []
    return {
        "sheet": sheet,
        "numbers": grade_numbers(sheet),
        "zeros": sum(not row.mark.points for row in graded),
        "histogram": draw_histogram(sheet.points, sign=-1, axis=_("Points"), decimals=0, of_students=True),
        "samples": [graded[place] for place in places],
    }


@open_to(Audience.HOSTS)
def host_grade_release(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition, slug = page_context.competition, page_context.competition.slug
    action, problems = request.POST.get("action"), []
    try:
        if action == "release":
            release = services.release_grades(graded=competition, user=signed_in_user(page_context.user))
            number = release.grades.count()
            messages.success(request, _("Grades of %(number)s students released.") % {"number": number})
            return see_other("host_grades", slug=slug)
        if action == "withdraw":
            services.withdraw_grades(graded=competition, user=signed_in_user(page_context.user))
            messages.success(request, _("Grades withdrawn. Students can't see them any more."))
            return see_other("host_grades", slug=slug)
    except competitions.CannotHost as error:
        problems = [error.message]
    sheet = queries.grade_sheet(competition, at=page_context.at)
    obstacles = services.release_obstacles(sheet, competition)
    numbers = grade_numbers(sheet)
    context = {
        "page_context": page_context,
        "sheet": sheet,
        "problems": problems,
        "obstacles": obstacles,
        "numbers": numbers,
        "platforms": [*filter(None, hooks.grade_columns(competition=competition, release=sheet.release))],
    }
    return render(request, "grades/host_grade_release.html", context, status=409 if problems else 200)


def grade_numbers(sheet: queries.GradeSheet) -> dict[str, Any]:
    """Summary of a sheet: numbers of students, accounts, grades and changes, and the mean of the points."""
    points = [row.mark.points for row in sheet.rows if row.mark.points is not None]
    return {
        "students": len(sheet.rows),
        # Students with an account, who can see a grade here.
        "readers": sum(row.student.user_id is not None for row in sheet.rows),
        "graded": len(points),
        "without": len(sheet.rows) - len(points),
        "mean": round(sum(points) / len(points), 1) if points else None,
        "changed": sum(row.is_changed for row in sheet.rows),
    }


@open_to(Audience.HOSTS)
def host_candidate_grades(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Students whose grades the candidate ground truth would change, by the files that are rescored so far.

    The preview of a rescoring fetches the numbers on this page.
    """
    competition = page_context.competition
    if competition.candidate is None:
        return redirect("host_truth", slug=competition.slug)
    touched = queries.touched_grades(competition, at=page_context.at)
    page = Paginator(touched.moves if touched else (), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_context": page_context, "touched": touched, "page": page, "number": competition.candidate.number}
    return render(request, "grades/host_candidate_grades.html", context)


@open_to(Audience.MEMBERS)
def grade(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The viewer's released grade. Shown only to viewers who may see private scores, which its reasons contain."""
    release = GradeRelease.current(page_context.competition) if page_context.sees_private else None
    mine = Grade.objects.filter(release=release, user=page_context.user.pk).first() if release else None
    reasons = [Reason.from_json(stored) for stored in mine.reasons] if mine else []
    rules = GradeRules.from_values(release.rules) if release else None
    context = {"page_context": page_context, "release": release, "rules": rules, "grade": mine, "reasons": reasons}
    return render(request, "grades/grade.html", context)
