"""Grading rules of a competition, released grades, the uploaded gradebook."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition


class GradeRules(models.Model):
    """The grading rules of a competition, as stored by `GradingRules.as_json`."""

    competition = models.OneToOneField(Competition, on_delete=models.CASCADE, related_name="grade_rules")
    values = models.JSONField(default=dict)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = _("grade rules")

    def __str__(self) -> str:
        return f"{self.competition}"


class GradeRelease(models.Model):
    """One release of grades, numbered per competition. It never changes, except that it can be withdrawn.

    Students see the newest release, and no grades while that one is withdrawn. `rules` are the rules it was made with.
    """

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="grade_releases")
    number = models.PositiveIntegerField()
    rules = models.JSONField()
    ground_truth_number = models.PositiveIntegerField()
    released_at = models.DateTimeField(default=timezone.now)
    released_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["competition", "-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "number"], name="grade_release_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.competition} · {self.number}"

    @classmethod
    def current(cls, competition: Competition) -> GradeRelease | None:
        """The release that students see; None before the first one, and while the newest is withdrawn."""
        newest = cls.objects.filter(competition=competition).order_by("-number").first()
        return newest if newest is not None and newest.withdrawn_at is None else None

    @classmethod
    def exists_for_students(cls) -> Exists:
        """Annotation for rows with a `competition`: whether its students can see their grades."""
        newest = cls.objects.filter(competition=OuterRef("competition")).order_by("-number").values("pk")[:1]
        return Exists(cls.objects.filter(competition=OuterRef("competition"), withdrawn_at=None, pk=Subquery(newest)))


class Grade(models.Model):
    """One person's points in a release, with the reasons. Deleted with the account; no other grade depends on it."""

    release = models.ForeignKey(GradeRelease, on_delete=models.CASCADE, related_name="grades")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grades")
    points = models.FloatField(null=True)
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
        return f"{self.points}"


class Gradebook(models.Model):
    """A gradebook exported from Canvas, uploaded by a host to have one column filled; the bytes are unchanged."""

    competition = models.OneToOneField(Competition, on_delete=models.CASCADE, related_name="gradebook")
    file_name = models.CharField(max_length=200)
    data = models.BinaryField()
    # Header of the column to fill; "" for a new one.
    column = models.CharField(max_length=500, blank=True)
    # Whether points are scaled to the column's maximum in Canvas.
    is_scaled = models.BooleanField(default=False)
    uploaded_at = models.DateTimeField(default=timezone.now)
    uploaded_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return self.file_name
