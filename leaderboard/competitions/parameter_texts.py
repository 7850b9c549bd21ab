"""What a metric's parameters are and may be, in words."""

from __future__ import annotations

from typing import Any

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
