"""Read-only admin of published answers; a competition's own page checks and publishes them."""

from __future__ import annotations

import json

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.boards import secondary as secondary_module
from leaderboard.competitions.models import GroundTruth

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
