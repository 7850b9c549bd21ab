"""Release grades to students, withdraw them, and keep the gradebook of a class. Released grades do not change."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Subquery
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.classroom import hooks as classroom_hooks
from leaderboard.classroom.hooks import StudentFact
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.numbers import points_text
from leaderboard.common.storage import clean_name
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.services import CannotHost
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify_people

from . import canvas
from .models import Grade, Gradebook, GradeRelease
from .queries import GradeSheet, grade_sheet
from .rules import GradingRules


@on(competitions_hooks.membership_facts)
def membership_facts() -> dict[str, Exists]:
    """Annotation `is_graded` for the viewer's membership: whether the students can see their grades."""
    return {"is_graded": GradeRelease.exists_for_students()}


@on(classroom_hooks.student_facts)
def released_grade(*, competition: Competition, user: User) -> StudentFact | None:
    """The student's released grade with points; None if there is none."""
    current = GradeRelease.objects.filter(competition=competition).order_by("-number").values("pk")[:1]
    grades = Grade.objects.filter(release__in=current, release__withdrawn_at=None, user=user).select_related("release")
    grade = grades.first()
    if grade is None or grade.points is None:
        return None
    decimals = GradingRules.from_values(grade.release.rules).decimals
    return StudentFact(_("Grade"), points_text(grade.points, decimals), _("released"))


def released_points(user: User, competitions: Collection[int]) -> dict[int, str]:
    """Competition → points of a person's released grade, as text; one query."""
    newest = GradeRelease.objects.filter(competition=OuterRef("release__competition")).order_by("-number").values("pk")
    released = Grade.objects.filter(user=user, release=Subquery(newest[:1]), release__withdrawn_at=None)
    return {
        grade.release.competition_id: points_text(grade.points, GradingRules.from_values(grade.release.rules).decimals)
        for grade in released.filter(release__competition__in=competitions).select_related("release")
        if grade.points is not None
    }


def release_obstacles(sheet: GradeSheet, competition: Competition) -> list[str]:
    """Reasons why grades cannot be released yet, as sentences for the host; empty if they can."""
    obstacles = list(sheet.faults)
    if not sheet.is_saved:
        obstacles.append(_("Save the grade rules first."))
    if competition.revealed_at is None:
        obstacles.append(_("Reveal the final ranking first: grade reasons contain private scores."))
    # Baselines are skipped in Python: with a condition in the query SQLite would scan all files of the competition.
    files = competition.submissions.filter(status=Submission.Status.PENDING).order_by()
    waiting = sum(baseline is None for baseline in files.values_list("baseline_id", flat=True))
    if waiting:
        obstacles.append(_("Submissions still waiting for a score: %(number)s.") % {"number": waiting})
    return obstacles


def release_grades(*, competition: Competition, user: User | None) -> GradeRelease:
    """Store the marks of all students as they are now, show them to the students and notify these.

    Raises `CannotHost` with the obstacles.
    """
    with transaction.atomic():
        locked = (
            Competition.objects.select_for_update(of=("self",)).select_related("ground_truth").get(pk=competition.pk)
        )
        at = database_now()
        sheet = grade_sheet(locked, at=at)
        obstacles = release_obstacles(sheet, locked)
        if locked.teams.filter(is_awaited=True, disqualified_at=None).exists():
            obstacles.append(_("The final ranking isn't complete: a team still has time. End its extension, or wait."))
        if obstacles:
            raise CannotHost(_("Grades can't be released yet."), obstacles)
        assert locked.ground_truth is not None, "sheets without one have faults"
        last = locked.grade_releases.aggregate(last=Max("number"))["last"] or 0
        release = GradeRelease.objects.create(
            competition=locked,
            number=last + 1,
            rules=sheet.rules.as_json(),
            ground_truth_number=locked.ground_truth.number,
            released_at=at,
            released_by=user,
        )
        graded = [(row.student.user_id, row.mark) for row in sheet.rows if row.student.user_id is not None]
        grades = []
        for user_id, mark in graded:
            reasons = [reason.as_json() for reason in mark.reasons]
            grades.append(Grade(release=release, user_id=user_id, points=mark.points, reasons=reasons))
        Grade.objects.bulk_create(grades, batch_size=500)
        after = {"release": release.number, "grades": len(graded), "ground_truth": locked.ground_truth.number}
        AuditEntry.append(AuditEvent.GRADES_RELEASED, user=user, competition=locked, after=after)
        students = User.objects.filter(pk__in=[user_id for user_id, _mark in graded])
        notify_people(kinds.GRADES_RELEASED, students, competition=locked)
    return release


def withdraw_grades(*, competition: Competition, user: User | None) -> None:
    """Hide the released grades from students; another release gets a new number. Raises `CannotHost` without one."""
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=competition.pk)
        release = GradeRelease.current(competition)
        if release is None:
            raise CannotHost(_("No grades have been released."))
        GradeRelease.objects.filter(pk=release.pk).update(withdrawn_at=database_now())
        before = {"release": release.number, "grades": release.grades.count()}
        AuditEntry.append(AuditEvent.GRADES_WITHDRAWN, user=user, competition=competition, before=before)


# --- the uploaded gradebook -------------------------------------------------------------------------------------


def save_gradebook(*, competition: Competition, user: User | None, file_name: str, data: bytes) -> Gradebook:
    """Store a gradebook exported from Canvas; a newer one replaces it. Raises `CannotHost`."""
    try:
        book = canvas.read_canvas_gradebook(data)
    except canvas.BadGradebook as error:
        raise CannotHost(str(error)) from error
    # Preselect the column named like the competition; without one, a new column until the host chooses another.
    title = competition.title.casefold()
    fields = {
        "file_name": clean_name(file_name),
        "data": data,
        "column": next((name for name in book.columns if name.casefold().startswith(title)), ""),
        "is_scaled": False,
        "uploaded_at": database_now(),
        "uploaded_by": user,
    }
    with transaction.atomic():
        return Gradebook.objects.update_or_create(competition=competition, defaults=fields)[0]


def choose_gradebook_column(*, competition: Competition, column: str, is_scaled: bool = False) -> None:
    """Choose the column to fill ("" for a new one), and whether points are scaled to its maximum in Canvas.

    Raises `CannotHost` for a column that the file does not have.
    """
    gradebook = Gradebook.objects.filter(competition=competition).first()
    if gradebook is None:
        raise CannotHost(_("Upload a gradebook exported from Canvas first."))
    if column and column not in canvas.read_canvas_gradebook(bytes(gradebook.data)).columns:
        raise CannotHost(_("The file has no assignment “%(column)s”.") % {"column": column[:80]})
    Gradebook.objects.filter(pk=gradebook.pk).update(column=column, is_scaled=is_scaled)


def delete_gradebook(*, competition: Competition) -> None:
    """Delete the uploaded file, which holds names and marks of the whole class."""
    Gradebook.objects.filter(competition=competition).delete()
