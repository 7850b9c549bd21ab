"""What the last checks of the site's promises found."""

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
