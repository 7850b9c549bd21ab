"""What the site knows about itself: who is at work, and what the last checks of its promises found."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Worker(models.Model):
    """A process that scores, as it was heard of last. Written by itself every few seconds, by the database's clock."""

    host = models.CharField(max_length=200)
    process = models.PositiveIntegerField()
    version = models.CharField(max_length=40)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField()
    swept_at = models.DateTimeField(null=True)
    # What it has done since it started, as `counting.samples` writes it.
    counts = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar = ["host", "process"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["host", "process"], name="worker_reports_once"),
        ]

    def __str__(self) -> str:
        return f"{self.host} {self.process}"


class Inspection(models.Model):
    """One run of `check_invariants`; `report` is what its `--json` prints."""

    began_at = models.DateTimeField(default=timezone.now)
    seconds = models.FloatField()
    is_whole = models.BooleanField()
    report = models.JSONField()

    class Meta:
        ordering: ClassVar = ["-began_at"]

    def __str__(self) -> str:
        return f"{self.began_at:%Y-%m-%d %H:%M}: {'holds' if self.is_whole else 'broken'}"


class CageTest(models.Model):
    """What the self-test of the scorer's cage found on a machine when a worker started there last; `reason` says why
    metrics from outside must stay off there, `report` is what the test prints."""

    host = models.CharField(max_length=200, unique=True)
    tested_at = models.DateTimeField()
    reason = models.TextField(blank=True)
    report = models.JSONField()

    class Meta:
        ordering: ClassVar = ["host"]

    def __str__(self) -> str:
        return f"{self.host}: {self.reason or 'holds'}"

    @property
    def escaped(self) -> list[dict[str, str]]:
        """The ways that led outside."""
        return [one for one in self.report["outcomes"] if one["outcome"] != "stopped"]
