"""Worked examples: computed by the code that scores, in a process of its own, from cells that a visitor may change."""

from __future__ import annotations

import csv
import io
import json
import logging
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from django.http import QueryDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common import charts
from leaderboard.common.slow_clients import release_slot_while_waiting
from leaderboard.scoring import jobs_for_pages

from ..forms.ground_truth import ParameterForm
from .board_cache import BytesLimitedCache

MOST_FIGURES = 6
SIDES = {"truth": gettext_lazy("Truth"), "prediction": gettext_lazy("Prediction")}
CONTRIBUTES = gettext_lazy("Contributes")
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL, MOST_BYTES = 20, 12, 200, 8192

log = logging.getLogger(__name__)
# Answers of the child under everything they depend on. What visitors change must not push the metrics' own out.
# Sizes in bytes: about 300 and 100 answers.
settled, changed = BytesLimitedCache(3_000_000), BytesLimitedCache(1_000_000)


# --- the worked table -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkedCell:
    """One cell of the worked table; `exact` has all digits of a number that is shown shorter."""

    label: str
    text: str
    exact: str = ""
    is_number: bool = False


class WorkedExample:
    """The child's answer as the page shows it: one table, how it adds up, figures."""

    def __init__(self, answer: Mapping[str, Any], *, is_theirs: bool = False) -> None:
        """`is_theirs`: the parameters are those of a competition."""
        self.answer, self.is_theirs = answer, is_theirs
        self.value: float = answer["overall"]
        self.splits = [(name, answer[name]) for name in ("public", "private") if answer[name] is not None]

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        """Of which file each column is, and its name; columns of neither have no file."""
        ids, *names = self.answer["header"]
        found = [("", ids)]
        for name in names:
            side, _space, column = name.partition(" ")
            found.append((str(SIDES[side]), column) if side in SIDES and column else ("", name))
        return found + [(str(CONTRIBUTES), name) for name in self.answer["parts"]]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The upper line of the header: words over how many columns."""
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
        """Under the columns of contributions."""
        sums = self.answer["sums"]
        return [_number_cell(name, sums[name]) for name in self.answer["parts"] if name in sums]

    @property
    def before_sums(self) -> int:
        return len(self.answer["header"])

    @property
    def line(self) -> list[str]:
        """How the sums become the score: in names, in numbers, the value."""
        words = [self.answer["last_line"], self.answer["worked"]] if self.answer["last_line"] else []
        return [*dict.fromkeys(words), number_with_digits(self.value, 10)]

    @property
    def figures(self) -> list[dict[str, Any]]:
        return [_figure(figure) for figure in self.answer["figures"][:MOST_FIGURES]]


def _number_cell(label: str, value: float) -> WorkedCell:
    return WorkedCell(label, number_with_digits(value), repr(value), is_number=True)


def best_value_text(metric: metrics.Metric, params: dict[str, Any]) -> str:
    """The best value in words; a metric from outside may have none."""
    is_unknown = metric.is_outside and not metric.has_best
    return _("not known") if is_unknown else end_of_scale(metric.best_with(params))


def end_of_scale(value: float | None) -> str:
    """The best or the worst value in words."""
    return _("no end") if value is None or not math.isfinite(value) else number_with_digits(float(value), 10)


def number_with_digits(value: float, digits: int = 6) -> str:
    """A number as the page shows it; whole ones whole."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _figure(figure: Mapping[str, Any]) -> dict[str, Any]:
    if figure["kind"] == "curve":
        words = _("%(title)s: %(y)s against %(x)s; a table has the points.") % figure
        svg = charts.curve(figure["points"], words, diagonal=figure["diagonal"], filled=figure["filled"])
        points = [[number_with_digits(number, 4) for number in point] for point in figure["points"]]
        return {**figure, "svg": svg, "points": points}
    marked = {tuple(place) for place in figure["marked"]}
    lines = [
        (name, [(number_with_digits(value, 4), (row, column) in marked) for column, value in enumerate(cells)])
        for row, (name, cells) in enumerate(zip(figure["rows"], figure["cells"], strict=True))
    ]
    return {**figure, "lines": lines}


# --- an example that a visitor may change -----------------------------------------------------------------------


@dataclass
class ExampleTable:
    """One of the two files of an example as cells, the header first. `short` names its fields in the address: the
    cells row by row under `short`, the number of columns under `short` + `w`."""

    short: str
    title: str
    cells: list[list[str]]

    @classmethod
    def read(cls, short: str, title: str, text: str) -> ExampleTable:
        """From a metric's file; a metric from outside may have no example, which leaves an empty row to fill."""
        rows = [row for row in csv.reader(io.StringIO(text)) if row] or [["id", ""], ["", ""]]
        width = max(map(len, rows), default=0)
        return cls(short, title, [row + [""] * (width - len(row)) for row in rows])

    @classmethod
    def typed(cls, short: str, title: str, query: QueryDict) -> ExampleTable:
        """From an address; a last row that is too short is filled with empty cells."""
        cells, width = query.getlist(short), query.get(f"{short}w", "")
        columns = int(width) if width.isascii() and width.isdigit() and 0 < len(width) < 4 and int(width) else 1
        cells += [""] * (-len(cells) % columns)
        return cls(short, title, [cells[i : i + columns] for i in range(0, len(cells), columns)])

    @property
    def header(self) -> list[str]:
        return self.cells[0] if self.cells else []

    @property
    def can_add_row(self) -> bool:
        return len(self.cells) <= MOST_ROWS

    @property
    def can_add_column(self) -> bool:
        return len(self.header) < MOST_COLUMNS

    def change(self, what: str) -> None:
        """`row` and `column` add an empty one, `without-3` leaves the third row out."""
        if what == "row":
            self.cells.append([""] * len(self.header))
        elif what == "column":
            self.cells = [[*row, ""] for row in self.cells]
        elif what.startswith("without-"):
            self.cells = [row for number, row in enumerate(self.cells) if not number or what != f"without-{number}"]

    @property
    def filled(self) -> list[list[str]]:
        """The cells without rows and columns that are empty throughout."""
        columns = [any(cell.strip() for cell in column) for column in zip(*self.cells, strict=True)]
        rows = [[cell for cell, keep in zip(row, columns, strict=True) if keep] for row in self.cells]
        return [row for number, row in enumerate(rows) if not number or any(cell.strip() for cell in row)]

    def csv(self) -> str:
        """The file."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.filled)
        return text.getvalue()

    def too_much(self) -> str:
        """Which limit the file breaks, as a sentence; `""` if none."""
        cells = self.filled
        if len(cells) - 1 > MOST_ROWS:
            return _("%(title)s: at most %(number)s rows.") % {"title": self.title, "number": MOST_ROWS}
        if max(map(len, cells), default=0) > MOST_COLUMNS:
            return _("%(title)s: at most %(number)s columns.") % {"title": self.title, "number": MOST_COLUMNS}
        if any(len(cell) > LONGEST_CELL for row in cells for cell in row):
            words = _("%(title)s: at most %(number)s characters in a cell.")
            return words % {"title": self.title, "number": LONGEST_CELL}
        return ""


class ExampleDraft:
    """An example on its way: the metric's own, or with the cells and parameters of an address."""

    longest = LONGEST_CELL

    def __init__(self, metric: metrics.Metric, query: QueryDict) -> None:
        self.metric, self.query = metric, query
        example = metric.example
        has_cells = "t" in query and "s" in query
        if has_cells:
            self.truth = ExampleTable.typed("t", _("Answers"), query)
            self.submission = ExampleTable.typed("s", _("Submission"), query)
        else:
            self.truth = ExampleTable.read("t", _("Answers"), example.truth)
            self.submission = ExampleTable.read("s", _("Submission"), example.submission)
        self.sheets = (self.truth, self.submission)
        given = {p.name: query[f"param-{p.name}"] for p in metric.parameters if f"param-{p.name}" in query}
        self.is_changed = has_cells or bool(given)
        own = {**{parameter.name: parameter.default for parameter in metric.parameters}, **example.params}
        if self.is_changed:
            # A box without its tick sends nothing.
            ticks = {p.name: "" for p in metric.parameters if p.kind == "bool"} if has_cells else {}
            filled = {name: "" if value is None else value for name, value in {**own, **ticks, **given}.items()}
            self.form = ParameterForm(metric.key, {f"param-{name}": value for name, value in filled.items()})
        else:
            self.form = ParameterForm(metric.key, values=own)
        self.own_params = own
        self._cache = changed if self.is_changed else settled

    def change(self, what: str) -> str:
        """Add or leave out a row or column (`t-row`, `s-without-2`); gives the query of the changed example."""
        query = self.query.copy()
        query.pop("do", None)
        for sheet in self.sheets:
            if what.startswith(f"{sheet.short}-"):
                sheet.change(what[2:])
            query.setlist(sheet.short, [cell for row in sheet.cells for cell in row])
            query[f"{sheet.short}w"] = str(len(sheet.header) or 1)
        return query.urlencode()

    @cached_property
    def params(self) -> dict[str, Any] | None:
        """All parameters, or None where one of them is at fault; the form says which."""
        if not self.form.is_bound:
            return self.own_params
        return self.form.cleaned_data if self.form.is_valid() else None

    @property
    def too_much(self) -> str:
        """Which limit the example breaks, as a sentence; "" if none."""
        for sheet in self.sheets:
            if sentence := sheet.too_much():
                return sentence
        if sum(len(sheet.csv().encode()) for sheet in self.sheets) > MOST_BYTES:
            return _("Both files together: at most %(number)s bytes.") % {"number": f"{MOST_BYTES:,}"}
        return ""

    @property
    def texts(self) -> tuple[str, str]:
        """Both files."""
        if self.is_changed:
            return self.truth.csv(), self.submission.csv()
        return self.metric.example.truth, self.metric.example.submission

    @property
    def is_known(self) -> bool:
        """Whether the answer is there without asking the child."""
        return self._cache.find(_key(self.metric, *self.texts, self.params or {})) is not None

    def answer(self) -> dict[str, Any]:
        """What the process says that explains it. Raises `JobFailed`."""
        return _answer(self._cache, self.metric, *self.texts, self.params or {})


def _key(metric: metrics.Metric, truth: str, submission: str, params: Mapping[str, Any]) -> tuple[Any, ...]:
    return metric.key, metric.version, truth, submission, json.dumps(params, sort_keys=True)


def _asked(metric: metrics.Metric) -> str:
    """What to ask the library for: a metric from outside in this very version."""
    return f"{metric.key}@{metric.version}"


def _answer(
    cache: BytesLimitedCache, metric: metrics.Metric, truth: str, submission: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    key = _key(metric, truth, submission, params)
    known: dict[str, Any] | None = cache.find(key)
    if known is not None:
        return known

    def ask() -> dict[str, Any]:
        return jobs_for_pages.run_page_job(
            "explain", metric=_asked(metric), truth=truth, submission=submission, params=dict(params)
        )

    # Who waits for the one that asks must not hold the place that this one needs in order to go on.
    with release_slot_while_waiting():
        return cache.get(key, ask)


def with_params(metric: metrics.Metric, params: Mapping[str, Any]) -> WorkedExample | None:
    """The metric's own example under a competition's parameters; where it cannot be read with them, with its own.
    `None` where it cannot be computed at this moment.

    The example has columns of its own, so the competition's names of further columns do not matter to it.
    """
    if not metric.example.truth:
        return None
    roles = {name: metric.example.params.get(name, name) for name in metric.roles}
    for chosen, is_theirs in (({**params, **roles}, True), (metric.example.params, False)):
        try:
            full = metrics.clean_params(_asked(metric), chosen)
            answer = _answer(settled, metric, metric.example.truth, metric.example.submission, full)
        except metrics.ParameterError:
            continue
        except jobs_for_pages.JobFailed as error:
            log.warning("no worked example of %s: %s", metric.key, error)
            return None
        if not answer["faults_of"]:
            return WorkedExample(answer, is_theirs=is_theirs)
    return None


def home_command(
    metric: metrics.Metric,
    params: Mapping[str, Any],
    *,
    always: Collection[str] = (),
    also: Iterable[tuple[metrics.Metric, Mapping[str, Any]]] = (),
) -> str:
    """For a student's files, with the parameters that are not at their defaults, and those `always` said."""
    given = [f"-p {quote(pair)}" for pair in _pairs(metric, params, always)]
    further = [f"--also {quote(','.join([other.key, *_pairs(other, its, ())]))}" for other, its in also]
    return " ".join(["classboard-score score", metric.key, "truth.csv submission.csv", *given, *further])


def _pairs(metric: metrics.Metric, params: Mapping[str, Any], always: Collection[str]) -> list[str]:
    return [
        f"{p.name}={value}"
        for p in metric.parameters
        if (value := params.get(p.name, p.default)) is not None and (value != p.default or p.name in always)
    ]
