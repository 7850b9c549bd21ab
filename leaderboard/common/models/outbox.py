"""E-mails that wait for the mail server."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class OutgoingEmail(models.Model):
    """An e-mail that was not sent yet; its row is deleted when the mail server has accepted it.

    Either `content` has the finished text, or the app of its `kind` builds it from `reference` when it is sent. `tries`
    counts claims, so a worker whose lease ran out finds a higher number and changes nothing.
    """

    recipients = models.TextField(blank=True)
    content = models.JSONField(default=dict)
    kind = models.CharField(max_length=20, blank=True)
    reference = models.PositiveBigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    due_at = models.DateTimeField()
    tries = models.PositiveIntegerField(default=0)
    # The last time at which the mail server refused all e-mails, not only this one.
    refused_all_at = models.DateTimeField(null=True)
    # The class of the error that the last try ended with, for operators.
    last_error = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes: ClassVar = [
            # E-mails without a kind are sent first: they hold links for which a person waits.
            models.Index(fields=["kind", "due_at"], name="outgoing_email_in_order"),
            models.Index(fields=["refused_all_at"], condition=Q(refused_all_at__isnull=False), name="mail_refused_all"),
        ]

    def __str__(self) -> str:
        return f"{self.kind or 'e-mail'} {self.pk}"
