"""The forms of the admin's page of a competition: its settings, and its answers with metric and split."""

from __future__ import annotations

from dataclasses import replace

from django import forms
from django.http import HttpRequest
from django.utils import timezone

import metrics
from leaderboard.common.responses import signed_in_user
from leaderboard.common.viewer import viewer_zone
from leaderboard.competitions.forms import CompetitionForm, wall_text
from leaderboard.competitions.models import Competition, GroundTruth, TruthDraft
from leaderboard.ground_truths.forms import AnswersForm, ParameterForm, SecondaryForm
from leaderboard.ground_truths.queries import current_truth, free_slug, metric_or_none
from leaderboard.ground_truths.services import copying, data_files, drafts, setup
from leaderboard.ground_truths.specs import GroundTruthSpec

DATES = ("opens_at", "closes_at", "zone")


class AdminCompetitionForm(CompetitionForm):
    """The form of the host's pages, with proposed dates for a new competition."""

    def propose_dates(self, zone: str) -> None:
        now = timezone.now()
        closes_at = copying.end_of_day(now + copying.USUAL_LENGTH, zone)
        self.initial["zone"] = zone
        self.initial["opens_at"] = wall_text(now.replace(second=0), zone)
        self.initial["closes_at"] = wall_text(closes_at, zone)

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        return slug or self.instance.slug or free_slug(self.cleaned_data.get("title", ""))

    @property
    def dates(self) -> list[forms.BoundField]:
        return [self[name] for name in DATES if name in self.fields]

    @property
    def further_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in ("title", *DATES)]


class TruthForm(AnswersForm):
    """The form of the host's page for file and split, with the answer columns and the metric."""

    answers = forms.CharField(
        label="Answer column",
        required=False,
        max_length=1000,
        help_text="What students predict; commas between several. Leave empty for a proposal.",
    )
    metric = forms.CharField(
        max_length=200,
        required=False,
        help_text="Type a part of its name. Leave empty for a proposal.",
        widget=forms.TextInput(attrs={"list": "metrics", "autocomplete": "off", "placeholder": "Search metrics"}),
    )

    def __init__(self, competition: Competition | None, request: HttpRequest | None) -> None:
        super().__init__(competition, request)
        truth = current_truth(competition)
        self.fields["file"].required = competition is None
        if truth and (metric := metric_or_none(truth.metric)):
            self.initial["metric"] = metric.title
        if isinstance(truth, TruthDraft):
            self.initial["answers"] = ", ".join(truth.answer_choice.get("columns", ()))

    def clean_metric(self) -> str:
        if key := metric_named(self.cleaned_data["metric"]):
            return key
        if self.cleaned_data["metric"]:
            raise forms.ValidationError("Choose a metric from the list, or leave it empty.")
        return ""

    def clean_answers(self) -> list[str]:
        return [name.strip() for name in self.cleaned_data["answers"].split(",") if name.strip()]


def metric_named(text: str) -> str:
    """The key of the metric with this title or key; "" if there is none."""
    name = text.strip().casefold()
    keys = (metric.key for metric in metrics.catalogue() if name in (metric.key, str(metric.title).casefold()))
    return next(keys, "")


class CompetitionFormPage:
    """All forms of the page, validated and saved together."""

    def __init__(
        self, request: HttpRequest, competition: Competition | None, form_class: type[AdminCompetitionForm]
    ) -> None:
        self.request, self.competition = request, competition
        posted = request if request.method == "POST" else None
        # A copy, because validating the form changes the instance.
        instance = Competition.objects.get(pk=competition.pk) if competition else None
        self.settings = form_class(posted.POST if posted else None, instance=instance)
        if competition is None:
            self.settings.propose_dates(viewer_zone(request) or "UTC")
        self.truth: TruthDraft | GroundTruth | None = current_truth(competition)
        self.answers = TruthForm(competition, posted)
        self.secondary = SecondaryForm(posted.POST if posted else None, truth=self.truth)
        key = metric_named(str(self.answers.initial.get("metric", "")))
        self.parameters = ParameterForm(key, self.truth) if key and posted is None else None

    def is_valid(self) -> bool:
        parts: list[forms.BaseForm] = [self.settings, self.answers, self.secondary]
        is_valid = all([part.is_valid() for part in parts])
        if key := self.answers.cleaned_data.get("metric", ""):
            self.parameters = ParameterForm.from_post(self.request, key, self.truth, self.answers)
            is_valid = all([is_valid, self.parameters.is_valid(), self.answers.is_valid()])
        return is_valid

    def save_answers(self, competition: Competition) -> None:
        """Store the files for students, and the answers with metric and split, where the form changes them.

        Raises as `setup.set_answers` and `data_files.add_data_file` do.
        """
        user = signed_in_user(self.request.user)
        for file in self.request.FILES.getlist("students"):
            data_files.add_data_file(
                competition=competition, file_name=file.name or "", chunks=file.chunks(), user=user
            )
        spec = self._spec()
        if spec.chunks is None and (self.truth is None or spec == GroundTruthSpec.from_truth(self.truth)):
            return
        if competition.launched_at is None:
            setup.set_answers(competition=competition, user=user, spec=spec)
        else:
            drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)

    def _spec(self) -> GroundTruthSpec:
        spec = replace(
            GroundTruthSpec.from_truth(self.truth),
            metric=self.answers.cleaned_data["metric"],
            params=self.parameters.cleaned_data if self.parameters else {},
            secondary=self.secondary.chosen_metrics,
            **self.answers.split_fields,
            **self.answers.upload_fields,
        )
        names = self.answers.cleaned_data["answers"]
        return replace(spec, answers=names) if names and "answers" in self.answers.changed_data else spec
