"""Reading ground truths, and scoring, evaluating and comparing submissions in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..reading.headers import TRUTH_HEADER
from ..reading.id_problems import blank_ids, on_line
from ..reading.list_cells import Wanted
from ..reading.sources import Source, read_source
from ..reading.split_words import USAGE
from ..reading.tables import Table, plain
from .buckets import hashes_of
from .contract import Metric
from .errors import GroundTruthError, Problem, Refused
from .layout import id_column_of, layout_of
from .messages import EXAMPLES, Message, listed
from .parameters import complete
from .registry import get
from .result import Result
from .secondary import Asked, prepare_secondary, table_for
from .truth import Truth, unscorable_parts


def prepare(
    key: str,
    truth: Source,
    params: Mapping[str, Any] | None = None,
    id_column: str | None = None,
    *,
    secondary: Sequence[Asked] = (),
) -> Truth:
    """Read and check a truth file: CSV bytes (plain, gzip, zip), a path, or a frame, which means the file that
    ``frame.to_csv(index=False)`` writes; an index with a name is its first column.

    The id column is the first unless named; further columns except ``Usage`` are targets, unless they have a role in
    one of the ``secondary`` metrics (key, parameters), whose values are part of every result. Raises ``UnknownMetric``,
    ``ParameterError`` or ``GroundTruthError`` with every problem of the file, but never because of a secondary metric.
    """
    import pyarrow as pa

    metric = get(key)
    full = complete(metric.parameters, params or {})
    try:
        wanted = Wanted(id_column, lists=metric.truth.list_format(full))
        table = read_source(truth, TRUTH_HEADER, longest_line=metric.longest_line, wanted=wanted)
    except Refused as refused:
        raise GroundTruthError(refused.problems) from None
    table.let_go(())
    prepared, problems = truth_of_table(metric, table, full, id_column, secondary)
    if problems or prepared is None:
        raise GroundTruthError(problems)
    truths = [prepared, *(secondary_metric.truth for secondary_metric in prepared.secondary if secondary_metric.truth)]
    # A custom metric gets the whole table, and several metrics may share one.
    unneeded = () if any(one.metric.is_custom for one in truths) else (USAGE,)
    for one in truths:
        one.table.let_go(unneeded if one.has_split else ())
    pa.default_memory_pool().release_unused()  # a million rows of text stay below 250 MB
    return prepared


def score(key: str, truth: Source, submission: Source, /, *, id_column: str | None = None, **params: Any) -> Result:
    """Score one submission: both are frames, paths or bytes, and the result prints well in a notebook.

    ``score("pinball", truth, submission, quantile=0.9)``. A frame means the file that ``frame.to_csv(index=False)``
    writes. Raises ``SubmissionError`` or ``GroundTruthError`` with every problem of a file; see ``prepare``.
    """
    return prepare(key, truth, params, id_column).evaluate(submission, uncertainty=True)


def evaluate(
    key: str,
    truth: Source,
    submission: Source,
    params: Mapping[str, Any] | None = None,
    id_column: str | None = None,
) -> Result:
    """Score one submission; see ``prepare`` and ``Truth.evaluate``.

    Both may be frames: each means the file that ``frame.to_csv(index=False)`` writes (truth values are ``True`` and
    ``False``), with ids in a column or in an index that has a name.
    """
    return prepare(key, truth, params, id_column).evaluate(submission)


@dataclass(frozen=True)
class Comparison:
    """Two submissions on one split: ``difference`` is the first value minus the second, between ``low`` and ``high`` in
    95 of 100 cases; ``probability`` is the share of resamples in which the first is better, ties counting half."""

    difference: float
    low: float
    high: float
    probability: float


def compare(first: Result, second: Result, split: str = "overall") -> Comparison:
    """Compare two results of one truth that were scored with uncertainty.

    Shared resamples make this a paired test: rows that are hard for both files cancel out.
    """
    ours, theirs = first.uncertainty[split].replicates, second.uncertainty[split].replicates
    low, high = np.quantile(ours - theirs, (0.025, 0.975))
    difference = getattr(first, split) - getattr(second, split)
    gaps = ours - theirs if get(first.metric).direction == "maximize" else theirs - ours
    return Comparison(difference, float(low), float(high), float(np.mean((gaps > 0) + 0.5 * (gaps == 0))))


def truth_of_table(
    metric: Metric, table: Table, params: dict[str, Any], id_column: str | None, secondary: Sequence[Asked] = ()
) -> tuple[Truth | None, list[Problem]]:
    """The truth, as far as it could be read, and all its problems except those of secondary metrics."""
    every = [(metric.key, params), *secondary]
    own = table_for(every[0], every, table)
    problems = list(own.problems)
    try:
        name = id_column_of(own, id_column)
        metric = metric.adapt(params, name)
        problems += blank_ids(own, name) + _repeated_ids(own, name)
        layout = layout_of(metric, own, id_column, params)
    except Refused as refused:
        return None, problems + refused.problems
    truth = Truth(metric, params, own, layout)
    problems += truth.problems
    problems = problems or unscorable_parts(truth)
    if not problems:
        truth.secondary = tuple(prepare_secondary(truth, asked, table_for(asked, every, table)) for asked in secondary)
    return truth, problems


def _repeated_ids(table: Table, column: str) -> list[Problem]:
    import pyarrow as pa

    ids = table.values(column)
    # Ids of different hashes are different.
    if np.diff(np.sort(plain(ids, np.int64) if ids.type == pa.int64() else hashes_of(table.column(column)))).all():
        return []
    ids = table.column(column)
    encoded = ids.dictionary_encode()
    if len(encoded.dictionary) == table.rows:
        return []
    codes = plain(encoded.indices, np.int32)
    again = np.setdiff1d(np.arange(len(codes)), np.unique(codes, return_index=True)[1])
    names = [on_line(ids[int(row)].as_py(), table.lines[row]) for row in again[:EXAMPLES]]
    message = Message.counted(
        len(again),
        "{count} row with an id that was there before: {ids}.",
        "{count} rows with an id that was there before: {ids}.",
        ids=listed(names, len(again)),
    )
    row = int(again[0])
    return [Problem("repeated_ids", message, column, int(table.lines[row]), ids[row].as_py(), len(again))]
