"""Pages for what hosts give by hand, in a competition and in a course: points of terms, and one student's mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.accounts.models import User
from leaderboard.classroom.forms import RosterForm
from leaderboard.common.storage import TooLarge
from leaderboard.competitions.access import Audience
from leaderboard.competitions.host_responses import add_refusal
from leaderboard.competitions.services import CannotHost
from leaderboard.competitions.views import answered_by_worker

from . import by_hand
from .pages import PER_PAGE, GradePages, grade_page
from .reading import decimal_text
from .students import Student
from .values import hand_points


def _brings_no_file(request: HttpRequest) -> bool:
    return not request.FILES


@grade_page(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Reading your list"), is_quick=_brings_no_file)
def grade_points(request: HttpRequest, pages: GradePages) -> HttpResponse:
    """Points by hand of all students: typed in a table, or uploaded as a list."""
    sheet, status = pages.sheet(), 200
    names, students = sheet.rules.hand_names, [row.student for row in sheet.rows]
    is_upload = request.POST.get("action") == "upload"
    form = RosterForm(request.POST if is_upload else None, request.FILES if is_upload else None)
    problems: list[str] = []
    try:
        if is_upload:
            status = 422
            if form.is_valid():
                points: by_hand.Points = by_hand.read_points(form.file_and_content[1], students, names)
                return _store_points(request, pages, points)
        elif request.method == "POST":
            return _store_points(request, pages, _typed_points(request, names, students))
    except (CannotHost, TooLarge) as error:
        status = add_refusal(form, error) if is_upload else 409
        problems = [] if is_upload else [str(error)]
    page = Paginator(students, PER_PAGE).get_page(request.GET.get("page"))
    given = hand_points(pages.graded) if names else {}
    lines = [(student, _fields_of(student.key, names, given)) for student in page]
    context = {**pages.frame, "names": names, "lines": lines, "page": page, "form": form, "problems": problems}
    return render(request, "grades/grade_points.html", context, status=status)


def _fields_of(
    key: int, names: Sequence[str], given: Mapping[int, Mapping[str, Fraction]]
) -> list[tuple[str, str, str]]:
    """(name of the field, term, points) for each term of a student."""
    points = given.get(key, {})
    shown = [decimal_text(points[name]) if name in points else "" for name in names]
    return [(f"{key}-{place}", name, shown[place]) for place, name in enumerate(names)]


def _typed_points(request: HttpRequest, names: Sequence[str], students: Sequence[Student]) -> by_hand.Points:
    """The points in the fields of the form; an empty field takes points back. Raises `CannotHost`."""
    fields = {f"{one.key}-{place}": (one.key, name) for one in students for place, name in enumerate(names)}
    typed = {fields[field]: str(text).strip() for field, text in request.POST.items() if field in fields}
    return {place: by_hand.points_in(text) if text else None for place, text in typed.items()}


def _store_points(request: HttpRequest, pages: GradePages, points: by_hand.Points) -> HttpResponse:
    number = by_hand.set_hand_points(graded=pages.graded, points=points, user=pages.user)
    text = ngettext("%(number)s entry changed.", "%(number)s entries changed.", number)
    messages.success(request, text % {"number": number})
    return redirect(request.get_full_path())


@grade_page(Audience.HOSTS)
def grade_student(request: HttpRequest, pages: GradePages, user_id: int) -> HttpResponse:
    """One student's mark with its reasons, and the form that sets it."""
    sheet = pages.sheet()
    row = next((row for row in sheet.rows if row.student.user_id == user_id), None)
    if row is None:
        raise Http404(_("This student isn't in this class."))
    problem = ""
    try:
        if request.method == "POST":
            student = User.objects.get(pk=user_id)
        if request.POST.get("action") == "remove":
            by_hand.remove_override(graded=pages.graded, student=student, user=pages.user)
            messages.success(request, _("The rules decide again."))
            return pages.leave_to("grades")
        if request.method == "POST":
            points = by_hand.points_in(request.POST.get("points", ""))
            reason = request.POST.get("reason", "")
            by_hand.set_override(graded=pages.graded, student=student, points=points, reason=reason, user=pages.user)
            messages.success(request, _("Grade set. The student reads it after the next release."))
            return pages.leave_to("grades")
    except CannotHost as error:
        problem = error.message
    override = next((reason.facts for reason in row.mark.reasons if reason.code == "override"), None)
    context = {
        **pages.frame,
        "row": row,
        "decimals": sheet.rules.shown_decimals,
        "override": override,
        "points": request.POST.get("points") or (override["points"] if override else ""),
        "reason": request.POST.get("reason") or (override["reason"] if override else ""),
        "problem": problem,
    }
    return render(request, "grades/grade_student.html", context, status=409 if problem else 200)
