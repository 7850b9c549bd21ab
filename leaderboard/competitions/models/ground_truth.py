"""Ground truths and their drafts; checks, row reports and student previews of ground truths; rescorings."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.library_messages import translated_failure, translated_message

from .competition import Competition

MAX_SECONDARY = 3
"""Maximum of secondary metrics: with more, the board does not fit on a phone."""
LONGEST_NAME = 200
"""Maximum length of a stored column name."""


def new_split_secret() -> str:
    """128 random bits as hexadecimal digits."""
    return secrets.token_hex(16)


class ImmutableRow(Exception):
    """An attempt to edit a row that must never change."""


class GroundTruth(models.Model):
    """An immutable ground truth: answer file with split, metric, parameters. A correction is a new one with the next
    number."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="ground_truths")
    number = models.PositiveIntegerField()
    file_key = models.CharField(max_length=200)
    file_name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    # Secret by which the split was drawn, for later files of the competition; "" if unknown.
    split_secret = models.CharField(max_length=32, blank=True)
    # Shortest time of scoring a file; files that take far longer are scored outside the queue.
    quickest_seconds = models.FloatField(null=True, editable=False)
    metric = models.CharField(max_length=60)
    metric_version = models.CharField(max_length=64)
    params = models.JSONField(default=dict)
    id_column = models.CharField(max_length=LONGEST_NAME)
    submission_columns = models.JSONField(default=list)
    rows = models.PositiveIntegerField()
    public_rows = models.PositiveIntegerField()
    private_rows = models.PositiveIntegerField()
    ignored_rows = models.PositiveIntegerField(default=0)
    # Metrics shown next to the score and never ranked: key, version and params, in the order shown.
    secondary = models.JSONField(default=list)
    note = models.CharField(max_length=300, blank=True)
    published_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    published_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = verbose_name_plural = "answers"
        ordering: ClassVar = ["competition", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "number"], name="ground_truth_number_once"),
            models.CheckConstraint(
                name="ground_truth_rows_add_up",
                condition=Q(rows=F("public_rows") + F("private_rows") + F("ignored_rows")),
            ),
            models.CheckConstraint(
                name="ground_truth_has_both_splits", condition=Q(public_rows__gte=1, private_rows__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.competition} · ground truth {self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row. Raises `ImmutableRow` for an update, which would change the meaning of existing scores."""
        if not self._state.adding:
            raise ImmutableRow(f"{self} is published; publish a new ground truth instead.")
        super().save(*args, **kwargs)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of its last check."""
        return list(self.check_report.report["findings"])

    @property
    def metric_key(self) -> str:
        """Key of the metric for the library; of a custom metric in the version that it was published with."""
        return f"{self.metric}@{self.metric_version}"

    @property
    def library_metric(self) -> metrics.Metric | None:
        """The metric of the library; None if the file of a custom metric is lost, which scoring reports."""
        try:
            return metrics.get(self.metric_key)
        except metrics.UnknownMetric:
            return None

    @property
    def metric_title(self) -> str:
        """The title in the reader's language; the key if the file of a custom metric is lost."""
        metric = self.library_metric
        return translated_message(metric.title) if metric else self.metric

    @property
    def sample_key(self) -> str:
        """Storage key of its sample submission, which is made at the first request."""
        return f"{self.file_key}.sample"

    @property
    def secondary_with_versions(self) -> list[tuple[str, dict[str, Any]]]:
        """(key with version, parameters) of the secondary metrics, for the library."""
        return [(f"{one['key']}@{one['version']}", one["params"]) for one in self.secondary]

    @property
    def public_share(self) -> float:
        """Share of public rows among public and private ones, 0–1."""
        return self.public_rows / (self.public_rows + self.private_rows)


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
