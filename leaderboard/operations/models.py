"""Results of consistency checks, and of the test of the seal on each machine."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone


class ConsistencyRun(models.Model):
    """One run of `check_consistency`; `report` is the output of its `--json`."""

    began_at = models.DateTimeField(default=timezone.now)
    seconds = models.FloatField()
    is_consistent = models.BooleanField()
    report = models.JSONField()

    class Meta:
        ordering: ClassVar = ["-began_at"]

    def __str__(self) -> str:
        return f"{self.began_at:%Y-%m-%d %H:%M}: {'holds' if self.is_consistent else 'broken'}"


class SealTest(models.Model):
    """The ways out of a sealed process that were open on a machine when a worker last started there; `reason` says why
    the process is not sealed, `report` is the output of `check_sandbox --json`."""

    host = models.CharField(max_length=200, unique=True)
    tested_at = models.DateTimeField()
    reason = models.TextField(blank=True)
    report = models.JSONField()

    class Meta:
        ordering: ClassVar = ["host"]

    def __str__(self) -> str:
        return f"{self.host}: {self.reason or 'holds'}"
