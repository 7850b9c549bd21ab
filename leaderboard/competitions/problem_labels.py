"""What is wrong with files, said in a few words each: for lists in which the problem's own sentence is too long."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

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
