"""What the self-test of the sandbox found on each machine."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class SandboxTest(models.Model):
    """What the self-test of the scorer's sandbox found on a machine when a worker started there last; `reason` says why
    metrics from outside must stay off there, `report` is what the test prints."""

    host = models.CharField(max_length=200, unique=True)
    tested_at = models.DateTimeField()
    reason = models.TextField(blank=True)
    report = models.JSONField()

    class Meta:
        ordering: ClassVar = ["host"]

    def __str__(self) -> str:
        return f"{self.host}: {self.reason or 'holds'}"
