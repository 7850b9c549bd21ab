"""In words: what a metric's parameters are and may be, and what is wrong with files."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common import library_messages

FAR = 1e9
"""A bound this far away only keeps numbers finite; nobody needs to read it."""

KINDS = {
    "int": gettext_lazy("whole number"),
    "float": gettext_lazy("number"),
    "bool": gettext_lazy("yes or no"),
    "choice": gettext_lazy("choice"),
    "text": gettext_lazy("text"),
    "column": gettext_lazy("column"),
}


def parameter_value_text(value: Any, parameter: metrics.Parameter) -> str:
    """A parameter's value for people; what an empty one means is said by the parameter's own help."""
    if value is None:
        return library_messages.translated_message(parameter.when_empty) or _("not set")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return f"{value:,.12g}" if isinstance(value, float) else str(value)


def parameter_kind_text(parameter: metrics.Parameter) -> str:
    return str(KINDS.get(parameter.kind, parameter.kind))


def allowed_values_text(parameter: metrics.Parameter) -> str:
    """Which values a parameter takes."""
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
    "blank_id": gettext_lazy("Lines without an id"),
    "column_extra": gettext_lazy("Columns too many"),
    "column_missing": gettext_lazy("A column is missing"),
    "column_repeated": gettext_lazy("Two columns of one name"),
    "column_unnamed": gettext_lazy("A column without a name"),
    "comment": gettext_lazy("Begins with a comment"),
    "container": gettext_lazy("No CSV file"),
    "control_character": gettext_lazy("Characters that no text has"),
    "empty_file": gettext_lazy("Nothing is in the file"),
    "encoding": gettext_lazy("Not saved as UTF-8"),
    "header_missing": gettext_lazy("No line with the names of the columns"),
    "line_break": gettext_lazy("Line breaks of an old kind"),
    "long_line": gettext_lazy("A line of absurd length"),
    "missing_ids": gettext_lazy("Ids are missing"),
    "missing_value": gettext_lazy("Predictions are missing"),
    "no_rows": gettext_lazy("No lines below the header"),
    "not_a_number": gettext_lazy("Predictions that are no numbers"),
    "not_a_probability": gettext_lazy("Predictions that are no probabilities"),
    "not_finite": gettext_lazy("Predictions that are infinite"),
    "quote": gettext_lazy("Quotation marks in odd places"),
    "quote_open": gettext_lazy("A quotation mark is never closed"),
    "repeated_ids": gettext_lazy("Ids more than once"),
    "row_width": gettext_lazy("Lines with too many or too few values"),
    "separator": gettext_lazy("Semicolons, no commas"),
    "swallowed_rows": gettext_lazy("A quotation mark swallows lines"),
    "too_large": gettext_lazy("Larger than may be"),
    "too_many_columns": gettext_lazy("Far too many columns"),
    "too_many_rows": gettext_lazy("Far too many lines"),
    "unknown_ids": gettext_lazy("Ids that nobody asked for"),
}


def problem_label(code: str) -> str:
    """A problem's code as a teacher reads it; what only few metrics know is its code without underscores."""
    known = PROBLEM_LABELS.get(code)
    return str(known) if known is not None else code.replace("_", " ").capitalize()
