"""Save grade rules, release grades to students, withdraw them, keep the gradebook of a class.

Released grades do not change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Subquery
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.classroom import hooks as classroom_hooks
from leaderboard.classroom.hooks import StudentFact
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.storage import clean_name
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.models import Competition, Course
from leaderboard.competitions.services import CannotHost, lock_competition, lock_course
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify_people

from . import canvas, hooks
from .course_sheets import course_sheet
from .models import Grade, Gradebook, GradeRelease, SavedRules, owner_of
from .queries import GradeSheet, grade_sheet
from .reading import BadRules, RuleFault
from .rules import AnyRules, CourseScheme, GradeRules
from .values import sources_not_revealed


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
    return StudentFact(_("Grade"), str(grade), _("released"))


def released_grades(user: User, competitions: Collection[int]) -> dict[int, Grade]:
    """Competition → a person's released grade, if it has points; one query."""
    newest = GradeRelease.objects.filter(competition=OuterRef("release__competition")).order_by("-number").values("pk")
    released = Grade.objects.filter(user=user, release=Subquery(newest[:1]), release__withdrawn_at=None)
    grades = released.filter(release__competition__in=competitions, points__isnull=False).select_related("release")
    return {grade.release.competition_id: grade for grade in grades if grade.release.competition_id is not None}


def set_grade_rules(*, graded: Competition | Course, values: Mapping[str, Any], user: User | None) -> AnyRules:
    """Replace the rules; released grades do not change. Raises `CannotHost` with all faults.

    The audit log gets what changed; the same rules again change nothing.
    """
    try:
        rules = checked_rules(graded, values)
    except BadRules as error:
        raise CannotHost(_("These grade rules don't work."), map(str, error.faults)) from error
    with transaction.atomic():
        lock_grades(graded)
        stored = SavedRules.objects.filter(**owner_of(graded)).first() or SavedRules(**owner_of(graded))
        before, after = stored.values, rules.as_json()
        if before != after:
            stored.values, stored.changed_at = after, database_now()
            stored.save()
            differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
            AuditEntry.append(
                AuditEvent.GRADE_RULES_CHANGED,
                user=user,
                **in_audit_log(graded),
                before={name: before[name] for name in differing if name in before},
                after={name: after[name] for name in differing if name in after},
            )
    return rules


def checked_rules(graded: Competition | Course, values: Mapping[str, Any]) -> AnyRules:
    """The rules, of which all competitions are in the course; fixed scores are compared by the metric's direction.

    Raises `BadRules`.
    """
    rules: AnyRules
    if isinstance(graded, Course):
        course, rules = graded.pk, CourseScheme.from_values(values)
    else:
        course, ground_truth = graded.course_id, graded.ground_truth
        rules = GradeRules.from_values(values, higher_is_better=ground_truth.sort_sign < 0 if ground_truth else None)
    if named := rules.named_competitions:
        competitions = Competition.objects.outside_bin().filter(course=course)
        there = set(competitions.values_list("slug", flat=True))
        text = _("the course has no competition “%(name)s”.")
        if missing := [RuleFault(where, text % {"name": slug}) for where, slug in named if slug not in there]:
            raise BadRules(missing)
    return rules


def lock_grades(graded: Competition | Course) -> Competition | Course:
    """Wait for a release or another change of the same grades; returns what they belong to, as it is now."""
    if isinstance(graded, Course):
        lock_course(graded.pk)
        return graded
    return lock_competition(graded.pk)


def sheet_of(graded: Competition | Course, *, at: datetime) -> GradeSheet:
    """The marks of all students of a competition or a course. Only for hosts."""
    return course_sheet(graded) if isinstance(graded, Course) else grade_sheet(graded, at=at)


def release_obstacles(sheet: GradeSheet, graded: Competition | Course) -> list[str]:
    """Reasons why grades cannot be released yet, as sentences for the host; empty if they can."""
    obstacles = list(sheet.faults)
    if not sheet.is_saved:
        obstacles.append(_("Save the grade rules first."))
    course = graded.pk if isinstance(graded, Course) else graded.course_id
    if terms := [term for term in sheet.rules.all_terms.values() if term.sources]:
        text = _("Reveal the final ranking of “%(title)s” first: grade reasons contain its scores.")
        obstacles += [text % {"title": one.title} for one in sources_not_revealed(course, terms)]
    if isinstance(graded, Course):
        text = _("Release the grades of “%(title)s” first.")
        return obstacles + [text % {"title": one.title} for one in sheet.unreleased]
    if graded.revealed_at is None:
        obstacles.append(_("Reveal the final ranking first: grade reasons contain private scores."))
    elif sheet.is_awaited:
        obstacles.append(_("A team still has time. Wait for it, or end its extension and come back after a minute."))
    if sheet.waiting:
        obstacles.append(_("Submissions still waiting for a score: %(number)s.") % {"number": sheet.waiting})
    text = _("Release the grades of “%(title)s” first: its deadline is earlier, and late days are used in order.")
    return obstacles + [text % {"title": one.title} for one in sheet.unreleased]


def release_grades(*, graded: Competition | Course, user: User | None) -> GradeRelease:
    """Store the marks of all students as they are now, show them to the students and notify these.

    Raises `CannotHost` with the obstacles.
    """
    with transaction.atomic():
        graded = lock_grades(graded)
        sheet = sheet_of(graded, at=database_now())
        if obstacles := release_obstacles(sheet, graded):
            raise CannotHost(_("Grades can't be released yet."), obstacles)
        return _store_release(graded, sheet, user)


def _store_release(graded: Competition | Course, sheet: GradeSheet, user: User | None) -> GradeRelease:
    last = GradeRelease.objects.filter(**owner_of(graded)).aggregate(last=Max("number"))["last"] or 0
    competition = graded if isinstance(graded, Competition) else None
    release = GradeRelease.objects.create(
        **owner_of(graded),
        number=last + 1,
        rules=sheet.rules.as_json(),
        ground_truth_number=competition.ground_truth.number if competition and competition.ground_truth else None,
        released_at=database_now(),
        released_by=user,
    )
    grades = [
        Grade(
            release=release,
            user_id=row.student.user_id,
            points=row.mark.points,
            slack=row.mark.slack,
            reasons=[reason.as_json() for reason in row.mark.reasons],
        )
        for row in sheet.rows
        if row.student.user_id is not None
    ]
    Grade.objects.bulk_create(grades, batch_size=500)
    after = {"release": release.number, "grades": len(grades), "ground_truth": release.ground_truth_number}
    AuditEntry.append(AuditEvent.GRADES_RELEASED, user=user, after=after, **in_audit_log(graded))
    students = User.objects.filter(pk__in=[grade.user_id for grade in grades])
    if competition is not None:
        notify_people(kinds.GRADES_RELEASED, students, competition=competition)
    else:
        facts = {"course": graded.title, "course_slug": graded.slug}
        notify_people(kinds.COURSE_GRADES_RELEASED, students, competition=None, **facts)
    hooks.released(release=release)
    return release


def withdraw_grades(*, graded: Competition | Course, user: User | None) -> None:
    """Hide the released grades from students; another release gets a new number. Raises `CannotHost` without one."""
    with transaction.atomic():
        lock_grades(graded)
        release = GradeRelease.current(graded)
        if release is None:
            raise CannotHost(_("No grades have been released."))
        GradeRelease.objects.filter(pk=release.pk).update(withdrawn_at=database_now())
        before = {"release": release.number, "grades": release.grades.count()}
        AuditEntry.append(AuditEvent.GRADES_WITHDRAWN, user=user, before=before, **in_audit_log(graded))
        hooks.withdrawn(release=release)


def in_audit_log(graded: Competition | Course) -> dict[str, Any]:
    """A competition or a course in the audit log."""
    return {"competition": graded} if isinstance(graded, Competition) else {"about": f"course #{graded.pk}"}


# --- the uploaded gradebook -------------------------------------------------------------------------------------


def save_gradebook(*, graded: Competition | Course, user: User | None, file_name: str, data: bytes) -> Gradebook:
    """Store a gradebook exported from Canvas; a newer one replaces it. Raises `CannotHost`."""
    try:
        book = canvas.read_canvas_gradebook(data)
    except canvas.BadGradebook as error:
        raise CannotHost(str(error)) from error
    # Preselect the column of the same name; without one, a new column until the host chooses another.
    stored = SavedRules.objects.filter(**owner_of(graded)).first()
    title = str((stored and stored.values.get("title")) or graded.title).casefold()
    fields = {
        "file_name": clean_name(file_name),
        "data": data,
        "column": next((name for name in book.columns if title and name.casefold().startswith(title)), ""),
        "is_scaled": False,
        "uploaded_at": database_now(),
        "uploaded_by": user,
    }
    with transaction.atomic():
        return Gradebook.objects.update_or_create(**owner_of(graded), defaults=fields)[0]


def choose_gradebook_column(*, graded: Competition | Course, column: str, is_scaled: bool = False) -> None:
    """Choose the column to fill ("" for a new one), and whether points are scaled to its maximum in Canvas.

    Raises `CannotHost` for a column that the file does not have.
    """
    gradebook = Gradebook.objects.filter(**owner_of(graded)).first()
    if gradebook is None:
        raise CannotHost(_("Upload a gradebook exported from Canvas first."))
    if column and column not in canvas.read_canvas_gradebook(bytes(gradebook.data)).columns:
        raise CannotHost(_("The file has no assignment “%(column)s”.") % {"column": column[:80]})
    Gradebook.objects.filter(pk=gradebook.pk).update(column=column, is_scaled=is_scaled)


def delete_gradebook(*, graded: Competition | Course) -> None:
    """Delete the uploaded file, which holds names and marks of the whole class."""
    Gradebook.objects.filter(**owner_of(graded)).delete()
