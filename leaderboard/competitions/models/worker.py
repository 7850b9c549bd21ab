"""Processes that score, as the database heard of them last."""

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
    last_seen_at = models.DateTimeField()
    last_sweep_at = models.DateTimeField(null=True)
    # What it has done since it started, as `counting.counter_samples` writes it.
    counts = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar = ["host", "process"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["host", "process"], name="worker_reports_once"),
        ]

    def __str__(self) -> str:
        return f"{self.host} {self.process}"
