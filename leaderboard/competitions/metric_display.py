"""Metrics as pages show them: worked examples, the parameters of a competition, the command that scores at home."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

import metrics
from leaderboard.common import charts, library_messages
from leaderboard.common.made_files import find_worked_example

from .models import GroundTruth

MAX_FIGURES = 6
SIDES = {"truth": gettext_lazy("Answer"), "prediction": gettext_lazy("Prediction")}
CONTRIBUTES = gettext_lazy("Contributes")


@dataclass(frozen=True)
class WorkedCell:
    """One cell of the table of a worked example; `exact` has all digits of a rounded number."""

    label: str
    text: str
    exact: str = ""
    is_number: bool = False


class WorkedExample:
    """A computed example for the template: a table, the sums that lead to the score, figures."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.answer = answer
        self.value: float = answer["overall"]
        self.splits = [(name, answer[name]) for name in ("public", "private") if answer[name] is not None]

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        """(file, name) of each column; the file is "" for columns that belong to neither file."""
        ids, *names = self.answer["header"]
        found = [("", ids)]
        for name in names:
            side, _space, column = name.partition(" ")
            found.append((str(SIDES[side]), column) if side in SIDES and column else ("", name))
        return found + [(str(CONTRIBUTES), name) for name in self.answer["parts"]]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """(text, number of columns) for the upper row of the header."""
        names = [group for group, _name in self.columns]
        return [(name, names.count(name)) for name in dict.fromkeys(names)]

    @property
    def rows(self) -> list[list[WorkedCell]]:
        parts = self.answer["contributions"] or [[] for _ in self.answer["rows"]]
        rows = []
        for texts, numbers in zip(self.answer["rows"], parts, strict=True):
            cells = []
            for (group, name), value in zip(self.columns, [*texts, *numbers], strict=False):
                if group == str(CONTRIBUTES):
                    cells.append(_number_cell(name, value))
                else:
                    cells.append(WorkedCell(f"{group} {name}".strip(), value))
            rows.append(cells)
        return rows

    @property
    def sums(self) -> list[WorkedCell]:
        """Cells with the sums, below the columns of contributions."""
        sums = self.answer["sums"]
        return [_number_cell(name, sums[name]) for name in self.answer["parts"] if name in sums]

    @property
    def before_sums(self) -> int:
        return len(self.answer["header"])

    @property
    def line(self) -> list[str]:
        """The last step from the sums to the score: as formula, with numbers, and its value."""
        words = [self.answer["last_line"], self.answer["worked"]] if self.answer["last_line"] else []
        return [*dict.fromkeys(words), number_with_digits(self.value, 10)]

    @property
    def figures(self) -> list[dict[str, Any]]:
        return [_shown_figure(figure) for figure in self.answer["figures"][:MAX_FIGURES]]


def _number_cell(label: str, value: float) -> WorkedCell:
    return WorkedCell(label, number_with_digits(value), repr(value), is_number=True)


def best_value_text(metric: metrics.Metric, params: dict[str, Any]) -> str:
    """The best possible value as text; “not known” for custom metrics that do not declare it."""
    is_unknown = metric.is_custom and not metric.has_best
    return _("not known") if is_unknown else end_of_scale(metric.best_with(params))


def end_of_scale(value: float | None) -> str:
    """A best or worst value as text; “no end” if it is infinite."""
    return _("no end") if value is None or not math.isfinite(value) else number_with_digits(float(value), 10)


def number_with_digits(value: float, digits: int = 6) -> str:
    """A number with this many significant digits; integers with all digits."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _shown_figure(figure: Mapping[str, Any]) -> dict[str, Any]:
    if figure["kind"] == "curve":
        words = _("%(title)s: %(y)s against %(x)s; a table has the points.") % figure
        svg = charts.draw_curve(figure["points"], words, diagonal=figure["diagonal"], filled=figure["filled"])
        points = [[number_with_digits(number, 4) for number in point] for point in figure["points"]]
        return {**figure, "svg": svg, "points": points}
    marked = {tuple(place) for place in figure["marked"]}
    lines = [
        (name, [(number_with_digits(value, 4), (row, column) in marked) for column, value in enumerate(cells)])
        for row, (name, cells) in enumerate(zip(figure["rows"], figure["cells"], strict=True))
    ]
    return {**figure, "lines": lines}


def worked_example_of(metric: metrics.Metric) -> WorkedExample | None:
    """The metric's worked example; None until it is computed, and for a metric without one."""
    found = find_worked_example(metric)
    return WorkedExample(found) if found else None


def example_params(metric: metrics.Metric) -> dict[str, Any]:
    """All parameters of the metric's example, defaults included."""
    return {**{parameter.name: parameter.default for parameter in metric.parameters}, **metric.example.params}


def home_command(
    metric: metrics.Metric,
    params: Mapping[str, Any],
    *,
    always: Collection[str] = (),
    also: Iterable[tuple[metrics.Metric, Mapping[str, Any]]] = (),
) -> str:
    """The command that scores a student's files at home.

    It has the parameters that are not at their defaults, and those in `always`; `also` are secondary metrics.
    """
    given = [f"-p {quote(pair)}" for pair in _parameter_pairs(metric, params, always)]
    further = [f"--also {quote(','.join([other.key, *_parameter_pairs(other, its, ())]))}" for other, its in also]
    return " ".join(["classboard-score score", metric.key, "truth.csv submission.csv", *given, *further])


def _parameter_pairs(metric: metrics.Metric, params: Mapping[str, Any], always: Collection[str]) -> list[str]:
    return [
        f"{p.name}={value}"
        for p in metric.parameters
        if (value := params.get(p.name, p.default)) is not None and (value != p.default or p.name in always)
    ]


@dataclass
class CompetitionMetric:
    """A metric with the parameters of one competition."""

    metric: metrics.Metric
    params: dict[str, Any]
    secondary: tuple[CompetitionMetric, ...] = ()
    """The secondary metrics, without lost ones."""

    @property
    def command(self) -> str:
        """The command that scores a file at home like this competition."""
        return home_command(self.metric, self.params, also=[(one.metric, one.params) for one in self.secondary])

    @property
    def settings(self) -> list[tuple[metrics.Parameter, Any]]:
        """(parameter, value in this competition) of those that differ from their defaults."""
        values = [(parameter, self.params[parameter.name]) for parameter in self.metric.parameters]
        return [(parameter, value) for parameter, value in values if value != parameter.default]


def competition_metric(ground_truth: GroundTruth | None) -> CompetitionMetric | None:
    """The metric of a competition; None without a ground truth, or if the metric is lost or does not accept the stored
    parameters any more."""
    if ground_truth is None or (found := _metric_with_params(ground_truth.metric_key, ground_truth.params)) is None:
        return None
    secondary = [_metric_with_params(key, params) for key, params in ground_truth.secondary_with_versions]
    return replace(found, secondary=tuple(one for one in secondary if one is not None))


def _metric_with_params(key: str, params: dict[str, Any]) -> CompetitionMetric | None:
    try:
        metric = metrics.get(key)
        known = {parameter.name for parameter in metric.parameters}
        given = {name: value for name, value in params.items() if name in known}
        return CompetitionMetric(metric, metrics.clean_params(key, given))
    except (metrics.UnknownMetric, metrics.ParameterError):
        return None


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
    "column_missing": gettext_lazy("Missing or misnamed column"),
    "column_repeated": gettext_lazy("Duplicate column names"),
    "column_unnamed": gettext_lazy("Column without a name"),
    "comment": gettext_lazy("Begins with a comment"),
    "container": gettext_lazy("Not a CSV file"),
    "control_character": gettext_lazy("Invalid characters"),
    "empty_file": gettext_lazy("Empty file"),
    "encoding": gettext_lazy("Not UTF-8"),
    "foreign_labels": gettext_lazy("Labels written differently"),
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
    "read_sheet": gettext_lazy("Sheet of the workbook"),
    "repeated_ids": gettext_lazy("Duplicate ids"),
    "row_width": gettext_lazy("Rows with too many or too few values"),
    "separator": gettext_lazy("Not separated by commas"),
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


def fault_title(problems: Sequence[Mapping[str, Any]]) -> str:
    """A short title for the problems of a file: names of one or two kinds of problems, or their number."""
    codes = list(dict.fromkeys(str(problem.get("code")) for problem in problems))
    if len(codes) <= 2 and all(code in PROBLEM_LABELS for code in codes):
        return " · ".join(str(PROBLEM_LABELS[code]) for code in codes)
    return ngettext("%(n)s problem in the file", "%(n)s problems in the file", len(problems)) % {"n": len(problems)}
