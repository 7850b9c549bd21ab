"""Read-only admin of the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition

from .scope import ScopedAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ScopedAdmin):
    """Staff see entries about competitions that they host; operators see all, even about deleted ones."""

    list_display = ("pk", "at", "words", "about", "competition", "by", "account")
    list_filter = ("event",)
    fields = ("at", "words", "about", "competition", "by", "account", "before", "after")
    readonly_fields = ("words",)
    search_fields = ("about",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = AuditEntry.objects.all()
        if getattr(request.user, "is_superuser", False):
            return found
        return found.filter(competition__in=Competition.objects.hosted_by(request.user).values("pk"))
