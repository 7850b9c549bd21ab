"""Pages of grades: the sheet, the rules, the release, and the student's own grade."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.boards import queries as boards
from leaderboard.common.charts import draw_histogram
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.course_access import CourseAudience, CourseContext, open_course_to
from leaderboard.competitions.host_responses import posted_data
from leaderboard.competitions.models import Competition, Course
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import CannotHost

from . import course_sheets, hooks, queries, services, suggestions
from .forms import CourseRulesForm, GradeRulesForm, RulesForm
from .models import Grade, GradeRelease
from .pages import PER_PAGE, GradePages, grade_page
from .reading import BadRules
from .reasons import Reason
from .rules import AnyRules


@grade_page(Audience.GRADERS)
def grades(request: HttpRequest, pages: GradePages) -> HttpResponse:
    sheet = pages.sheet()
    text = request.GET.get("q", "").strip()[:60]
    folded = text.casefold()
    rows = [row for row in sheet.rows if folded in f"{row.student.name} {row.student.team}".casefold()]
    context = {
        **pages.frame,
        "sheet": sheet,
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "q": text,
        "is_over": isinstance(pages.context, CourseContext) or pages.context.state in ("closed", "revealed"),
    }
    return render(request, "grades/grades.html", context)


class _RulesPage(NamedTuple):
    """The form of the rules, with the rules that it shows (None for a picture), and the sheet by other rules."""

    form: RulesForm
    rules: AnyRules | None
    is_saved: bool
    sheet_by: Callable[[AnyRules], queries.GradeSheet]


@grade_page(Audience.HOSTS)
def grade_rules(request: HttpRequest, pages: GradePages) -> HttpResponse:
    """The rules, beside the grades that they give now. "Try" shows those of rules that are not saved."""
    action, status = request.POST.get("action", ""), 200
    edit = _edit_course_rules if isinstance(pages.context, CourseContext) else _edit_competition_rules
    form, tried, is_saved, sheet_by = edit(request, pages.context, action)
    is_suggested = not is_saved and tried is not None
    if request.method == "POST" and action not in form.CARDS and not action.startswith("row:"):
        is_suggested, tried, status = False, None, 422
        if form.is_valid():
            try:
                tried, status = services.checked_rules(pages.graded, form.rule_values), 200
            except BadRules as error:
                form.add_faults(error.faults)
                status = 409
        if tried is not None and action != "try":
            services.set_grade_rules(graded=pages.graded, values=tried.as_json(), user=pages.user)
            messages.success(request, _("Grade rules saved."))
            return pages.leave_to("grades")
    context = {
        **pages.frame,
        "form": form,
        "is_suggested": is_suggested,
        **(_preview_grades(sheet_by(tried)) if tried else {}),
    }
    if not isinstance(pages.context, CourseContext):
        context["pictures"] = suggestions.PICTURES
    return render(request, "grades/grade_rules.html", context, status=status)


def _edit_competition_rules(request: HttpRequest, page_context: Any, action: str) -> _RulesPage:
    competition = page_context.competition
    stored = queries.stored_rules(competition)
    scores = boards.baseline_scores(competition.ground_truth, Split.PUBLIC)
    rules = stored.rules or queries.suggested_rules(competition, scores)
    higher = competition.ground_truth is None or competition.ground_truth.sort_sign < 0
    scores = {name: scores[name] for name in suggestions.order_baselines(scores, higher_is_better=higher)}
    picture = suggestions.picture_values(request.GET.get("picture", ""), scores, higher_is_better=higher)
    form = GradeRulesForm(
        posted_data(request),
        rules.as_json() if picture is None else {"title": rules.title, **picture},
        baselines=scores,
        competitions=stored.competitions,
        add=action,
    )

    def sheet_by(tried: Any) -> queries.GradeSheet:
        return queries.tried_sheet(competition, tried, stored, at=page_context.at)

    return _RulesPage(form, rules if picture is None else None, stored.rules is not None, sheet_by)


def _edit_course_rules(request: HttpRequest, course_context: Any, action: str) -> _RulesPage:
    course = course_context.course
    competitions = course_sheets.course_competitions(course.pk)
    saved = queries.course_scheme(course.pk)
    scheme = saved or course_sheets.suggested_scheme(competitions, course.title)
    form = CourseRulesForm(posted_data(request), scheme.as_json(), competitions=competitions, add=action)

    def sheet_by(tried: Any) -> queries.GradeSheet:
        return course_sheets.course_sheet(course, competitions, tried)

    return _RulesPage(form, scheme, saved is not None, sheet_by)


def _preview_grades(sheet: queries.GradeSheet) -> dict[str, Any]:
    """The marks that the rules would give: a histogram, and five students from the best to the worst."""
    graded = sorted((row for row in sheet.rows if row.mark.points is not None), key=lambda row: -(row.mark.points or 0))
    places = sorted({round(share * (len(graded) - 1) / 4) for share in range(5)}) if graded else []
    return {
        "sheet": sheet,
        "histogram": draw_histogram(sheet.points, sign=-1, axis=_("Points"), decimals=0, of_students=True),
        "samples": [graded[place] for place in places],
    }


@grade_page(Audience.HOSTS)
def grade_release(request: HttpRequest, pages: GradePages) -> HttpResponse:
    """Release the grades, or withdraw them."""
    graded, action, problems = pages.graded, request.POST.get("action"), list[str]()
    try:
        if action == "release":
            number = services.release_grades(graded=graded, user=pages.user).grades.count()
            words = ngettext("Grade of %(number)s student released.", "Grades of %(number)s students released.", number)
            messages.success(request, words % {"number": number})
            return pages.leave_to("grades")
        if action == "withdraw":
            services.withdraw_grades(graded=graded, user=pages.user)
            messages.success(request, _("Grades withdrawn. Students can't see them any more."))
            return pages.leave_to("grades")
    except CannotHost as error:
        problems = [error.message]
    sheet = pages.sheet()
    context = {
        **pages.frame,
        "sheet": sheet,
        "problems": problems,
        "obstacles": services.release_obstacles(sheet, graded),
    }
    if isinstance(pages.context, PageContext):
        columns = hooks.grade_columns(competition=pages.context.competition, release=sheet.release)
        context["platforms"] = [*filter(None, columns)]
    return render(request, "grades/grade_release.html", context, status=409 if problems else 200)


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
    frame = {"frame": "competition.html", "page_context": page_context}
    return _own_grade(request, page_context.competition, release, frame)


@open_course_to(CourseAudience.MEMBERS)
def course_grade(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    """The viewer's released grade of the course."""
    course = course_context.course
    frame = {"frame": "grades/course_frame.html", "course": course}
    return _own_grade(request, course, GradeRelease.current(course), frame)


def _own_grade(
    request: HttpRequest, graded: Competition | Course, release: GradeRelease | None, frame: dict[str, Any]
) -> HttpResponse:
    mine = Grade.objects.filter(release=release, user=request.user.pk).first() if release else None
    reasons = [Reason.from_json(stored) for stored in mine.reasons] if mine else []
    context = {**frame, "graded": graded, "release": release, "grade": mine, "reasons": reasons}
    return render(request, "grades/grade.html", context)
