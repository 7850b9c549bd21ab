"""Admin of ground truths: upload and check a draft, publish it by an action; published ones are read-only."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.boards import secondary as secondary_module
from leaderboard.common.responses import see_other
from leaderboard.competitions.host_responses import REFUSALS, add_refusal
from leaderboard.competitions.models import Competition, GroundTruth, TruthDraft
from leaderboard.competitions.views import answered_by_worker
from leaderboard.ground_truths.forms import AnswersForm, ParameterForm, SecondaryForm
from leaderboard.ground_truths.queries import current_truth, draft_of, metric_or_none
from leaderboard.ground_truths.services import drafts, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec

from .scope import REFUSAL_ERRORS, ScopedAdmin, error_lines


class TruthForm(AnswersForm):
    """The form of the host's page for file and split, with the answer columns and the metric."""

    competition = forms.ModelChoiceField(queryset=Competition.objects.none())
    answers = forms.CharField(
        label="Answer column",
        required=False,
        max_length=1000,
        help_text="What students predict. Separate several with commas. Leave empty for all columns but the id.",
    )
    metric = forms.CharField(
        max_length=200,
        help_text="Type a part of its name.",
        widget=forms.TextInput(attrs={"list": "metrics", "autocomplete": "off", "placeholder": "Search metrics"}),
    )

    def __init__(
        self, competition: Competition | None, request: HttpRequest | None, *, hosted: QuerySet[Competition]
    ) -> None:
        super().__init__(competition, request)
        field = self.fields["competition"]
        field.queryset = hosted.filter(pk=competition.pk) if competition and request else hosted  # type: ignore[attr-defined]
        if competition is None:
            return
        self.initial["competition"] = competition.pk
        truth = current_truth(competition)
        if truth and (metric := metric_or_none(truth.metric)):
            self.initial["metric"] = metric.title
        if isinstance(truth, TruthDraft):
            self.initial["answers"] = ", ".join(truth.answer_choice.get("columns", ()))

    def clean_metric(self) -> str:
        if key := metric_named(self.cleaned_data["metric"]):
            return key
        raise forms.ValidationError("Choose a metric from the list.")

    def clean_answers(self) -> list[str]:
        return [name.strip() for name in self.cleaned_data["answers"].split(",") if name.strip()]


def metric_named(text: str) -> str:
    """The key of the metric with this title or key; "" if there is none."""
    name = text.strip().casefold()
    keys = (metric.key for metric in metrics.catalogue() if name in (metric.key, str(metric.title).casefold()))
    return next(keys, "")


@admin.register(TruthDraft)
class TruthDraftAdmin(ScopedAdmin):
    """An admin page with the forms of the host's pages; the same service checks the answers."""

    list_display = ("competition", "file_name", "metric", "verdict", "uploaded_at")
    actions = ("publish", "publish_confirmed", "discard")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_in_scope(request, obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.parameters_view)
        return [path("parameters/", view, name="competitions_truthdraft_parameters"), *super().get_urls()]

    @method_decorator(answered_by_worker(gettext_lazy("Publishing the answers")))
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return super().changelist_view(request, extra_context)

    def parameters_view(self, request: HttpRequest) -> HttpResponse:
        """Fragment with the parameter fields of the chosen metric, for htmx."""
        competition, key = self._requested_competition(request, None), metric_named(request.GET.get("metric", ""))
        parameters = ParameterForm(key, current_truth(competition)) if key else None
        context = {"metric": metrics.get(key) if key else None, "parameters": parameters}
        return render(request, "admin/competitions/truthdraft/parameters.html", context)

    @method_decorator(answered_by_worker(gettext_lazy("Checking the answers")))
    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        draft = self.get_object(request, object_id) if object_id else None
        if not self.has_module_permission(request):
            raise PermissionDenied
        if object_id and draft is None:
            raise Http404
        competition = self._requested_competition(request, draft)
        if draft is None and request.method == "GET" and competition and (existing := draft_of(competition)):
            return redirect("admin:competitions_truthdraft_change", existing.pk)
        hosted = Competition.objects.hosted_by(request.user)
        form = TruthForm(competition, request if request.method == "POST" else None, hosted=hosted)
        if request.method == "POST":
            return self._check(request, competition, form)
        key = metric_named(form.initial.get("metric", ""))
        parameters = ParameterForm(key, current_truth(competition)) if competition and key else None
        return self._page(request, competition, form, parameters)

    def _requested_competition(self, request: HttpRequest, draft: TruthDraft | None) -> Competition | None:
        if draft is not None:
            return draft.competition
        key = (request.POST if request.method == "POST" else request.GET).get("competition", "")
        hosted = Competition.objects.hosted_by(request.user)
        return hosted.filter(pk=int(key)).first() if key.isdecimal() and len(key) < 19 else None

    def _check(self, request: HttpRequest, competition: Competition | None, form: TruthForm) -> HttpResponse:
        """Store and check the file with its metric, as on the host's page; replaces the competition's draft."""
        secondary, parameters, status = SecondaryForm(request.POST), None, 422
        try:
            is_valid = form.is_valid()
            if key := form.cleaned_data.get("metric", ""):
                parameters = ParameterForm.from_post(request, key, current_truth(competition), form)
                is_valid = form.is_valid() and parameters.is_valid()
            if secondary.is_valid() and is_valid and parameters is not None:
                draft = _draft_of_form(form, parameters, secondary)
                level = messages.SUCCESS if draft.report["ok"] else messages.WARNING
                self.message_user(request, f"{draft.file_name}: {_draft_verdict(draft)}", level)
                return see_other("admin:competitions_truthdraft_change", object_id=draft.pk)
        except REFUSALS as error:
            status = add_refusal(form, error)
        return self._page(request, competition, form, parameters, secondary, status=status)

    def _page(
        self,
        request: HttpRequest,
        competition: Competition | None,
        form: TruthForm,
        parameters: ParameterForm | None,
        secondary: SecondaryForm | None = None,
        *,
        status: int = 200,
    ) -> HttpResponse:
        draft = draft_of(competition) if competition else None
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Answers and metric",
            "competition": competition,
            "draft": draft,
            "findings": self.findings(draft) if draft else "",
            "form": form,
            "parameters": parameters,
            "metric": metrics.get(parameters.key) if parameters else None,
            "secondary": secondary or SecondaryForm(truth=current_truth(competition)),
            "metrics": metrics.catalogue(),
        }
        return render(request, "admin/competitions/truthdraft/change_form.html", context, status=status)

    @admin.display(description="check")
    def verdict(self, obj: TruthDraft) -> str:
        return _draft_verdict(obj)

    def findings(self, obj: TruthDraft) -> SafeString:
        report = obj.report
        rows = f"{report.get('public_rows', 0)} public, {report.get('private_rows', 0)} private rows."
        lines = format_html_join(
            "", "<li>{}{}</li>", (("Blocks: " if f["blocking"] else "", f["message"]) for f in report["findings"])
        )
        return format_html("<p>{} {}</p><ul>{}</ul>", _draft_verdict(obj), rows, lines)

    @admin.action(description="Publish")
    def publish(self, request: HttpRequest, queryset: QuerySet[TruthDraft]) -> None:
        self._publish(request, queryset, is_confirmed=False)

    @admin.action(description="Publish, and confirm what the metric asks about")
    def publish_confirmed(self, request: HttpRequest, queryset: QuerySet[TruthDraft]) -> None:
        self._publish(request, queryset, is_confirmed=True)

    @admin.action(description="Throw away")
    def discard(self, request: HttpRequest, queryset: QuerySet[TruthDraft]) -> None:
        for draft in queryset.select_related("competition"):
            drafts.discard_draft(competition=draft.competition)
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


def _draft_of_form(form: TruthForm, parameters: ParameterForm, secondary: SecondaryForm) -> TruthDraft:
    spec = GroundTruthSpec(
        metric=form.cleaned_data["metric"],
        params=parameters.cleaned_data,
        secondary=secondary.chosen_metrics,
        answers=form.cleaned_data["answers"],
        **form.split_fields,
        **form.upload_fields,
    )
    return drafts.save_draft(competition=form.cleaned_data["competition"], spec=spec, suggests_metrics=True)


def _draft_verdict(draft: TruthDraft) -> str:
    findings = draft.report.get("findings", [])
    blocking = sum(finding["blocking"] for finding in findings)
    if blocking:
        return f"cannot be published, {blocking} of {len(findings)} findings block."
    return f"can be published, {len(findings)} findings." if findings else "can be published."
