"""A truth file → a ``Truth``, with all problems of the file at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..reading.ids import blank_ids, on_line
from ..reading.layout import USAGE, check_truth_header, id_column_of, layout_of
from ..reading.tables import Source, Table, plain, read_bytes, read_table
from .contract import Metric
from .errors import GroundTruthError, Problem, Refused
from .evaluate import Result
from .messages import EXAMPLES, Message, listed
from .parameters import complete
from .registry import get
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

    The id column is the first unless named; further columns except ``Usage`` are targets, unless they play a role in
    one of the ``secondary`` metrics (key, parameters), whose values come with every result. Raises ``UnknownMetric``,
    ``ParameterError`` or ``GroundTruthError`` with every problem of the file, never because of a secondary metric.
    """
    import pyarrow as pa

    metric = get(key)
    full = complete(metric.parameters, params or {})
    prepared, problems = read_truth(metric, truth, full, id_column, secondary)
    if problems or prepared is None:
        raise GroundTruthError(problems)
    truths = [prepared, *(secondary_metric.truth for secondary_metric in prepared.secondary if secondary_metric.truth)]
    # The process of a metric from outside gets the whole table, and several metrics may share one.
    unneeded = () if any(one.metric.is_outside for one in truths) else (USAGE,)
    for one in truths:
        one.table.let_go(unneeded if one.has_split else ())
    pa.default_memory_pool().release_unused()  # a million rows of text stay below 250 MB
    prepared.ids.make_index()
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


def read_truth(
    metric: Metric, source: Source, params: dict[str, Any], id_column: str | None, secondary: Sequence[Asked] = ()
) -> tuple[Truth | None, list[Problem]]:
    """The truth, as far as it could be read, and all its problems, those of secondary metrics apart."""
    try:
        table = read_table(read_bytes(source), check_truth_header, longest_line=metric.longest_line)
        table.let_go(())
    except Refused as refused:
        return None, refused.problems
    return judge_table(metric, table, params, id_column, secondary)


def judge_table(
    metric: Metric, table: Table, params: dict[str, Any], id_column: str | None, secondary: Sequence[Asked] = ()
) -> tuple[Truth | None, list[Problem]]:
    """As ``read_truth``, of a table at hand."""
    every = [(metric.key, params), *secondary]
    truth, problems = _judged(metric, table_for(every[0], every, table), params, id_column)
    if truth is not None and not problems:
        truth.secondary = tuple(prepare_secondary(truth, asked, table_for(asked, every, table)) for asked in secondary)
    return truth, problems


def _judged(
    metric: Metric, table: Table, params: dict[str, Any], id_column: str | None
) -> tuple[Truth | None, list[Problem]]:
    metric, problems = metric.adapt(params), list(table.problems)
    try:
        name = id_column_of(table, id_column)
        problems += blank_ids(table, name) + _repeated_ids(table, name)
        layout = layout_of(metric, table, id_column, params)
    except Refused as refused:
        return None, problems + refused.problems
    truth = Truth(metric, params, table, layout)
    problems += truth.problems
    return truth, problems or unscorable_parts(truth)


def _repeated_ids(table: Table, column: str) -> list[Problem]:
    ids = table.column(column)
    encoded = ids.dictionary_encode()
    if len(encoded.dictionary) == table.rows:
        return []
    codes = plain(encoded.indices, np.int32)
    _, firsts = np.unique(codes, return_index=True)
    again = np.setdiff1d(np.arange(len(codes)), firsts)
    names = [on_line(ids[int(row)].as_py(), table.lines[row]) for row in again[:EXAMPLES]]
    message = Message.counted(
        len(again),
        "{count} row with an id that was there before: {ids}.",
        "{count} rows with an id that was there before: {ids}.",
        ids=listed(names, len(again)),
    )
    row = int(again[0])
    return [Problem("repeated_ids", message, column, int(table.lines[row]), ids[row].as_py(), len(again))]
