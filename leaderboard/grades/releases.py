"""Services that release grades to students and withdraw them. Released grades do not change."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, Max
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.classroom import hooks as classroom_hooks
from leaderboard.classroom.hooks import StudentFact
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.services import CannotHost
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify

from .marks import points_text
from .models import Grade, GradeRelease
from .rules import GradingRules
from .sheets import GradeSheet, grade_sheet


@on(competitions_hooks.membership_facts)
def membership_facts() -> dict[str, Exists]:
    """Annotation `is_graded` for the viewer's membership: whether the students can see their grades."""
    return {"is_graded": GradeRelease.exists_for_students()}


@on(classroom_hooks.student_facts)
def released_grade(*, competition: Competition, user: User) -> StudentFact | None:
    """The student's released grade with points; None if there is none."""
    current = GradeRelease.objects.filter(competition=competition).order_by("-number").values("pk")[:1]
    grades = Grade.objects.filter(release__in=current, release__withdrawn_at=None, user=user).select_related("release")
    found = grades.first()
    if found is None or found.points is None:
        return None
    decimals = GradingRules.from_values(found.release.rules).decimals
    return StudentFact(_("Grade"), points_text(found.points, decimals), _("released"))


def obstacles_to_release(sheet: GradeSheet, competition: Competition) -> list[str]:
    """Reasons why grades cannot be released yet, as sentences for the host; empty if they can."""
    found = list(sheet.faults)
    if not sheet.is_saved:
        found.append(_("Save the grade rules first."))
    if competition.revealed_at is None:
        found.append(_("Reveal the final ranking first: grade reasons contain private scores."))
    # Baselines are skipped in Python: with a condition in the query SQLite would scan all files of the competition.
    files = competition.submissions.filter(status=Submission.Status.PENDING).order_by()
    waiting = sum(baseline is None for baseline in files.values_list("baseline_id", flat=True))
    if waiting:
        found.append(_("Submissions still waiting for a score: %(number)s.") % {"number": waiting})
    return found


def release_grades(*, competition: Competition, user: User | None) -> GradeRelease:
    """Store everybody's mark as it is now, show it to the student and notify them.

    Raises `CannotHost` with the obstacles.
    """
    with transaction.atomic():
        held = Competition.objects.select_for_update(of=("self",)).select_related("ground_truth").get(pk=competition.pk)
        at = database_now()
        sheet = grade_sheet(held, at=at)
        if obstacles := obstacles_to_release(sheet, held):
            raise CannotHost(_("Grades can't be released yet."), obstacles)
        assert held.ground_truth is not None, "sheets without one have faults"
        last = held.grade_releases.aggregate(last=Max("number"))["last"] or 0
        release = GradeRelease.objects.create(
            competition=held,
            number=last + 1,
            rules=sheet.rules.as_json(),
            ground_truth_number=held.ground_truth.number,
            released_at=at,
            released_by=user,
        )
        graded = [(row.student.user_id, row.mark) for row in sheet.rows if row.student.user_id is not None]
        grades = []
        for user_id, mark in graded:
            reasons = [reason.as_json() for reason in mark.reasons]
            grades.append(Grade(release=release, user_id=user_id, points=mark.points, reasons=reasons))
        Grade.objects.bulk_create(grades, batch_size=500)
        after = {"release": release.number, "grades": len(graded), "ground_truth": held.ground_truth.number}
        AuditEntry.append(AuditEvent.GRADES_RELEASED, user=user, competition=held, after=after)
        students = User.objects.filter(pk__in=[user_id for user_id, _mark in graded])
        notify(kinds.GRADES_RELEASED, students, competition=held)
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
