"""A role offered to an e-mail address until an account confirms that address."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition


class HostingRole(StrEnum):
    HOST = "host"
    ASSISTANT = "assistant"


class RoleInvitation(models.Model):
    """An offer is deleted when it is taken up or withdrawn; the audit log records it. It lapses when the host who made
    it hosts no longer."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="role_invitations")
    email = models.CharField(max_length=254)
    role = models.CharField(max_length=10)
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    made_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["email"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "email"], name="role_invitation_once"),
            models.CheckConstraint(name="role_invitation_known", condition=Q(role__in=["host", "assistant"])),
        ]
        indexes: ClassVar = [models.Index(fields=["email"], name="role_invitation_by_email")]

    def __str__(self) -> str:
        return self.email

    @property
    def role_words(self) -> str:
        return _("a host") if self.role == HostingRole.HOST else _("an assistant")
