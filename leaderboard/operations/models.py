"""What the last checks of the site's promises found, and what the seal stopped on each machine."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone


class ConsistencyRun(models.Model):
    """One run of `check_consistency`; `report` is what its `--json` prints."""

    began_at = models.DateTimeField(default=timezone.now)
    seconds = models.FloatField()
    is_consistent = models.BooleanField()
    report = models.JSONField()

    class Meta:
        ordering: ClassVar = ["-began_at"]

    def __str__(self) -> str:
        return f"{self.began_at:%Y-%m-%d %H:%M}: {'holds' if self.is_consistent else 'broken'}"


class SealTest(models.Model):
    """What a sealed process reached on a machine when a worker started there last; `reason` says why it is not sealed,
    `report` is what `check_sandbox --json` prints."""

    host = models.CharField(max_length=200, unique=True)
    tested_at = models.DateTimeField()
    reason = models.TextField(blank=True)
    report = models.JSONField()

    class Meta:
        ordering: ClassVar = ["host"]

    def __str__(self) -> str:
        return f"{self.host}: {self.reason or 'holds'}"
