"""The secret address under which a person's calendar program finds the dates of their competitions."""

from __future__ import annotations

import secrets

from django.db import models
from django.utils import timezone

from leaderboard.accounts.models import User, token_digest


class CalendarAddress(models.Model):
    """At most one per person. Only the digest is stored; the address itself is shown once, and a new one ends it."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="calendar_address")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"calendar of {self.user}"

    @classmethod
    def issue(cls, user: User) -> str:
        """The secret of a new address; the earlier one opens nothing any more."""
        secret = secrets.token_urlsafe(24)
        cls.objects.update_or_create(user=user, defaults={"digest": token_digest(secret), "created_at": timezone.now()})
        return secret

    @classmethod
    def owner_of(cls, secret: str) -> User | None:
        """The active person whom a secret belongs to."""
        found = cls.objects.select_related("user").filter(digest=token_digest(secret), user__is_active=True).first()
        return found.user if found else None
