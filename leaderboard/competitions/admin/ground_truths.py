"""Ground truths: a draft is uploaded and checked here, published by an action, and never edited."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

import metrics
from leaderboard.sandbox import outside_metrics

from ..models import GroundTruth, TruthDraft
from ..ranking import secondary as secondary_module
from ..services import competitions, publishing, secondary_metrics, truth_drafts
from .scope import REFUSAL_ERRORS, ScopedAdmin, error_lines


class TruthDraftForm(forms.ModelForm):  # type: ignore[type-arg]
    """A file with its metric; what the check finds is shown afterwards."""

    file = forms.FileField(required=False, help_text="CSV, .csv.gz or .zip. Empty keeps the file that is there.")
    metric = forms.ChoiceField()
    params = forms.JSONField(
        required=False, initial=dict, help_text='The metric\'s parameters as JSON, for example {"beta": 0.5}.'
    )

    secondary = forms.JSONField(
        required=False,
        initial=list,
        help_text='Metrics shown beside the score, for example [{"key": "mae", "params": {}}].',
    )

    class Meta:
        model = TruthDraft
        fields: ClassVar = [
            "competition",
            "file",
            "metric",
            "params",
            "secondary",
            "id_column",
            "public_share",
            "seed",
            "is_stratified",
            "group_column",
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(metric.key, f"{metric.title} ({metric.key})") for metric in outside_metrics.selectable_metrics()]
        self.fields["metric"].choices = choices  # type: ignore[attr-defined]
        if self.instance.pk:
            self.fields["competition"].disabled = True

    def clean_params(self) -> dict[str, Any]:
        params = self.cleaned_data["params"] or {}
        if not isinstance(params, dict):
            raise forms.ValidationError("Write a JSON object.")
        try:
            return metrics.clean_params(self.cleaned_data.get("metric", ""), params)
        except metrics.ParameterError as error:
            raise forms.ValidationError(error_lines(error)) from error
        except metrics.UnknownMetric:
            return {}

    def clean_secondary(self) -> list[tuple[str, dict[str, Any]]]:
        try:
            rows = [(str(one["key"]), dict(one.get("params") or {})) for one in self.cleaned_data["secondary"] or []]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise forms.ValidationError("Write a JSON list of objects with key and params.") from error
        try:
            return [(one["key"], one["params"]) for one in secondary_metrics.clean_secondary(rows)]
        except competitions.CannotHost as error:
            raise forms.ValidationError(error_lines(error)) from error


@admin.register(TruthDraft)
class TruthDraftAdmin(ScopedAdmin):
    form = TruthDraftForm
    list_display = ("competition", "file_name", "metric", "verdict", "uploaded_at")
    actions = ("publish", "publish_confirmed", "discard")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_in_scope(request, obj)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [*(["findings"] if obj else []), *TruthDraftForm.Meta.fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["findings"] if obj else []

    def save_model(self, request: HttpRequest, obj: TruthDraft, form: Any, change: bool) -> None:
        """Check at once, as on the host's page; a competition has one draft, so a second replaces it."""
        filled = form.cleaned_data
        file = filled["file"]
        made = truth_drafts.draft_truth(
            competition=filled["competition"],
            metric=filled["metric"],
            params=filled["params"],
            secondary=filled["secondary"],
            file_name=file.name if file else "",
            chunks=file.chunks() if file else None,
            id_column=filled["id_column"],
            public_share=filled["public_share"],
            seed=filled["seed"],
            is_stratified=filled["is_stratified"],
            group_column=filled["group_column"],
        )
        obj.pk, obj._state.adding, obj._state.db = made.pk, False, made._state.db
        obj.refresh_from_db()
        level = messages.SUCCESS if made.report["ok"] else messages.WARNING
        self.message_user(request, f"{made.file_name}: {_draft_verdict(made)}", level)

    @admin.display(description="check")
    def verdict(self, obj: TruthDraft) -> str:
        return _draft_verdict(obj)

    @admin.display(description="check")
    def findings(self, obj: TruthDraft) -> SafeString:
        report = obj.report
        rows = f"{report.get('public_rows', 0)} public, {report.get('private_rows', 0)} private rows."
        lines = format_html_join(
            "", "<li>{}{}</li>", (("Blocks: " if f["blocking"] else "", f["message"]) for f in report["findings"])
        )
        where = reverse("host_truth", args=[obj.competition.slug])
        return format_html(
            '<p>{} {}</p><ul>{}</ul><p><a href="{}">On the host page</a></p>', _draft_verdict(obj), rows, lines, where
        )

    @admin.action(description="Publish")
    def publish(self, request: HttpRequest, queryset: QuerySet[TruthDraft]) -> None:
        self._publish(request, queryset, is_confirmed=False)

    @admin.action(description="Publish, and confirm what the metric asks about")
    def publish_confirmed(self, request: HttpRequest, queryset: QuerySet[TruthDraft]) -> None:
        self._publish(request, queryset, is_confirmed=True)

    @admin.action(description="Throw away")
    def discard(self, request: HttpRequest, queryset: QuerySet[TruthDraft]) -> None:
        for draft in queryset.select_related("competition"):
            truth_drafts.discard_draft(competition=draft.competition)
            self.message_user(request, f"{draft} is thrown away.", messages.SUCCESS)

    def _publish(self, request: HttpRequest, queryset: QuerySet[TruthDraft], *, is_confirmed: bool) -> None:
        for draft in queryset.select_related("competition"):
            try:
                ground_truth = publishing.publish_draft(
                    competition=draft.competition,
                    user=request.user,  # type: ignore[arg-type]
                    is_confirmed=is_confirmed,
                )
            except REFUSAL_ERRORS as error:
                self.message_user(request, f"{draft}: {' '.join(error_lines(error))}", messages.ERROR)
            else:
                self.message_user(request, f"{ground_truth} is published.", messages.SUCCESS)


@admin.register(GroundTruth)
class GroundTruthAdmin(ScopedAdmin):
    """Read-only: a correction is a new number."""

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


def _draft_verdict(draft: TruthDraft) -> str:
    findings = draft.report.get("findings", [])
    blocking = sum(finding["blocking"] for finding in findings)
    if blocking:
        return f"cannot be published, {blocking} of {len(findings)} findings block."
    return f"can be published, {len(findings)} findings." if findings else "can be published."
