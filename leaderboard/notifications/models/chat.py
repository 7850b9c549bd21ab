"""Chat channels of competitions, and the messages to them."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.competitions.models import Competition, Team


class ChatEvent(models.TextChoices):
    """What a chat can hear of. Nothing in it is private: a channel has readers whom nobody here knows."""

    LAUNCHED = "launched", _("The competition is launched")
    DEADLINE = "deadline", _("The deadline is a day away")
    FIRST = "first", _("The first place of the public board changes")
    REVEALED = "revealed", _("The private board is open")
    ANNOUNCED = "announced", _("An announcement to everybody")


class Webhook(models.Model):
    """The channel of a competition. Whoever has `address` can write there, so it leaves the database for the sending
    alone; pages show `shown_address`."""

    competition = models.OneToOneField(Competition, on_delete=models.CASCADE, related_name="webhook")
    address = models.CharField(max_length=600)
    service = models.CharField(max_length=40)
    events = models.JSONField(default=list)
    is_on = models.BooleanField(default=True)
    # What is older than this is no news to the channel.
    since = models.DateTimeField(default=timezone.now)
    # The first place as last looked at; None and no moment: nobody has looked yet, so nothing has changed.
    first_team = models.ForeignKey(Team, null=True, on_delete=models.SET_NULL, related_name="+")
    first_seen_at = models.DateTimeField(null=True)
    # Why the last sending to this address failed; empty when it was taken, and before there was one.
    last_problem = models.CharField(max_length=40, blank=True)

    def __str__(self) -> str:
        return self.shown_address

    @property
    def shown_address(self) -> str:
        """Enough to know it again, too little to write there."""
        return f"{self.service} …{self.address[-4:]}"

    @property
    def wanted_events(self) -> list[ChatEvent]:
        return [event for event in ChatEvent if event.value in self.events]


class WebhookMessage(models.Model):
    """One message to a channel. `due_at` says when it is sent (None: it was, or never will be); `key` prevents a
    second message about the same thing."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="messages")
    event = models.CharField(max_length=20)
    title = models.CharField(max_length=300)
    text = models.TextField(blank=True)
    key = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(null=True, default=timezone.now)
    claim = models.UUIDField(null=True)
    tries = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    last_problem = models.CharField(max_length=40, blank=True)

    TEST: ClassVar = "test"

    class Meta:
        ordering: ClassVar = ["-created_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["webhook", "key"], name="webhook_message_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="webhook_message_due"),
        ]

    def __str__(self) -> str:
        return self.title

    @staticmethod
    def new_key() -> str:
        return f"test:{uuid.uuid4().hex}"

    @property
    def state(self) -> str:
        """`sent`, `waiting` (also for another try) or `given_up`."""
        if self.sent_at:
            return "sent"
        return "waiting" if self.due_at else "given_up"
