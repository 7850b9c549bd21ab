"""Texts about metrics' parameters and about problems of files, in the reader's language."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common import library_messages

FAR = 1e9
"""Bounds beyond this only keep numbers finite and are not shown."""

KINDS = {
    "int": gettext_lazy("whole number"),
    "float": gettext_lazy("number"),
    "bool": gettext_lazy("yes or no"),
    "choice": gettext_lazy("choice"),
    "text": gettext_lazy("text"),
    "column": gettext_lazy("column"),
}


def parameter_value_text(value: Any, parameter: metrics.Parameter) -> str:
    """A parameter's value as text; for None the parameter's text `when_empty`."""
    if value is None:
        return library_messages.translated_message(parameter.when_empty) or _("not set")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return f"{value:,.12g}" if isinstance(value, float) else str(value)


def parameter_kind_text(parameter: metrics.Parameter) -> str:
    return str(KINDS.get(parameter.kind, parameter.kind))


def allowed_values_text(parameter: metrics.Parameter) -> str:
    """The allowed values of a parameter: its choices or its range."""
    if parameter.choices:
        return ", ".join(str(choice) for choice in parameter.choices)
    if parameter.kind == "bool":
        return _("yes, no")
    low, high = parameter.minimum, parameter.maximum
    has_low, has_high = low is not None and low > -FAR, high is not None and high < FAR
    is_above = has_low and parameter.exclusive_minimum
    if has_low and has_high:
        words = _("above %(low)s to %(high)s") if is_above else _("from %(low)s to %(high)s")
    elif has_low:
        words = _("above %(low)s") if is_above else _("from %(low)s")
    else:
        words = _("to %(high)s") if has_high else _("any")
    return words % {"low": f"{low or 0:,.12g}", "high": f"{high or 0:,.12g}"}


PROBLEM_LABELS: dict[str, Promise] = {
    "blank_id": gettext_lazy("Rows without an id"),
    "column_extra": gettext_lazy("Too many columns"),
    "column_missing": gettext_lazy("A column is missing"),
    "column_repeated": gettext_lazy("Duplicate column names"),
    "column_unnamed": gettext_lazy("Column without a name"),
    "comment": gettext_lazy("Begins with a comment"),
    "container": gettext_lazy("Not a CSV file"),
    "control_character": gettext_lazy("Invalid characters"),
    "empty_file": gettext_lazy("Empty file"),
    "encoding": gettext_lazy("Not UTF-8"),
    "header_missing": gettext_lazy("Header missing"),
    "line_break": gettext_lazy("Old line breaks"),
    "long_line": gettext_lazy("Line too long"),
    "missing_ids": gettext_lazy("Missing ids"),
    "missing_value": gettext_lazy("Missing predictions"),
    "no_rows": gettext_lazy("No rows below the header"),
    "not_a_number": gettext_lazy("Predictions that aren't numbers"),
    "not_a_probability": gettext_lazy("Predictions that aren't probabilities"),
    "not_finite": gettext_lazy("Infinite predictions"),
    "quote": gettext_lazy("Misplaced quotation marks"),
    "quote_open": gettext_lazy("Unclosed quotation mark"),
    "repeated_ids": gettext_lazy("Duplicate ids"),
    "row_width": gettext_lazy("Rows with too many or too few values"),
    "separator": gettext_lazy("Semicolons instead of commas"),
    "swallowed_rows": gettext_lazy("Quotation mark swallows rows"),
    "too_large": gettext_lazy("Too large"),
    "too_many_columns": gettext_lazy("Far too many columns"),
    "too_many_rows": gettext_lazy("Far too many rows"),
    "unknown_ids": gettext_lazy("Unknown ids"),
}


def problem_label(code: str) -> str:
    """The label of a problem's code for hosts; for codes of single metrics the code with spaces for underscores."""
    known = PROBLEM_LABELS.get(code)
    return str(known) if known is not None else code.replace("_", " ").capitalize()
