"""A metric's parameters as a form, for hosts and for those who change a worked example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.html import escape
from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import translated_message


class ParameterForm(forms.Form):
    """A metric's parameters, made from the metric's file, which also judges what was filled in."""

    prefix = "param"

    def __init__(
        self,
        key: str,
        *args: Any,
        values: Mapping[str, Any] | None = None,
        columns: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        """`columns` are those of the answer file that may play a role; without them their names are typed."""
        super().__init__(*args, **kwargs)
        self.key = key
        for parameter in metrics.get(key).parameters:
            given = (values or {}).get(parameter.name, parameter.default)
            self.fields[parameter.name] = field_of(parameter, "" if given is None else given, columns)

    def clean(self) -> dict[str, Any]:
        try:
            return metrics.clean_params(self.key, self.cleaned_data)
        except metrics.ParameterError as error:
            for name, sentence in error.errors.items():
                self.add_error(name if name in self.fields else None, translated_message(sentence))
            return {}


def field_of(parameter: metrics.Parameter, initial: Any, columns: Sequence[str] = ()) -> forms.Field:
    """One form field; numbers stay texts, so that the metric finds and words the mistakes."""
    label = parameter.name.replace("_", " ").capitalize()
    options: dict[str, Any] = {"label": label, "initial": initial, "help_text": escape(_parameter_hint(parameter))}
    if parameter.kind == "bool":
        return forms.BooleanField(required=False, **options)
    if parameter.kind == "column" and columns:
        if initial not in columns:
            options["initial"] = ""
        names = [(name, name) for name in columns]
        return forms.ChoiceField(
            choices=[("", _("Choose a column")), *names], required=not parameter.optional, **options
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
    """What it does, what it may be, what it is if nobody says otherwise."""
    least = _("more than %(number)s") if parameter.exclusive_minimum else _("at least %(number)s")
    bounds = [
        words % {"number": f"{value:g}"}
        for words, value in ((least, parameter.minimum), (_("at most %(number)s"), parameter.maximum))
        if value is not None
    ]
    default = _("empty") if parameter.default is None else parameter.default
    # The help of a metric that the operator added ends as its author likes.
    said = translated_message(parameter.help).strip()
    said += "." if said and not said.endswith((".", "!", "?", "…")) else ""
    between = _(" and ")
    limits = f"{between.join(bounds).capitalize()}." if bounds else ""
    last = _("It must be given.") if parameter.required else _("Default: %(value)s.") % {"value": default}
    return " ".join(sentence for sentence in (said, limits, last) if sentence)
