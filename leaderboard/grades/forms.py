"""Forms for the grade rules: which score is worth how many points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from .rules import MAX_STEPS, GradingMethod, GradingRules

LINES = 6
METHODS = (
    (GradingMethod.LINEAR.value, _("Linear: points rise with the score between two rows")),
    (GradingMethod.THRESHOLDS.value, _("Thresholds: each score that is reached gives its points")),
    (GradingMethod.PERCENTILE.value, _("Percentile: points by rank")),
    (GradingMethod.PARTICIPATION.value, _("Participation only: the score doesn't matter")),
)


def _form_number(value: Any) -> Any:
    """A whole float as an int, so that the form shows 100 and not 100.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class GradeStepForm(forms.Form):
    """One row: a baseline, a score or a share of the teams, and its points. A row without points is ignored."""

    baseline = forms.ChoiceField(label=_("Baseline"), required=False)
    score = forms.FloatField(label=_("or score"), required=False)
    top = forms.FloatField(label=_("Top … % of teams"), required=False)
    points = forms.FloatField(label=_("Points"), required=False)

    def __init__(self, *args: Any, names: Iterable[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "–"), *((name, name) for name in names)]
        self.fields["baseline"].choices = choices  # type: ignore[attr-defined]
        for name in ("score", "top", "points"):
            self.fields[name].widget.attrs |= {"step": "any", "autocomplete": "off"}


class GradeRulesForm(forms.Form):
    method = forms.ChoiceField(label=_("How scores become points"), choices=METHODS, widget=forms.RadioSelect)
    max_points = forms.FloatField(label=_("Maximum"), min_value=0)
    minimum = forms.FloatField(label=_("Minimum"), min_value=0, help_text=_("For any scored submission."))
    decimals = forms.IntegerField(label=_("Decimal places"), min_value=0, max_value=3, help_text=_("0.5 rounds up."))
    participation_points = forms.FloatField(
        label=_("Participation points"), min_value=0, help_text=_("Added to the points for the score. 0 for none.")
    )
    participation_files = forms.IntegerField(
        label=_("Valid submissions needed for participation"), min_value=1, help_text=_("Per team, on time.")
    )
    late_percent = forms.FloatField(
        label=_("Percent off per late day"),
        required=False,
        min_value=0,
        max_value=100,
        help_text=_("Part of a day counts as a full day. Leave empty to ignore late submissions."),
    )
    none_is_zero = forms.BooleanField(
        label=_("0 points without a scored submission"), required=False, help_text=_("Otherwise there's no grade.")
    )
    title = forms.CharField(
        label=_("Assignment name"),
        max_length=120,
        help_text=_("The column name in files for Canvas, Moodle and Brightspace."),
    )

    def __init__(self, data: Any, rules: GradingRules, names: Iterable[str]) -> None:
        initial = rules.as_json()
        steps = [
            {key: _form_number(value) for key, value in step.items() if value is not None}
            for step in initial.pop("steps")
        ]
        super().__init__(data, initial={name: _form_number(value) for name, value in initial.items()})
        # A deleted baseline stays among the choices: otherwise saving would drop it unnoticed.
        choices = list(dict.fromkeys([*names, *(step["baseline"] for step in steps if step.get("baseline"))]))
        lines = min(MAX_STEPS, max(LINES, len(steps) + 2))
        self.lines = [
            GradeStepForm(
                data, prefix=f"line-{number}", initial=steps[number] if number < len(steps) else {}, names=choices
            )
            for number in range(lines)
        ]

    def is_valid(self) -> bool:
        is_valid = super().is_valid()
        for number, line in enumerate(self.lines, start=1):
            for name, faults in line.errors.items():
                where = {"number": number, "field": line.fields[name].label, "fault": faults[0]}
                self.add_error(None, _("Row %(number)s, %(field)s: %(fault)s") % where)
        return is_valid and not self.errors

    @property
    def rule_values(self) -> dict[str, Any]:
        """The `values` for `rules.set_grade_rules`; each step has only the fields that the chosen method uses."""
        names = ("top",) if self.cleaned_data["method"] == GradingMethod.PERCENTILE else ("baseline", "score")
        steps = [
            {
                "points": line.cleaned_data["points"],
                **{name: line.cleaned_data[name] for name in names if line.cleaned_data[name] not in ("", None)},
            }
            for line in self.lines
            if line.cleaned_data["points"] is not None
        ]
        return {
            **self.cleaned_data,
            "steps": [] if self.cleaned_data["method"] == GradingMethod.PARTICIPATION else steps,
        }
