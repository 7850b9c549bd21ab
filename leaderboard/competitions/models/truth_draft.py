"""Drafts of ground truths; rescorings; checks, row reports and student previews of ground truths."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.library_messages import translated_failure

from .competition import Competition
from .ground_truth import LONGEST_NAME, GroundTruth, new_split_secret


class TruthDraft(models.Model):
    """An uploaded answer file with the report of its check, not published yet; one per competition."""

    competition = models.OneToOneField(Competition, on_delete=models.CASCADE, related_name="truth_draft")
    file_key = models.CharField(max_length=200)
    file_name = models.CharField(max_length=200)
    metric = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    # Key and parameters of each secondary metric.
    secondary = models.JSONField(default=list)
    id_column = models.CharField(max_length=LONGEST_NAME, blank=True)
    # Settings for splitting a file without a `Usage` column.
    public_share = models.FloatField(default=0.3)
    seed = models.PositiveIntegerField(default=0)
    # Made once, so that the split in the preview is the one that is published.
    split_secret = models.CharField(max_length=32, default=new_split_secret)
    is_stratified = models.BooleanField(default=True)
    # Rows with the same value in this column stay in one part.
    group_column = models.CharField(max_length=LONGEST_NAME, blank=True, default="")
    # The columns that students predict (`columns`), the others (`left_out`), the reason (`why`), the column that held
    # the split (`split_column`), and the data file without the answers (`copy`); {} if all columns are answers. While
    # the host is asked for the columns (`is_asked`), those to choose from (`possible`).
    answer_choice = models.JSONField(default=dict)
    # How the uploaded file was read: the sheet of a workbook, the row of the header.
    reading_notes = models.JSONField(default=list)
    # Metrics that fit the answers, best first.
    fits = models.JSONField(default=list)
    report = models.JSONField(default=dict)
    # Warnings that a host has accepted: `key` of the finding, account (`by`) and time (`at`).
    accepted_findings = models.JSONField(default=list)
    uploaded_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="truth_draft_share_between_0_and_1", condition=Q(public_share__gt=0, public_share__lt=1)
            ),
        ]

    def __str__(self) -> str:
        return self.file_name


class Rescoring(models.Model):
    """A switch of the boards from one ground truth to another. Scores under both are kept, to show the change."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="rescorings")
    before = models.ForeignKey(GroundTruth, on_delete=models.CASCADE, related_name="+")
    after = models.OneToOneField(GroundTruth, on_delete=models.CASCADE, related_name="rescoring")
    applied_at = models.DateTimeField(default=timezone.now)
    # The host's message to teams whose scores changed.
    message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-applied_at"]

    def __str__(self) -> str:
        return f"{self.before.number} → {self.after.number}"


class RowReport(models.Model):
    """The rows on which the best teams lose most, computed on request. Only for hosts: it contains answers."""

    ground_truth = models.OneToOneField(GroundTruth, on_delete=models.CASCADE, related_name="row_report")
    # `HardRows` as a dictionary.
    found = models.JSONField()
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Hardest rows of {self.ground_truth}"


class TruthCheck(models.Model):
    """Report of the last check of a ground truth; in a separate row, because the ground truth never changes."""

    ground_truth = models.OneToOneField(GroundTruth, on_delete=models.CASCADE, related_name="check_report")
    report = models.JSONField(default=dict)
    # Like `TruthDraft.accepted_findings`.
    accepted_findings = models.JSONField(default=list)
    checked_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"check of {self.ground_truth}"


class StudentPreview(models.Model):
    """The result of scoring the sample submission of a ground truth, as a test before the launch.

    One per ground truth. It is no submission: it has no team, uses no attempt and is on no board.
    """

    ground_truth = models.OneToOneField(GroundTruth, on_delete=models.CASCADE, related_name="student_preview")
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    sha256 = models.CharField(max_length=64)
    sent_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    public = models.FloatField(null=True)
    private = models.FloatField(null=True)
    problems = models.JSONField(default=list)
    failure = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"sample of {self.ground_truth}"

    @property
    def failure_text(self) -> str:
        """The reason of a failure in the reader's language; it is stored in English."""
        return translated_failure(self.failure)

    @property
    def is_good(self) -> bool:
        """Whether the sample submission got both scores."""
        return self.public is not None and self.private is not None
