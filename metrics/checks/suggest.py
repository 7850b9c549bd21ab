"""Suggested metrics for a truth file, the most plausible first; and advice about answers that the chosen one refuses.

Strays are a few cells that are not numbers among numbers, or empty: a typing error, or a forgotten answer. They must
not make the whole column look like labels or text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.contract import Metric, answer_columns
from ..core.custom_parameters import SUBMISSION_COLUMNS, first_lines
from ..core.errors import GroundTruthError, MetricError, NotFinite, Problem, Refused, error_message, shown
from ..core.evaluate import score_prediction
from ..core.layout import Layout, id_column_of, layout_of
from ..core.messages import EXAMPLES, Message, joined, listed
from ..core.registry import USUAL, catalogue, get, is_special
from ..core.truth import Truth, unscorable_parts
from ..reading.column_names import matched_names
from ..reading.columns import Cells
from ..reading.header_problems import check_header
from ..reading.headers import ANY_HEADER, TRUTH_HEADER
from ..reading.numbers import read_numbers
from ..reading.sources import Source, read_source
from ..reading.split_words import USAGE
from ..reading.tables import Table, blank_rows, pick, raw_cells, spread_rows
from ..reading.text import LONGEST_MASK_LINE
from ..reading.writings import Writing
from .answer_kinds import MOST_CELLS, Nature, labels_of_0_and_1, nature_of
from .baselines import reading_of
from .findings import Finding
from .lists import SEPARATOR, WRAPPED_LISTS, is_wrapped, writing_of_lists

_MOST_ROWS = 1000
_MOST_ADVISED = 2
_BOUNDS = ("zero", "too_small", "too_large", "not_a_probability")
"""Codes of values that another metric reads, even if they are few."""

_ADVICE = Message("The answers are {answers}; {metric} reads them.")
_ADVICE_OF_AVERAGE = Message("With the parameter average at macro {metric} reads them, too.")
_ADVICE_OF_TWO = Message("The answers are {answers}; {metric} and {other} read them.")


def with_fitting_metrics(
    findings: Sequence[Finding],
    problems: Sequence[Problem],
    metric: Metric,
    table: Table,
    id_column: str | None,
    params: Mapping[str, Any],
) -> list[Finding]:
    """The findings; the first about answers of a kind that the metric does not read names metrics that do."""
    roles = [params.get(role) for role in metric.roles]
    try:
        name = id_column_of(table, id_column)
    except Refused:
        return list(findings)
    targets = [column for column in table.names if column not in (name, USAGE, *roles)]
    refused = next((problem for problem in problems if _rejects_column(problem, targets, table.rows)), None)
    advice = _advice_for(metric, table, name, targets) if refused is not None else None
    if refused is None or advice is None:
        return list(findings)
    place = next(at for at, one in enumerate(findings) if (one.code, one.column) == (refused.code, refused.column))
    advised = replace(findings[place], why=joined([part for part in (findings[place].why, advice) if part]))
    return [*findings[:place], advised, *findings[place + 1 :]]


def _rejects_column(problem: Problem, targets: Sequence[str], rows: int) -> bool:
    """Whether the problem is that the metric reads no such column, rather than that some cells are written wrongly."""
    if problem.code == "target_columns" or (problem.column in targets and problem.code in _BOUNDS):
        return True
    return problem.column in targets and 2 * problem.count > rows and problem.code != "missing_value"


def _advice_for(metric: Metric, table: Table, id_column: str, targets: Sequence[str]) -> Message | None:
    """The sentence that names the usual metrics for these answers, and the metric itself if an average over classes
    reads them; None if no usual one reads them."""
    small = table.some(spread_rows(table.rows, _MOST_ROWS))
    nature = nature_of([small.column(name).to_pylist() for name in targets], targets)
    keys = [key for key in nature.keys if key in USUAL and key != metric.key and _can_read(get(key), small, id_column)]
    titles = [get(key).title for key in keys[:_MOST_ADVISED]]
    if not titles:
        return None
    advice = Message(_ADVICE, answers=nature.words, metric=titles[0])
    if len(titles) > 1:
        advice = Message(_ADVICE_OF_TWO, answers=nature.words, metric=titles[0], other=titles[1])
    if _default_parameters(metric).get("average") == "binary" and _can_read(metric, small, id_column, average="macro"):
        advice = joined([advice, Message(_ADVICE_OF_AVERAGE, metric=metric.title)])
    return advice


def _default_parameters(metric: Metric) -> dict[str, Any]:
    return {parameter.name: parameter.default for parameter in metric.parameters}


def _can_read(metric: Metric, table: Table, id_column: str, **given: Any) -> bool:
    params = {**_default_parameters(metric), **given}
    metric = metric.adapt(params)
    try:
        layout = layout_of(metric, table, id_column, params)
    except Refused:
        return False
    return not [problem for problem in Truth(metric, params, table, layout).problems if problem.column != USAGE]


MOST_COLUMNS = 50
_FEW = 30
_RARE_AMONG_FEW = 0.01
_RARE_AMONG_MANY = _RARE_EMPTY = 0.1
"""The largest share of cells that counts as strays. Few different numbers may be class names, among which a rare text
can be another class; many different numbers are not class names."""


@dataclass(frozen=True)
class Strays:
    """Rows with stray cells (``places``, ascending) and a description for the host."""

    places: np.ndarray
    words: str


def strays_of(table: Table, names: Sequence[str], id_column: str) -> Strays | None:
    """The strays of all these columns, or ``None``. Many empty cells are not strays: they may be intended."""
    rows: list[int] = []
    examples: list[str] = []
    for name in names[:MOST_COLUMNS]:
        cells = Cells(table, name, id_column)
        places = _stray_values(cells)
        rows += places.tolist()
        for place in places[:EXAMPLES]:
            line, text = int(table.lines[place]), cells.array[int(place)].as_py()
            value = shown(text) if text else Message("empty")
            examples.append(
                Message("line {line} of {column} is {value}", line=line, column=shown(name), value=value)
                if len(names) > 1
                else Message("line {line} is {value}", line=line, value=value)
            )
    if not rows:
        return None
    listed_cells = listed(examples, len(rows))
    words = Message.counted(len(rows), "{count} cell ({examples})", "{count} cells ({examples})", examples=listed_cells)
    return Strays(np.unique(rows), words)


def _stray_values(cells: Cells) -> np.ndarray:
    numbers = read_numbers(cells)
    is_none = np.isnan(numbers)
    blank = blank_rows(cells.array)
    is_none[blank] = False
    count, filled = int(is_none.sum()), len(numbers) - len(blank)
    distinct = len(np.unique(numbers[~np.isnan(numbers)])) if count else 0
    most = _RARE_AMONG_FEW if distinct <= _FEW else _RARE_AMONG_MANY
    if count > max(1, most * filled) or filled < 10 * count:
        is_none[:] = False
    is_none[blank] = len(blank) <= _RARE_EMPTY * filled
    found: np.ndarray = np.flatnonzero(is_none)
    return found


MOST_ROWS = 20_000
"""The most rows of a truth that are examined, drawn from all over the file."""

_SEED = 11

_MANY_CLASSES = ("classes", "levels")
_TRIED_ROWS = 1000
_MOST_NAMED = 5
# Translators: {answers} are what the answers look like (3 classes), {columns} kinds of column (label)
_USUAL = Message("The answers are {answers}; a submission has: {columns}.")
_POSSIBLE = Message("It can read the answers, though they are {answers}; a submission has: {columns}.")


@dataclass(frozen=True)
class SuggestedMetric:
    """Whether a metric can score a truth with the parameters ``params`` (its defaults, and columns for its roles).

    ``reason`` says why or why not, in sentences for the host; ``is_usual`` whether it is usual for such answers.
    ``nearly_fits`` means that a usual metric would fit if some cells were written differently: a few strays, or all
    numbers as ``45%``.
    """

    key: str
    fits: bool
    is_usual: bool
    reason: str
    params: dict[str, Any]
    nearly_fits: bool = False


def suggest(
    truth: Source, sample: Source | None = None, id_column: str | None = None, *, group: str | None = None
) -> list[SuggestedMetric]:
    """All metrics of the catalogue: those that fit or nearly fit first, the most plausible at the top.

    A metric fits if it reads every answer, can score both splits, and gives a perfect file its best value. With a
    ``sample`` submission it must also accept the sample's columns and cells. Problems of ids and of the split do not
    matter here. The whole file is read once, 20,000 of its rows are examined. ``group`` is a column that is not an
    answer. Raises ``GroundTruthError`` if the file is not a table.
    """
    try:
        table = read_source(truth, TRUTH_HEADER, longest_line=LONGEST_MASK_LINE)
        table = _sampled_rows(table if group is None or group not in table.names else table.without(group), MOST_ROWS)
        name = id_column_of(table, id_column)
        offered = None
        if sample is not None:
            offered = read_source(sample, ANY_HEADER, longest_line=LONGEST_MASK_LINE)
    except Refused as refused:
        raise GroundTruthError(refused.problems) from None
    if not table.rows:
        raise GroundTruthError(table.problems)
    file = _File(table, name, offered and _sampled_rows(offered, _TRIED_ROWS))
    fits = [(file.rank(metric, fit), fit) for metric in catalogue() for fit in [file.fit(metric)]]
    return _usual_ones_first([fit for _, fit in sorted(fits, key=lambda pair: pair[0])])


def _usual_ones_first(fits: Sequence[SuggestedMetric]) -> list[SuggestedMetric]:
    """The fits, those that classes use first.

    A metric that few classes use counts as usual only if none of the common ones fits, and one of a single past
    competition only if it fits best, or if no other fits.
    """
    best = [fit.key for fit in fits if fit.is_usual and (fit.fits or fit.nearly_fits)]
    general = [key for key in best if not is_special(get(key))]
    common = [key for key in best if key in USUAL] or (list(dict.fromkeys([best[0], *general])) if general else best)
    marked = [replace(fit, is_usual=fit.is_usual and fit.key in common) for fit in fits]
    return sorted(marked, key=lambda fit: fit.key not in common)


def _sampled_rows(table: Table, most: int) -> Table:
    """At most ``most`` rows, drawn from all over the file, because in a sorted file the first rows may be all of one
    class."""
    if table.rows <= most:
        return table
    return table.some(np.unique(np.random.PCG64(_SEED).random_raw(most) % np.uint64(table.rows)).astype(np.int64))


class _File:
    """A truth, or some of its rows, before its metric is chosen."""

    def __init__(self, table: Table, id_column: str, sample: Table | None) -> None:
        self.table, self.id_column, self.sample = table, id_column, sample
        self.free = [name for name in table.names if name not in (id_column, USAGE)]
        self.strays = strays_of(table, self.free, id_column)
        gone = np.zeros(0, np.int64) if self.strays is None else self.strays.places
        self._clean = table if self.strays is None else table.some(np.setdiff1d(np.arange(table.rows), gone))
        self._longest = max(int(np.diff(raw_cells(table.column(name))[0]).max(initial=0)) for name in table.names)
        self._natures: dict[tuple[str, ...], Nature] = {}
        self._writings: dict[str, Writing | None] = {}
        self._first: dict[int, Truth] = {}
        self._few: dict[int, Table] = {}

    def fit(self, metric: Metric) -> SuggestedMetric:
        """Whether and why one metric fits."""
        params = self._mapped(metric)
        writing = self._writing(self._targets(metric, params)) if SEPARATOR in params else None
        if writing is not None and not is_wrapped(writing):
            params[SEPARATOR] = writing.separator
        if asked := [parameter.name for parameter in metric.parameters if parameter.required]:
            reason = Message("It must be told {parameters}, for which it has no default.", parameters=", ".join(asked))
            return SuggestedMetric(metric.key, False, False, reason, params)
        if metric.is_composite:
            reason = Message("Which metrics it is made of is for you to write.")
            return SuggestedMetric(metric.key, False, False, reason, params)
        metric = metric.adapt(params, self.id_column)
        try:
            layout = layout_of(metric, self.table, self.id_column, params)
        except Refused as refused:
            return SuggestedMetric(metric.key, False, False, _brief_message(refused.problems[0]), params)
        nature = self._nature(metric, params)
        is_usual = metric.group in nature.groups and _finds_columns(metric, nature, layout.targets)
        problems = self._problems(metric, params, layout, self.table)
        if is_wrapped(writing):
            problems = problems or [Problem(WRAPPED_LISTS, Message("Lists are in brackets or quotes."))]
        nearly_fits = False
        if problems and is_usual:
            # It would fit if a few cells, or all numbers, were written as it reads them.
            nearly_fits = nature.name == "foreign numbers" or problems[0].code == WRAPPED_LISTS
            if not nearly_fits and self.strays is not None:
                nearly_fits = not self._problems(metric, params, layout, self._clean)
        if problems and not nearly_fits:
            return SuggestedMetric(metric.key, False, is_usual, _brief_message(problems[0]), params)
        why = self._reason(metric, nature, is_usual, params)
        return SuggestedMetric(metric.key, not problems, is_usual, why, params, nearly_fits)

    def _problems(self, metric: Metric, params: dict[str, Any], layout: Layout, table: Table) -> list[Problem]:
        """The problems that keep a metric from scoring these rows."""
        if self._longest > metric.longest_line:
            message = Message(
                "A cell has {bytes} bytes; lines of at most {most} bytes can be read.",
                bytes=self._longest,
                most=metric.longest_line,
            )
            return [Problem("long_line", message)]
        truth = self._truth(metric, params, table, layout)
        problems = [one for one in truth.problems if one.column != USAGE]
        if not problems and all(len(rows) for rows in truth.parts.values()) and len(truth.scored):
            problems = unscorable_parts(truth) or self._problems_of_perfect_file(truth)
        return problems or _problems_with_sample(truth, self.sample)

    def _truth(self, metric: Metric, params: dict[str, Any], table: Table, layout: Layout) -> Truth:
        """The truth of this metric, which shares what an earlier one has read of the same table."""
        truth = Truth(metric, params, table, layout, like=self._first.get(id(table)))
        self._first.setdefault(id(table), truth)
        return truth

    def _problems_of_perfect_file(self, truth: Truth) -> list[Problem]:
        """The problem if a perfect file does not get the best value; tried on a thousand rows, and not for custom
        metrics."""
        if truth.metric.is_custom:
            return []
        if id(truth.table) not in self._few:
            rows = np.sort(truth.buckets("").order[:_TRIED_ROWS])
            self._few[id(truth.table)] = truth.table.some(truth.scored[rows])
        small = self._truth(truth.metric, truth.params, self._few[id(truth.table)], truth.layout)
        return [] if unscorable_parts(small) else _problem_of_perfect_rows(small)

    def _reason(self, metric: Metric, nature: Nature, is_usual: bool, params: Mapping[str, Any]) -> str:
        """The reason why a metric fits, or would fit without the strays."""
        words = nature.words
        targets = self._targets(metric, params)
        if 1 < len(targets) <= _MOST_NAMED and metric.truth.many:
            words = Message("{answers} ({columns})", answers=words, columns=", ".join(f"“{name}”" for name in targets))
        if self.strays is not None:
            words = Message("{answers}, all but {others}", answers=words, others=self.strays.words)
        for role in metric.roles:
            if params[role] is not None:
                words = Message("{answers}, {role} from {column}", answers=words, role=role, column=f"“{params[role]}”")
        return Message(_USUAL if is_usual else _POSSIBLE, answers=words, columns=metric.submission.words)

    def rank(self, metric: Metric, fit: SuggestedMetric) -> tuple[Any, ...]:
        """The sort key: fitting metrics first, usual ones before others, those made for columns with these names, then
        by the preferences for this kind of answers."""
        targets = self._targets(metric, fit.params)
        nature = self._nature(metric, fit.params)
        group = nature.groups.index(metric.group) if metric.group in nature.groups else len(nature.groups)
        preference = nature.keys.index(metric.key) if metric.key in nature.keys else len(nature.keys)
        is_made_for_it = metric.truth.columns > 1 and _finds_columns(metric, self._nature(metric, fit.params), targets)
        played = [(name, fit.params[name]) for name in metric.roles]
        is_made_for_it |= bool(played) and all(name in self.free and role in name.casefold() for role, name in played)
        is_other_width = metric.truth.many != (len(targets) > 1) and preference == len(nature.keys)
        return (
            not (fit.fits or fit.nearly_fits),
            not fit.is_usual,
            not is_made_for_it,
            is_other_width,
            preference,
            group,
            metric.title,
        )

    def _mapped(self, metric: Metric) -> dict[str, Any]:
        """The default parameters, and for each role the column whose name is or contains the role's."""
        params = {parameter.name: parameter.default for parameter in metric.parameters}
        if self.sample is not None and metric.is_custom and SUBMISSION_COLUMNS in params:
            params[SUBMISSION_COLUMNS] = first_lines(self.sample.names, self.sample.row(0))
        for role in metric.roles:
            same = [name for name in self.free if name.casefold() == role]
            same += [name for name in self.free if role in name.casefold()]
            params[role] = same[0] if same else params[role]
        if params.get("average") == "binary" and self._nature(metric, params).name in _MANY_CLASSES:
            params["average"] = "macro"
        return params

    def _targets(self, metric: Metric, params: Mapping[str, Any]) -> tuple[str, ...]:
        roles = [params[name] for name in metric.roles]
        return tuple(name for name in self.free if name not in roles)

    def _writing(self, targets: Sequence[str]) -> Writing | None:
        """The writing of the lists in a target column, if they are not separated by white space."""
        if len(targets) != 1:
            return None
        if targets[0] not in self._writings:
            cells = self._clean.column(targets[0]).slice(0, MOST_CELLS).to_pylist()
            self._writings[targets[0]] = writing_of_lists(cells)
        return self._writings[targets[0]]

    def _nature(self, metric: Metric, params: Mapping[str, Any]) -> Nature:
        targets = self._targets(metric, params)
        if targets not in self._natures:
            table = self._clean
            count = min(table.rows, max(200, MOST_CELLS // max(len(targets), 1)))
            rows = np.arange(count) * table.rows // max(count, 1)
            cells = [pick(table.column(name), rows).to_pylist() for name in targets]
            nature = nature_of(cells, targets)
            self._natures[targets] = labels_of_0_and_1() if nature.name == "binary" and self._asks_labels() else nature
        return self._natures[targets]

    def _asks_labels(self) -> bool:
        """Whether the sample's answers are 0 and 1, so that it asks for labels and not for probabilities."""
        if self.sample is None or len(self.sample.names) != 2:
            return False
        return set(self.sample.column(self.sample.names[1]).unique().to_pylist()) == {"0", "1"}


def _brief_message(problem: Problem) -> str:
    return problem.message.with_one_example() if isinstance(problem.message, Message) else problem.message


def _finds_columns(metric: Metric, nature: Nature, targets: Sequence[str]) -> bool:
    """Whether a metric of several different columns finds their names among the answers; True for other metrics."""
    if metric.truth.many or metric.truth.columns == 1 or nature.name == "time and event":
        return True
    return all(len(name) > 2 and name.casefold() in metric.truth.words.casefold() for name in targets)


def _problem_of_perfect_rows(truth: Truth) -> list[Problem]:
    try:
        prediction, problems = reading_of(truth, truth.perfect_columns())
        if problems:
            return problems
        value = score_prediction(truth, truth.metric.submission.fill(np.arange(len(truth.scored)), prediction)).overall
    except (MetricError, NotFinite) as error:
        return [
            Problem("self_test", Message("A perfect file cannot be scored: {reasons}", reasons=error_message(error)))
        ]
    best = truth.metric.best_with(truth.params)
    if value == best:
        return []
    message = Message("A perfect file scores {value} instead of {best}.", value=f"{value:g}", best=f"{best:g}")
    return [Problem("self_test", message)]


def _problems_with_sample(truth: Truth, sample: Table | None) -> list[Problem]:
    """The problems of a submission made from this sample, ids apart."""
    if sample is None:
        return []
    expected = (truth.id_column, *answer_columns(truth.metric, truth.target, truth.target_columns))
    sample = sample.named(matched_names(sample.names, expected))
    if problems := check_header(sample.names, expected):
        return problems
    columns = [Cells(sample, name, truth.id_column) for name in expected[1:]]
    truth.metric.submission.read(columns, truth.target)
    return [problem for cells in columns for problem in cells.problems]
