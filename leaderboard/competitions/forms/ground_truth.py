"""The forms of a ground truth."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _

from leaderboard.sandbox import outside_metrics


class AnswersForm(forms.Form):
    """The answer file and its split; the metric is chosen on a page of its own."""

    file = forms.FileField(
        label=_("Answer file"),
        max_length=1000,
        error_messages={"required": _("Choose the file with the answers."), "empty": _("This file is empty.")},
    )
    id_column = forms.CharField(
        label=_("Id column"), required=False, max_length=200, help_text=_("Empty means the first column.")
    )
    public_percent = forms.IntegerField(
        label=_("Public part (%)"),
        min_value=1,
        max_value=99,
        initial=30,
        help_text=_("How much of the rows makes the public board."),
    )
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0, help_text=_("Another seed, another split.")
    )
    split_by = forms.ChoiceField(
        label=_("How the rows are drawn"),
        initial="stratified",
        choices=[
            ("random", _("At random: each row by itself")),
            ("stratified", _("Stratified: each class in the same proportion")),
            ("grouped", _("By groups: rows that belong together stay in one part")),
        ],
        widget=forms.RadioSelect,
        help_text=_("Numbers that hardly repeat are drawn at random, whatever you choose."),
    )
    group_column = forms.CharField(
        label=_("Column of the groups"),
        required=False,
        max_length=200,
        help_text=_("Such as a patient or a place. It is no answer, and is left out of the published file."),
    )

    redraws_split = forms.BooleanField(
        label=_("Draw the split anew"),
        required=False,
        help_text=_("Forgets which rows the file has as public and private, and draws them as below."),
    )

    def __init__(self, *args: Any, has_file: str = "", has_split: bool = False, **kwargs: Any) -> None:
        """`has_split`: the file at hand says itself which rows are public."""
        super().__init__(*args, **kwargs)
        if not has_split:
            del self.fields["redraws_split"]
        if self.is_bound and "split_by" not in self.data:
            # A program that fills the form in need not know the choice: a column of groups says enough.
            self.data = self.data.copy()  # type: ignore[attr-defined]
            self.data["split_by"] = "grouped" if self.data.get("group_column") else "stratified"  # type: ignore[index]
        self.fields["file"].required = not has_file
        self.fields["file"].help_text = (
            _("CSV, .csv.gz or .zip. Leave it empty to look at <strong>%(file)s</strong> again.")
            % {"file": escape(has_file)}
            if has_file
            else _(
                "CSV, .csv.gz or .zip: a column of ids, the answers, and if you like a column <code>Usage</code> "
                "with <code>Public</code>, <code>Private</code> or <code>Ignored</code>."
            )
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("split_by") == "grouped" and cleaned.get("group_column") == "":
            self.add_error("group_column", _("Name the column whose rows belong together, or choose another split."))
        return cleaned

    @property
    def split(self) -> dict[str, Any]:
        """The split as `hosting.draft_truth` takes it. Whole groups are drawn with the classes in proportion too, as
        far as that can be; a column that was typed before another choice was made says nothing."""
        filled = self.cleaned_data
        return {
            "public_share": filled["public_percent"] / 100,
            "seed": filled["seed"],
            "is_stratified": filled["split_by"] != "random",
            "group_column": filled["group_column"] if filled["split_by"] == "grouped" else "",
        }


class MetricForm(forms.Form):
    """The metric for a file that was looked at; its parameters are a form of their own."""

    metric = forms.ChoiceField(label=_("Metric"), widget=forms.RadioSelect)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(metric.key, metric.title) for metric in outside_metrics.selectable_metrics()]
        self.fields["metric"].choices = choices  # type: ignore[attr-defined]


class PublishForm(forms.Form):
    note = forms.CharField(
        label=_("Note"), required=False, max_length=300, help_text=_("What is new, for you and the other hosts.")
    )
    is_confirmed = forms.BooleanField(label=_("I want this all the same"), required=False)


class ApplyForm(forms.Form):
    """The notice to those affected when a board switches to a new ground truth."""

    tells = forms.BooleanField(
        label=_("Tell those whose scores or ranks change"),
        required=False,
        initial=True,
        help_text=_("On their page and by mail, as each of them chose. They see every score before and after."),
    )
    words = forms.CharField(
        label=_("In your words"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What was wrong and what you corrected; never an answer of the ground truth."),
    )
