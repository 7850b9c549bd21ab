"""Notices to a person, shown on the site and sent by e-mail as the person chooses; hosts' announcements."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition

from .kinds import Delivery, NoticeKind


class NoticeChoice(models.Model):
    """A person's choice for one kind of notice; without a row `NoticeKind.default` applies."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notice_choices")
    kind = models.CharField(max_length=40)
    delivery = models.CharField(max_length=10, choices=Delivery.choices)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "kind"], name="one_choice_per_kind_of_notice"),
            models.CheckConstraint(name="notice_delivery_known", condition=Q(delivery__in=Delivery.values)),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.kind} {self.delivery}"


class Notice(models.Model):
    """One notice to one person. `key` prevents a second notice about the same event, such as a reminder."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices")
    competition = models.ForeignKey(Competition, null=True, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    # Kind, key and name of each person, team and file whose name the text may have in “quotes”.
    mentions = models.JSONField(default=list, editable=False)
    link = models.CharField(max_length=300, blank=True)
    key = models.CharField(max_length=100, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    read_at = models.DateTimeField(null=True, editable=False)
    mailed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "key"], condition=~Q(key=""), name="notice_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["user"], condition=Q(read_at=None), name="notice_unread"),
            models.Index(fields=["user", "-created_at"], name="notice_by_user"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_markdown(self) -> bool:
        return self.kind == NoticeKind.ANNOUNCEMENT


class AnnouncementQuerySet(models.QuerySet["Announcement"]):
    def for_account(self, user_id: int) -> AnnouncementQuerySet:
        """Announcements that a member may read: not withdrawn, and sent to all or to an audience they belonged to."""
        notified = Notice.objects.filter(user=user_id, kind=NoticeKind.ANNOUNCEMENT).exclude(key="").values("key")
        return self.filter(Q(audience=Announcement.Audience.ALL) | Q(key__in=notified), withdrawn_at=None)


class Announcement(models.Model):
    """A host's text to the class or a part of it. Withdrawn ones keep their row. `key` is the key of its notices."""

    class Audience(models.TextChoices):
        """The readers, fixed when it is sent. Students who join later see announcements to `ALL` only."""

        ALL = "all", _("Everyone in the competition")
        NO_VALID_FILE = "no_valid_file", _("Teams without a valid file")
        SECTION = "section", _("One section")
        BELOW_BASELINE = "below_baseline", _("Teams that don't beat the best baseline")
        # Offered only by a link on a team's page; `section` then holds the team's name.
        TEAM = "team", _("One team")

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
        """A key for the form, so that a double click sends one announcement."""
        return f"announcement:{uuid.uuid4().hex}"
