"""The form of the secondary metrics: a few rows of a metric and its parameters in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _

import metrics
from leaderboard.common.form_widgets import LongSelect
from leaderboard.common.library_messages import translated_message
from leaderboard.sandbox import outside_metrics

from ..models.ground_truth import MOST_SECONDARY

EXAMPLE = "quantile=0.9; weight=w"


class SecondaryForm(forms.Form):
    """As many rows as there may be metrics; a row without a metric is none."""

    prefix = "also"

    def __init__(self, *args: Any, held: Iterable[Mapping[str, Any]] = (), **kwargs: Any) -> None:
        """`held` are those of a draft or a ground truth."""
        super().__init__(*args, **kwargs)
        known = [("", _("None")), *_choices()]
        rows = [*held, *({} for _ in range(MOST_SECONDARY))]
        for number, one in enumerate(rows[:MOST_SECONDARY], start=1):
            key = one.get("key", "")
            self.fields[f"metric_{number}"] = forms.ChoiceField(
                label=_("Secondary metric %(number)s") % {"number": number},
                choices=known,
                required=False,
                initial=key,
                widget=LongSelect,
            )
            self.fields[f"params_{number}"] = forms.CharField(
                label=_("Its parameters, %(number)s") % {"number": number},
                required=False,
                max_length=500,
                initial=params_line(key, one.get("params", {})),
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )

    @property
    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        return [(self[f"metric_{n}"], self[f"params_{n}"]) for n in range(1, MOST_SECONDARY + 1)]

    @property
    def is_open(self) -> bool:
        """Whether there is something to see behind the summary."""
        return bool(self.errors) or any(metric.value() for metric, _ in self.rows)

    def clean(self) -> dict[str, Any]:
        asked = []
        for number in range(1, MOST_SECONDARY + 1):
            key = self.cleaned_data.get(f"metric_{number}")
            text = self.cleaned_data.get(f"params_{number}", "")
            try:
                if key:
                    asked.append((key, metrics.clean_params(key, parse_params_line(text))))
                elif text:
                    raise ValidationError(_("Choose the metric that these are for."))
            except metrics.ParameterError as error:
                for name, sentence in error.errors.items():
                    self.add_error(f"params_{number}", f"{name}: {translated_message(sentence)}")
            except ValidationError as error:
                self.add_error(f"params_{number}", error)
        return {"asked": asked}

    @classmethod
    def as_typed(cls, data: QueryDict) -> SecondaryForm:
        """With what was filled in, and no complaints yet."""
        names = [f"{cls.prefix}-{kind}_{n}" for n in range(1, MOST_SECONDARY + 1) for kind in ("metric", "params")]
        return cls(initial={name.removeprefix(f"{cls.prefix}-"): data.get(name, "") for name in names})


def _choices() -> list[tuple[str, list[tuple[str, str]]]]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for metric in outside_metrics.selectable_metrics():
        groups.setdefault(translated_message(metric.group), []).append((metric.key, translated_message(metric.title)))
    return list(groups.items())


def parse_params_line(text: str) -> dict[str, str]:
    """What a line such as `quantile=0.9; weight=w` says."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, is_pair, value = part.partition("=")
        if not is_pair:
            raise ValidationError(
                _("Write parameters as name=value, several with semicolons: %(example)s.") % {"example": EXAMPLE}
            )
        found[name.strip()] = value.strip()
    return found


def params_line(key: str, params: Mapping[str, Any]) -> str:
    """The line that says these parameters; those at their defaults need not be said."""
    try:
        defaults = {parameter.name: parameter.default for parameter in metrics.get(key).parameters}
    except metrics.UnknownMetric:
        return ""
    said = [(name, "" if value is None else value) for name, value in params.items() if value != defaults.get(name)]
    return "; ".join(f"{name}={value}" for name, value in said)
