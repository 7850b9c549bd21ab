"""Attachments to final submissions: the work behind a file, stored for the hosts and never opened by the site."""

from __future__ import annotations

from django.db import models

from leaderboard.accounts.models import User

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
