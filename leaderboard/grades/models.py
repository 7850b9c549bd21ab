"""Grade rules of competitions and courses, points by hand, released grades, the uploaded gradebook."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.numbers import points_text
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.course import Course

from .rules import AnyRules, CourseScheme, GradeRules


def owner_of(graded: Competition | Course) -> dict[str, Any]:
    """The field and value of rows that belong to a competition or a course."""
    return {"course": graded} if isinstance(graded, Course) else {"competition": graded}


class GradedRow(models.Model):
    """A row of a competition's grades, or of a course's, and never of both."""

    competition = models.ForeignKey(Competition, null=True, on_delete=models.CASCADE)
    course = models.ForeignKey(Course, null=True, on_delete=models.CASCADE)

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(
                name="%(class)s_of_a_competition_or_a_course",
                condition=Q(competition__isnull=True) ^ Q(course__isnull=True),
            )
        ]


def _constraints_once(*fields: str) -> list[models.BaseConstraint]:
    """The constraints of a `GradedRow` of which each competition and each course has one for the same fields."""
    once = [
        models.UniqueConstraint(fields=[owner, *fields], name=f"%(class)s_once_in_a_{owner}")
        for owner in ("competition", "course")
    ]
    return [*GradedRow.Meta.constraints, *once]


class SavedRules(GradedRow):
    """Grade rules that a host saved: those of a competition, or how the grades of a course's competitions add up."""

    values = models.JSONField(default=dict)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = _("grade rules")
        constraints: ClassVar = _constraints_once()

    def __str__(self) -> str:
        return f"{self.competition or self.course}"


class HandPoints(GradedRow):
    """Points that a host gave a person for a term by hand, in a competition or in a course.

    Points of a person on the class list without an account belong to the entry, and so to the account that joins as it.
    """

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="hand_points")
    entry = models.ForeignKey(RosterEntry, null=True, on_delete=models.CASCADE, related_name="hand_points")
    name = models.CharField(max_length=120)
    points = models.FloatField()

    class Meta:
        verbose_name_plural = _("points by hand")
        constraints: ClassVar = [
            *_constraints_once("user", "name"),
            models.UniqueConstraint(fields=["competition", "entry", "name"], name="hand_points_once_for_an_entry"),
            models.UniqueConstraint(fields=["course", "entry", "name"], name="hand_points_once_for_a_course_entry"),
            models.CheckConstraint(
                name="hand_points_of_an_account_or_an_entry",
                condition=Q(user__isnull=True) ^ Q(entry__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.points}"


class Override(GradedRow):
    """A mark that a host set with a reason, which the student reads. It holds until a host removes it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grade_overrides")
    points = models.FloatField()
    reason = models.CharField(max_length=300)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            *_constraints_once("user"),
            models.CheckConstraint(name="override_is_no_negative_mark", condition=Q(points__gte=0, points__lte=1e5)),
        ]

    def __str__(self) -> str:
        return f"{self.points}: {self.reason}"


class GradeRelease(GradedRow):
    """One release of grades, numbered per competition or course. It never changes, except that it can be withdrawn.

    Students see the newest release, and no grades while that one is withdrawn. `rules` are the rules it was made with.
    """

    number = models.PositiveIntegerField()
    rules = models.JSONField()
    # Of the competition's answers; null in a course.
    ground_truth_number = models.PositiveIntegerField(null=True)
    released_at = models.DateTimeField(default=timezone.now)
    released_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["competition", "course", "-number"]
        constraints: ClassVar = _constraints_once("number")

    def __str__(self) -> str:
        return f"{self.competition or self.course} · {self.number}"

    @property
    def scheme(self) -> AnyRules:
        """The rules, read."""
        if self.competition_id is None:
            return CourseScheme.from_values(self.rules)
        return GradeRules.from_values(self.rules)

    @classmethod
    def current(cls, graded: Competition | Course) -> GradeRelease | None:
        """The release that students see; None before the first one, and while the newest is withdrawn."""
        newest = cls.objects.filter(**owner_of(graded)).order_by("-number").first()
        return newest if newest is not None and newest.withdrawn_at is None else None

    @classmethod
    def current_of_course(cls, course: int) -> models.QuerySet[GradeRelease]:
        """The releases that students see, of all competitions of a course."""
        newest = cls.objects.filter(competition=OuterRef("competition")).order_by("-number").values("pk")[:1]
        return cls.objects.filter(competition__course=course, withdrawn_at=None, pk=Subquery(newest)).order_by()

    @classmethod
    def exists_for_students(cls, owner: str = "competition", **facts: object) -> Exists:
        """Annotation for rows with a `competition`, or a `course`: whether its students can see their grades, by a
        release with these `facts`."""
        newest = cls.objects.filter(**{owner: OuterRef(owner)}).order_by("-number").values("pk")[:1]
        return Exists(cls.objects.filter(**{owner: OuterRef(owner)}, withdrawn_at=None, pk=Subquery(newest), **facts))


class Grade(models.Model):
    """One person's points in a release, with the reasons. Deleted with the account; no other grade depends on it."""

    release = models.ForeignKey(GradeRelease, on_delete=models.CASCADE, related_name="grades")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grades")
    points = models.FloatField(null=True)
    slack = models.PositiveSmallIntegerField(default=0)
    """Late periods of the course that it used for nothing."""
    # From `Reason.as_json`: codes and facts, turned into sentences in the reader's language.
    reasons = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["release", "user"], name="one_grade_per_person_and_release"),
            models.CheckConstraint(
                name="grade_is_not_negative", condition=Q(points__isnull=True) | Q(points__gte=0, points__lte=1e5)
            ),
        ]

    def __str__(self) -> str:
        """The points as text, with the decimals of the release's rules; "–" without."""
        return points_text(self.points, self.release.scheme.shown_decimals)


class Gradebook(GradedRow):
    """A gradebook exported from Canvas, uploaded by a host to have one column filled; the bytes are unchanged."""

    file_name = models.CharField(max_length=200)
    data = models.BinaryField()
    # Header of the column to fill; "" for a new one.
    column = models.CharField(max_length=500, blank=True)
    # Whether points are scaled to the column's maximum in Canvas.
    is_scaled = models.BooleanField(default=False)
    uploaded_at = models.DateTimeField(default=timezone.now)
    uploaded_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints: ClassVar = _constraints_once()

    def __str__(self) -> str:
        return self.file_name
