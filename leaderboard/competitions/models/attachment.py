"""Files that the site stores: attachments to final submissions, which hosts read, and data files for students."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from leaderboard.accounts.models import User

from .competition import Competition
from .submission import Submission


class Attachment(models.Model):
    """The file that a team attached to a submission, and what it declared with it. A later one replaces it."""

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, primary_key=True, related_name="attachment")
    file_name = models.CharField(max_length=200)
    file_key = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    declared = models.CharField(max_length=300, blank=True)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    at = models.DateTimeField(editable=False)

    def __str__(self) -> str:
        return self.file_name


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
