"""Read-only admin of published answers, which a competition's own page checks and publishes, and of the audit log."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.boards import secondary as secondary_module
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition, GroundTruth

from .scope import ScopedAdmin


@admin.register(GroundTruth)
class GroundTruthAdmin(ScopedAdmin):
    """Read-only, because a correction is a new ground truth with the next number."""

    list_display = ("competition", "number", "metric", "rows", "published_by", "published_at")
    list_filter = (("competition", admin.RelatedOnlyFieldListFilter), "metric")
    list_select_related = ("competition", "published_by")
    fields = (
        "competition",
        "number",
        "file_name",
        "sha256",
        "metric",
        "metric_version",
        "parameters",
        "secondary_metrics",
        "id_column",
        "rows",
        "public_rows",
        "private_rows",
        "ignored_rows",
        "note",
        "published_by",
        "published_at",
        "download",
    )
    readonly_fields = ("parameters", "secondary_metrics", "download")

    @admin.display(description="parameters")
    def parameters(self, obj: GroundTruth) -> str:
        return json.dumps(obj.params)

    @admin.display(description="secondary metrics")
    def secondary_metrics(self, obj: GroundTruth) -> str:
        return "; ".join(one.name for one in secondary_module.secondary_metrics_of(obj)) or "none"

    @admin.display(description="file")
    def download(self, obj: GroundTruth) -> SafeString:
        where = reverse("host_truth_file", args=[obj.competition.slug, obj.number])
        return format_html('<a href="{}" download>Download</a> (hosts alone)', where)


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
