"""Forms of a ground truth: answers and split, metric with parameters, secondary metrics, publishing, applying."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.html import escape
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import metrics
from leaderboard.common.form_widgets import LongSelect
from leaderboard.common.library_messages import translated_message
from leaderboard.competitions.models import Competition, GroundTruth, TruthDraft
from leaderboard.competitions.models.ground_truth import MAX_SECONDARY

from .queries import last_truth
from .services import checks
from .specs import MetricWithParams, proposed_parameters, secondary_of

SECONDARY_EXAMPLE = "quantile=0.9; weight=w"


class AnswersForm(forms.Form):
    """The answer file and its split; the metric is chosen on another page."""

    file = forms.FileField(
        label=_("Answer file"),
        max_length=1000,
        error_messages={"required": _("Choose the answer file."), "empty": _("This file is empty.")},
    )
    id_column = forms.CharField(
        label=_("Id column"), required=False, max_length=200, help_text=_("Leave empty for the first column.")
    )
    public_percent = forms.IntegerField(
        label=_("Public part (%)"),
        min_value=1,
        max_value=99,
        initial=30,
        help_text=_("Share of rows for the public leaderboard."),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text=_("A different seed gives a different split."),
    )
    split_by = forms.ChoiceField(
        label=_("Split method"),
        initial="stratified",
        choices=[
            ("random", _("Random: each row separately")),
            ("stratified", _("Stratified: same class shares in both parts")),
            ("grouped", _("Grouped: related rows stay in one part")),
        ],
        widget=forms.RadioSelect,
        help_text=_("If the answers are numbers on a scale, “stratified” splits at random too."),
    )
    group_column = forms.CharField(
        label=_("Group column"),
        required=False,
        max_length=200,
        help_text=_("For example a patient or a place. This column isn't scored."),
    )

    redraws_split = forms.BooleanField(
        label=_("Redraw the split"),
        required=False,
        help_text=_("Ignores the file's public and private rows and draws them as below."),
    )

    def __init__(self, competition: Competition | None, request: HttpRequest | None = None, **kwargs: Any) -> None:
        """The form with the posted values, else with those of the draft or the last ground truth.

        Without an upload their file is checked again.
        """
        truth = last_truth(competition) if competition else None
        if request is not None:
            kwargs |= {"data": request.POST, "files": request.FILES}
        super().__init__(initial=_settings_of(truth) if truth else {}, **kwargs)
        is_drawn = isinstance(truth, TruthDraft) and truth.report["is_split_by_system"]
        # After the launch each row keeps its part, so a redraw is not offered.
        if truth is None or is_drawn or (competition and competition.launched_at):
            del self.fields["redraws_split"]
        if self.is_bound and "split_by" not in self.data:
            # Programs need not send `split_by`: it follows from the group column.
            self.data = self.data.copy()  # type: ignore[attr-defined]
            self.data["split_by"] = "grouped" if self.data.get("group_column") else "stratified"  # type: ignore[index]
        self.fields["file"].required = truth is None
        self.fields["file"].help_text = (
            _("CSV, Excel or Parquet. Leave empty to check <strong>%(file)s</strong> again.")
            % {"file": escape(truth.file_name)}
            if truth
            else _(
                "CSV, Excel or Parquet with an id column and the answers. Optional: a column "
                "<code>Usage</code> with <code>Public</code>, <code>Private</code> or <code>Ignored</code>."
            )
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("split_by") == "grouped" and cleaned.get("group_column") == "":
            self.add_error("group_column", _("Choose the group column, or another split."))
        return cleaned

    @property
    def upload_fields(self) -> dict[str, Any]:
        """Fields of `GroundTruthSpec` for the uploaded file; {} without one."""
        file = self.cleaned_data["file"]
        return {"file_name": file.name, "chunks": file.chunks()} if file else {}

    @property
    def split_fields(self) -> dict[str, Any]:
        """Fields of `GroundTruthSpec` for id column and split.

        Grouped splits are stratified too, as far as possible. A group column is ignored for other split methods. The
        split of a new file is not redrawn.
        """
        filled = self.cleaned_data
        return {
            "id_column": filled["id_column"],
            "redraws_split": bool(filled.get("redraws_split")) and not filled["file"],
            "public_share": filled["public_percent"] / 100,
            "seed": filled["seed"],
            "is_stratified": filled["split_by"] != "random",
            "group_column": filled["group_column"] if filled["split_by"] == "grouped" else "",
        }


def _settings_of(truth: TruthDraft | GroundTruth) -> dict[str, Any]:
    """Initial values of `AnswersForm`. Files with a split need no settings for it."""
    if isinstance(truth, GroundTruth):
        return {"id_column": truth.id_column}
    return {
        "id_column": truth.id_column,
        "public_percent": round(truth.public_share * 100),
        "seed": truth.seed,
        "split_by": "grouped" if truth.group_column else "stratified" if truth.is_stratified else "random",
        "group_column": truth.group_column,
    }


class MetricForm(forms.Form):
    """Choice of the metric, with what publishing asks for; the metric's parameters are in `ParameterForm`."""

    metric = forms.ChoiceField(
        label=_("Metric"),
        widget=forms.RadioSelect,
        choices=lambda: [(metric.key, metric.title) for metric in metrics.catalogue()],
    )
    note = forms.CharField(
        label=_("Note"), required=False, max_length=300, help_text=_("Reason for the change, for you and other hosts.")
    )
    is_confirmed = forms.BooleanField(label=_("Do it anyway"), required=False)


class ParameterForm(forms.Form):
    """Fields for a metric's parameters, made and validated by the metric's declaration."""

    prefix = "param"

    def __init__(self, key: str, truth: TruthDraft | GroundTruth | None, data: Mapping[str, Any] | None = None) -> None:
        """The form with the posted values, else with those of a draft or ground truth, else with those that suit it.

        The columns of its answers are the choices for parameters that name one; without answers the name is typed.
        """
        super().__init__(data)
        self.key = key
        values: Mapping[str, Any] = proposed_parameters(key, truth.fits if isinstance(truth, TruthDraft) else ())
        if truth and truth.metric == key:
            values = truth.params
        columns = checks.target_columns(truth) if truth else []
        for parameter in metrics.get(key).parameters:
            value = values.get(parameter.name, parameter.default)
            self.fields[parameter.name] = _field_of(parameter, "" if value is None else value, columns)

    @classmethod
    def from_post(
        cls, request: HttpRequest, key: str, truth: TruthDraft | GroundTruth | None, chooser: forms.Form
    ) -> ParameterForm:
        """The form with the posted parameters. If the page showed those of another metric, the proposed ones, with an
        error of the metric's `chooser` that asks to review them. An uploaded file may have other columns."""
        truth = None if request.FILES else truth
        metric = metrics.get(key)
        if not metric.parameters or request.POST.get("parameters_of") == key:
            return cls(key, truth, request.POST)
        message = _("%(metric)s has parameters. Review them, then check the file.")
        chooser.add_error("metric", message % {"metric": translated_message(metric.title)})
        return cls(key, truth)

    def clean(self) -> dict[str, Any]:
        try:
            return metrics.clean_params(self.key, self.cleaned_data)
        except metrics.ParameterError as error:
            for name, sentence in error.errors.items():
                self.add_error(name if name in self.fields else None, translated_message(sentence))
            return {}


def _field_of(parameter: metrics.Parameter, initial: Any, columns: Sequence[str]) -> forms.Field:
    """The form field of a parameter. Numbers stay text, because the metric validates them and words the errors."""
    label = parameter.name.replace("_", " ").capitalize()
    options: dict[str, Any] = {"label": label, "initial": initial, "help_text": escape(_parameter_hint(parameter))}
    if parameter.kind == "bool":
        return forms.BooleanField(required=False, **options)
    if parameter.kind == "column" and columns:
        if initial not in columns:
            options["initial"] = ""
        names = [(name, name) for name in columns]
        return forms.ChoiceField(
            choices=[("", gettext("Choose a column")), *names], required=not parameter.optional, **options
        )
    if parameter.kind == "choice":
        choices = [(str(choice), str(choice)) for choice in parameter.choices]
        return forms.ChoiceField(
            choices=[*([("", "–")] if parameter.optional else []), *choices],
            required=not parameter.optional,
            **options,
        )
    widget: forms.Widget = forms.TextInput(attrs={"autocomplete": "off"})
    if parameter.kind == "text" and parameter.longest > 1000:
        widget = forms.Textarea(attrs={"autocomplete": "off", "rows": 4, "spellcheck": "false"})
    if parameter.kind in ("int", "float"):
        limits = {"min": parameter.minimum, "max": parameter.maximum, "step": 1 if parameter.kind == "int" else "any"}
        widget = forms.NumberInput(attrs={name: f"{v}" for name, v in limits.items() if v is not None})
    most = parameter.longest
    return forms.CharField(required=not parameter.optional, strip=False, widget=widget, max_length=most, **options)


def _parameter_hint(parameter: metrics.Parameter) -> str:
    """Help text of a parameter: its description, bounds and default."""
    least = gettext("more than %(number)s") if parameter.exclusive_minimum else gettext("at least %(number)s")
    bounds = [
        text % {"number": f"{value:g}"}
        for text, value in ((least, parameter.minimum), (gettext("at most %(number)s"), parameter.maximum))
        if value is not None
    ]
    default = gettext("empty") if parameter.default is None else parameter.default
    # The help of a custom metric may end without a full stop.
    description = translated_message(parameter.help).strip()
    description += "." if description and not description.endswith((".", "!", "?", "…")) else ""
    between = gettext(" and ")
    limits = f"{between.join(bounds).capitalize()}." if bounds else ""
    last = gettext("Required.") if parameter.required else gettext("Default: %(value)s.") % {"value": default}
    return " ".join(sentence for sentence in (description, limits, last) if sentence)


class SecondaryForm(forms.Form):
    """A row for each possible secondary metric; rows without a metric are ignored."""

    prefix = "also"

    def __init__(self, data: Mapping[str, Any] | None = None, *, truth: TruthDraft | GroundTruth | None = None) -> None:
        """The form with the posted values, else with the secondary metrics of a draft or ground truth."""
        super().__init__(data)
        groups: dict[str, list[tuple[str, str]]] = {}
        for metric in metrics.catalogue():
            group = groups.setdefault(translated_message(metric.group), [])
            group.append((metric.key, translated_message(metric.title)))
        chosen = [*(secondary_of(truth) if truth else ()), *[("", {})] * MAX_SECONDARY]
        for number, (key, params) in enumerate(chosen[:MAX_SECONDARY], start=1):
            self.fields[f"metric_{number}"] = forms.ChoiceField(
                label=gettext("Secondary metric %(number)s") % {"number": number},
                choices=[("", gettext("None")), *groups.items()],
                required=False,
                initial=key,
                widget=LongSelect,
            )
            self.fields[f"params_{number}"] = forms.CharField(
                label=gettext("Parameters, %(number)s") % {"number": number},
                required=False,
                max_length=500,
                initial=params_line(key, params),
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )

    @property
    def row_fields(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        return [(self[f"metric_{n}"], self[f"params_{n}"]) for n in range(1, MAX_SECONDARY + 1)]

    @property
    def is_open(self) -> bool:
        """Whether the section of the page starts open: with errors, or with a metric chosen."""
        return bool(self.errors) or any(metric.value() for metric, _ in self.row_fields)

    def clean(self) -> dict[str, Any]:
        chosen = []
        for number in range(1, MAX_SECONDARY + 1):
            key = self.cleaned_data.get(f"metric_{number}")
            text = self.cleaned_data.get(f"params_{number}", "")
            try:
                if key:
                    chosen.append((key, metrics.clean_params(key, parse_params_line(text))))
                elif text:
                    raise ValidationError(gettext("Choose a metric for these parameters."))
            except metrics.ParameterError as error:
                for name, sentence in error.errors.items():
                    self.add_error(f"params_{number}", f"{name}: {translated_message(sentence)}")
            except ValidationError as error:
                self.add_error(f"params_{number}", error)
        return {"metrics": tuple(chosen)}

    @property
    def chosen_metrics(self) -> tuple[MetricWithParams, ...]:
        """The chosen metrics of a valid form."""
        chosen: tuple[MetricWithParams, ...] = self.cleaned_data["metrics"]
        return chosen


def parse_params_line(text: str) -> dict[str, str]:
    """Name → value from a line such as `quantile=0.9; weight=w`. Raises `ValidationError`."""
    params = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, is_pair, value = part.partition("=")
        if not is_pair:
            raise ValidationError(
                gettext("Write parameters as name=value, separated by semicolons: %(example)s.")
                % {"example": SECONDARY_EXAMPLE}
            )
        params[name.strip()] = value.strip()
    return params


def params_line(key: str, params: Mapping[str, Any]) -> str:
    """The line for `parse_params_line` with the parameters that are not at their defaults."""
    try:
        defaults = {parameter.name: parameter.default for parameter in metrics.get(key).parameters}
    except metrics.UnknownMetric:
        return ""
    changed = {name: value for name, value in params.items() if value != defaults.get(name)}
    return "; ".join(f"{name}={'' if value is None else value}" for name, value in changed.items())


class RowsForm(forms.Form):
    """Right answers of single rows, typed or pasted from a spreadsheet: in each line an ID and an answer for each of
    `columns`. After validation `corrected` maps IDs to answers."""

    rows = forms.CharField(label=_("Right answers"), max_length=100_000, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, columns: Sequence[str], data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.columns = columns
        names = ", ".join([gettext("id"), *columns])
        self.fields["rows"].help_text = gettext("One row a line: %(names)s.") % {"names": names}

    def clean_rows(self) -> str:
        text: str = self.cleaned_data["rows"]
        self.corrected: dict[str, list[str]] = {}
        for line in filter(str.strip, text.splitlines()):
            separator = next((mark for mark in "\t;" if mark in line), ",")
            key, *answers = (cell.strip() for cell in next(csv.reader([line], delimiter=separator)))
            if len(answers) != len(self.columns) or not all((key, *answers)):
                raise ValidationError(_("“%(line)s” is not an id and its right answer.") % {"line": line[:100]})
            self.corrected[key] = answers
        return text


class ApplyForm(forms.Form):
    """Whether affected teams are notified when the board switches to a new ground truth, and the message to them."""

    notifies = forms.BooleanField(
        label=_("Notify teams whose scores or ranks change"),
        required=False,
        initial=True,
        help_text=_("They see each score before and after."),
    )
    message = forms.CharField(
        label=_("Message"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What was wrong and what you corrected. Don't quote answers."),
    )
