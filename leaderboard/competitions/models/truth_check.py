"""What is known about a ground truth apart from itself: its last check and its student preview."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.library_messages import translated_failure

from .ground_truth import GroundTruth


class TruthCheck(models.Model):
    """Report of the last check of a ground truth, which itself never changes."""

    ground_truth = models.OneToOneField(GroundTruth, on_delete=models.CASCADE, related_name="check_report")
    report = models.JSONField(default=dict)
    checked_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"check of {self.ground_truth}"


class StudentPreview(models.Model):
    """The student preview of a host, with the sample submission measured as any file is.

    One per ground truth: another one needs another preview. It is no submission: no attempt, no team, no place on a
    board.
    """

    ground_truth = models.OneToOneField(GroundTruth, on_delete=models.CASCADE, related_name="walk_through")
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    sha256 = models.CharField(max_length=64)
    sent_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    public = models.FloatField(null=True)
    private = models.FloatField(null=True)
    problems = models.JSONField(default=list)
    failure = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"walk through {self.ground_truth}"

    @property
    def failure_words(self) -> str:
        """Why it failed, in the reader's language; stored it is English."""
        return translated_failure(self.failure)

    @property
    def is_good(self) -> bool:
        """Whether the sample came out with both scores."""
        return self.public is not None and self.private is not None
