"""The files of a competition that students download."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from .competition import Competition


class DataFile(models.Model):
    """A file that students download."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="data_files")
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=300, blank=True)
    file_key = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    rows = models.PositiveIntegerField(null=True)
    head = models.JSONField(default=list)
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "name"], name="data_file_name_once"),
        ]

    def __str__(self) -> str:
        return self.name
