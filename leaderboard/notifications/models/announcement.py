"""What a host writes to the class."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User, Viewer
from leaderboard.competitions.models import Competition

from .notice import Notice, NoticeKind


class AnnouncementQuerySet(models.QuerySet["Announcement"]):
    def for_user(self, user: Viewer) -> AnnouncementQuerySet:
        """Those that stand and that a member may read: written to all, or to a part of the class that they were in."""
        if user.is_anonymous:
            return self.none()
        notified = Notice.objects.filter(user=user, kind=NoticeKind.ANNOUNCEMENT).exclude(key="").values("key")
        return self.filter(Q(audience=Announcement.Audience.ALL) | Q(key__in=notified), withdrawn_at=None)


class Announcement(models.Model):
    """One text to the class or a part of it. Edited or withdrawn it keeps its row; `key` is that of its notices."""

    class Audience(models.TextChoices):
        """Who gets it, as things are when it is sent; who joins later reads what was written to all."""

        ALL = "all", _("Everybody in the competition")
        NO_VALID_FILE = "no_valid_file", _("Who has no valid file yet")
        SECTION = "section", _("One section")
        BELOW_BASELINE = "below_baseline", _("Who is below the best baseline on the public board")

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="announcements")
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    title = models.CharField(_("title"), max_length=120)
    text = models.TextField(_("text"), max_length=10_000)
    audience = models.CharField(max_length=20, choices=Audience.choices, default=Audience.ALL)
    section = models.CharField(max_length=200, blank=True)
    is_pinned = models.BooleanField(_("pinned"), default=False)
    key = models.CharField(max_length=100, unique=True, editable=False)
    reached = models.PositiveIntegerField(default=0, editable=False)
    sent_at = models.DateTimeField(default=timezone.now, editable=False)
    edited_at = models.DateTimeField(null=True, editable=False)
    withdrawn_at = models.DateTimeField(null=True, editable=False)

    objects = AnnouncementQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-is_pinned", "-sent_at", "-pk"]

    def __str__(self) -> str:
        return self.title

    @staticmethod
    def new_key() -> str:
        """Made with the form, so that a double click sends once."""
        return f"announcement:{uuid.uuid4().hex}"
