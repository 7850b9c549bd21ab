"""A ground truth that is read once and scores thousands of submissions."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..reading.archives import LIMIT
from ..reading.columns import Cells, Kind
from ..reading.headers import ExpectedHeader
from ..reading.ids import Ids
from ..reading.list_cells import Wanted
from ..reading.sources import Source, read_source
from ..reading.split_words import SPLITS, USAGE
from ..reading.tables import Table, columns_csv, csv_bytes, pick
from ..reading.text import LONGEST_LINE
from ..reading.workbooks import with_sheet_note
from .advice import with_advice
from .arrays import Answers, take
from .buckets import Buckets, buckets_of, hashes_of
from .contract import Metric, answer_columns, chosen
from .errors import MetricFailed, NotFinite, Problem, Refused, SubmissionError
from .evaluate import score_prediction
from .layout import Layout
from .lazy import cached_property
from .messages import Message, Plural
from .result import Result
from .secondary import SecondaryMetric, read_secondary, secondary_values
from .types import PreparedTruth

SMALL = 110_000_000
"""Bytes that every submission may have, as a site's uploads may."""

_UNKNOWN_USAGE = Plural(
    "{count} value of {column} is none of Public, Private, Ignored: {examples}.",
    "{count} values of {column} are none of Public, Private, Ignored: {examples}.",
)
_NO_ROWS_OF = {
    "public": Message("No row is public: the column Usage needs both Public and Private."),
    "private": Message("No row is private: the column Usage needs both Public and Private."),
}
_UNSCORABLE = {
    "": Message("The file cannot be scored: {reason}"),
    "public": Message("The public part cannot be scored: {reason}"),
    "private": Message("The private part cannot be scored: {reason}"),
}

CELL = 100
"""The most bytes of a submission's cell on average, for metrics with short lines."""


class Truth:
    """A ground truth ready to score: parsed and checked, with its ids and encodings kept.

    ``scored`` are the rows of the table that count, in file order; ``parts`` maps each split to indices into
    ``scored``. With ``like``, a truth of the same rows for another metric, it shares ids, splits, resampling, and
    columns that both read alike.
    """

    def __init__(
        self, metric: Metric, params: dict[str, Any], table: Table, layout: Layout, like: "Truth | None" = None
    ) -> None:
        self.metric = metric
        self.params = params
        self.layout = layout
        self.id_column = layout.id_column
        self.target_columns = layout.targets
        self.role_columns = layout.roles
        self.unscored_columns = layout.unscored
        self.has_split = layout.has_split
        self.table = table
        self.ids: Ids = Ids(table.values(layout.id_column)) if like is None else like.ids
        self.problems: list[Problem] = []
        self.refused: list[np.ndarray] = []
        """Rows of the table with a refused cell, in several arrays."""
        self._columns_read: dict[object, tuple[Kind, Any, list[Problem], list[np.ndarray]]] = {}
        self._buckets: dict[str, Buckets] = {}
        if like is None:
            self.usage = self._read_usage()
            self.scored = np.flatnonzero(self.usage != 2).astype(np.int32)
            self.parts = self._parts()
        else:
            self.usage, self.scored, self.parts = like.usage, like.scored, like.parts
            self._columns_read, self._buckets = like._columns_read, like._buckets
        self.target = self._read(metric.truth, layout.targets)
        self.answers = self.target
        """The argument ``truth`` of the metric's functions."""
        if layout.roles:
            roles = {role: self._read(metric.roles[role].kind, [name]) for role, name in layout.roles.items()}
            self.answers = Answers(self.target, roles)
        self.secondary: tuple[SecondaryMetric, ...] = ()
        """Secondary metrics, whose values are part of every result."""

    def with_metric(self, metric: Metric, params: dict[str, Any], table: Table, layout: Layout) -> "Truth":
        """The same rows for another metric."""
        other = Truth(metric, params, table, layout, like=self)
        other.problems = other.problems or unscorable_parts(other)
        return other

    @cached_property
    def reading(self) -> tuple[object, ...]:
        """A key of everything that a prediction depends on besides the file: truths with equal keys read the same
        prediction."""
        kinds = [(type(kind), repr(vars(kind))) for kind in (self.metric.truth, self.metric.submission)]
        verified = (self.metric.key, repr(self.params)) if self.metric.rules.verify is not None else ()
        lists = (self.params.get("separator"), self.params.get("gain"))
        return (*kinds, self.target_columns, self.submission_columns, verified, lists)

    def _read_usage(self) -> np.ndarray:
        """0 public, 1 private, 2 ignored; all 0 without a split."""
        if not self.has_split:
            return np.zeros(self.table.rows, np.int8)
        cells = Cells(self.table, USAGE, self.id_column)
        coded = cells.coded()
        words = [text.casefold() for text in coded.values]
        codes = np.array([SPLITS.index(word) if word in SPLITS else 3 for word in words], np.int8)
        usage: np.ndarray = codes[coded.codes]
        if (usage == 3).any():
            cells.refuse("unknown_usage", _UNKNOWN_USAGE, np.flatnonzero(usage == 3))
            self.problems += cells.problems
            self.refused += cells.refused
        return usage

    def _parts(self) -> dict[str, np.ndarray]:
        if not self.has_split:
            return {}
        usage = self.usage[self.scored]
        parts = {
            name: np.flatnonzero(usage == part).astype(np.int32) for part, name in enumerate(("public", "private"))
        }
        for name, rows in parts.items():
            if not len(rows) and not self.problems:
                self.problems.append(Problem("empty_split", _NO_ROWS_OF[name], column=USAGE))
        return parts

    def _read(self, kind: Kind, names: Sequence[str]) -> Any:
        """The scored rows of some columns as the kind's array; problems are noted."""
        key = (type(kind), repr(vars(kind)), *names)
        if key not in self._columns_read:
            rows = None if len(self.scored) == self.table.rows else self.scored
            columns = [Cells(self.table, name, self.id_column, rows) for name in names]
            read = kind.read(columns)
            problems = [problem for cells in columns for problem in cells.problems]
            refused = [places if rows is None else rows[places] for cells in columns for places in cells.refused]
            # The kind is kept, so that no other one has the address of its functions, which the key may hold.
            self._columns_read[key] = kind, read, problems, refused
        _kind, found, problems, refused = self._columns_read[key]
        self.problems += problems
        self.refused += refused
        return found

    @property
    def rows(self) -> int:
        """The number of rows of the file: public, private and ignored ones."""
        return self.table.rows

    @property
    def public_rows(self) -> int:
        """The number of rows in the public score; 0 without a split."""
        return len(self.parts.get("public", ()))

    @property
    def private_rows(self) -> int:
        """The number of rows in the private score; 0 without a split."""
        return len(self.parts.get("private", ()))

    @property
    def ignored_rows(self) -> int:
        """The number of rows that a submission must have but that count in no score."""
        return self.rows - len(self.scored)

    @cached_property
    def scored_columns(self) -> tuple[str, ...]:
        """The columns of a submission that the metric reads."""
        return answer_columns(self.metric, self.target, self.target_columns)

    @cached_property
    def submission_columns(self) -> tuple[str, ...]:
        """The exact header of a submission, id first; columns that are not scored come last."""
        return (self.id_column, *self.scored_columns, *self.unscored_columns)

    @cached_property
    def part_answers(self) -> dict[str, Any]:
        """The answers of each split, for metrics that need whole columns."""
        return {name: take(self.answers, rows) for name, rows in self.parts.items()}

    def buckets(self, split: str) -> Buckets:
        """The resampling buckets of a split, or of all rows for ``""``; cached."""
        if not self._buckets:
            hashes = hashes_of(self.ids.array)[self.scored]
            self._buckets = {name: buckets_of(hashes[rows]) for name, rows in self.parts.items()}
            self._buckets[""] = buckets_of(hashes)
        return self._buckets.get(split, self._buckets[""])

    @property
    def largest_submission(self) -> int:
        """The most bytes of an unpacked submission. Reading takes ten times as much memory, so the limit fits its rows
        and columns. It does not depend on the length of the answers, which is secret."""
        if self.metric.longest_line > LONGEST_LINE:
            return LIMIT
        return min(LIMIT, max(SMALL, CELL * self.rows * len(self.submission_columns)))

    def evaluate(
        self,
        submission: Source,
        *,
        uncertainty: bool = False,
        with_parts: bool = False,
        when_read: Callable[[], object] = lambda: None,
    ) -> Result:
        """Score a submission: CSV bytes (plain, gzip, zip), a path or a frame.

        A frame is scored as the file that ``frame.to_csv(index=False)`` writes, with ids in a column or in an index
        that has the id column's name. ``with_parts`` also requests named sums that the metric's value does not need;
        ``when_read`` is called when the file is read and nothing is computed yet. Raises ``SubmissionError`` with every
        problem of the file, before anything is computed, and ``MetricFailed``.
        """
        import pyarrow as pa

        prediction, table, places = self.read_submission(submission)
        if self.metric.is_custom:
            when_read()
            from .custom_metrics import score_custom

            result, read = score_custom(self, table, places), read_secondary(self, table, places)
            return replace(result, secondary=secondary_values(self, read), warnings=tuple(table.notes))
        read = read_secondary(self, table, places) if self.secondary else []
        notes = tuple(dict.fromkeys(table.notes))
        when_read()
        del table  # the predictions hold all that is needed
        pa.default_memory_pool().release_unused()
        try:
            result = score_prediction(self, prediction, uncertainty=uncertainty, with_parts=with_parts)
        except NotFinite:
            raise MetricFailed(self.metric.key, "gave no finite number") from None
        except MemoryError:
            # The memory needed depends on the truth, too, so the file is not refused for it.
            raise MetricFailed(self.metric.key, "needed more memory than there is") from None
        return replace(result, secondary=secondary_values(self, read) if read else (), warnings=notes)

    def check(self, submission: Source) -> tuple[Problem, ...]:
        """The warnings about a submission, which is read but not scored. Raises ``SubmissionError`` as ``evaluate``
        does, but never because of an answer."""
        _, table, _ = self.read_submission(submission)
        if self.metric.is_custom:
            from .custom_metrics import refuse_custom

            refuse_custom(self, table)
        return tuple(table.notes)

    def read_submission(self, submission: Source) -> tuple[Any, Table, np.ndarray]:
        """The prediction in the order of the scored rows, the submission's table, and the place of each scored row in
        it.

        The table's notes tell of values that are written otherwise than the sample submission. Raises
        ``SubmissionError``, which does not depend on answers or splits.
        """
        may_miss = self.metric.format.may_miss_ids
        try:
            table = read_source(
                submission,
                self.expected_header,
                limit=self.largest_submission,
                expected_rows=self.rows,
                may_be_empty=may_miss,
                longest_line=self.metric.longest_line,
                wanted=Wanted(self.id_column, self.submission_columns, self.metric.submission.list_format(self.params)),
            )
        except Refused as refused:
            raise SubmissionError(refused.problems) from None
        places, problems = self.ids.align(table, self.id_column, may_miss=may_miss)
        prediction, complaints = self.read_prediction(table, judges=True)
        if problems := table.problems + problems + complaints:
            raise SubmissionError(with_sheet_note(with_advice(problems, table), table.notes))
        hint = self.metric.rules.hint
        if hint is not None and (sentence := hint(prediction, **chosen(hint, self.params))):
            table.notes.append(Problem("hint", sentence, self.submission_columns[-1]))
        places = places[self.scored]
        if np.array_equal(places, np.arange(table.rows)):
            return prediction, table, places
        return self.metric.submission.fill(places, prediction), table, places

    def read_prediction(
        self, table: Table, main: PreparedTruth | None = None, *, judges: bool = False
    ) -> tuple[Any, list[Problem]]:
        """The metric's prediction from a submission's cells, in the order of the file, and all problems of these cells.
        ``main`` is the truth for which the submission was made, if that is another one. With ``judges`` values that are
        written otherwise than the sample submission are problems, or notes of the table, too."""
        names = [(main or self).name_in(table, name) for name in self.scored_columns]
        columns = [Cells(table, name, self.id_column) for name in names]
        prediction = self.metric.submission.read(columns, self.target)
        if (verify := self.metric.rules.verify) is not None:
            verify(columns, prediction, **chosen(verify, self.params))
        if judges:
            self.metric.submission.judge(columns, prediction, self.target, self.params)
            table.notes += [warning for cells in columns for warning in cells.warnings]
        return prediction, [problem for cells in columns for problem in cells.problems]

    @property
    def expected_header(self) -> ExpectedHeader:
        """The rule for the header of a submission."""
        return ExpectedHeader(self.submission_columns, self.metric.format.aliases)

    def name_in(self, table: Table, name: str) -> str:
        """The name of a column in this submission: ``name``, or an alias."""
        return name if name in table.names else next(a for a in self.metric.format.aliases if a in table.names)

    def sample_submission(self) -> bytes:
        """A valid submission with the same answer in each row, sorted by id so that it reveals nothing."""
        cells = [*self.constant_prediction, *self._unscored_cells]
        return csv_bytes(self.submission_columns, ([name, *cells] for name in self.ids.in_order))

    @property
    def constant_prediction(self) -> list[str]:
        """The scored cells of each row of the sample submission."""
        cell = self.metric.submission.sample_with(self.target, self.params)
        return [cell] * len(self.scored_columns) if isinstance(cell, str) else cell

    @property
    def _unscored_cells(self) -> list[str]:
        return self.constant_prediction[-1:] * len(self.unscored_columns)

    def perfect_submission(self) -> bytes:
        """A submission made of the answers; ignored rows get the sample's answer."""
        if self.metric.rules.perfect is None and len(self.scored) == self.rows and not self.unscored_columns:
            return columns_csv(self.submission_columns, [self.ids.array, *map(self.table.column, self.target_columns)])
        names, columns = self.ids.texts, self.perfect_columns()
        if len(self.scored) < len(names):
            columns = [self._in_all_rows(*pair) for pair in zip(columns, self.constant_prediction, strict=True)]
        columns += [[cell] * len(names) for cell in self._unscored_cells]
        return csv_bytes(self.submission_columns, zip(names, *columns, strict=True))

    def _in_all_rows(self, cells: Sequence[str], constant: str) -> list[str]:
        found = np.full(self.table.rows, constant, object)
        found[self.scored] = cells
        listed: list[str] = found.tolist()
        return listed

    def perfect_columns(self) -> list[list[str]]:
        """The answers in the format of a submission: its scored columns for the scored rows."""
        if self.metric.rules.perfect is not None:
            return self.metric.rules.perfect(self.answers, **chosen(self.metric.rules.perfect, self.params))
        return [pick(self.table.column(name), self.scored).to_pylist() for name in self.target_columns]

    def some(self, rows: np.ndarray) -> "Truth":
        return Truth(self.metric, self.params, self.table.some(rows), self.layout)


def unscorable_parts(truth: Truth) -> list[Problem]:
    """Problems of parts of a truth that no submission can be scored on."""
    check = truth.metric.rules.unscorable
    if check is None:
        return []
    problems = []
    for name, target in (truth.part_answers or {"": truth.answers}).items():
        if reason := check(target, **chosen(check, truth.params)):
            message = Message(_UNSCORABLE[name], reason=reason)
            problems.append(Problem("unscorable", message, truth.target_columns[0]))
    return problems
