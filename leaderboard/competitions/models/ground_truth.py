"""Ground truths."""

from __future__ import annotations

import math
import secrets
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.library_messages import translated_message

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
    def sort_sign(self) -> float:
        """+1.0 if a lower value is better, −1.0 if a higher one is: sort keys are `sign * value`, ascending."""
        if metric := self.library_metric:
            return 1.0 if metric.direction == "minimize" else -1.0
        # The file of a custom metric is lost, with all copies: take the sign from a stored standing.
        standing = self.standings.exclude(value=0.0).first()
        return math.copysign(1.0, standing.sort_key / standing.value) if standing else -1.0

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
