"""Putting single answers of a truth right, or taking rows out of the score, without touching anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.errors import GroundTruthError, Problem, Refused, shown
from ..core.messages import Message
from ..reading.layout import USAGE, check_truth_header, id_column_of, layout_of
from ..reading.tables import Source, csv_bytes, read_bytes, read_table
from ..reading.text import LONGEST_MASK_LINE


def correct_answers(
    truth: Source,
    corrected: Mapping[str, Sequence[str]],
    ignored: Sequence[str],
    columns: Sequence[str],
    id_column: str | None = None,
) -> bytes:
    """The truth's CSV text with other answers: id → cells of ``columns``; rows of the ``ignored`` ids stay and no
    longer count. Raises ``GroundTruthError`` for ids that the truth does not have and for files without a split.
    """
    try:
        table = read_table(read_bytes(truth), check_truth_header, longest_line=LONGEST_MASK_LINE)
        if not layout_of(None, table, id_column).has_split:
            message = Message("The file has no Usage column, so no row can be ignored.")
            raise Refused(Problem("no_split", message, column=USAGE))
        names = table.column(id_column_of(table, id_column)).to_pylist()
    except Refused as refused:
        raise GroundTruthError(refused.problems) from None
    places = {name: place for place, name in enumerate(names)}
    if unknown := [name for name in (*corrected, *ignored) if name not in places]:
        message = Message("The ground truth has no row with the id {id}.", id=shown(unknown[0]))
        raise GroundTruthError([Problem("unknown_id", message, id=unknown[0], count=len(unknown))])
    cells = {name: array.to_pylist() for name, array in zip(table.names, table.arrays, strict=True)}
    for name, answers in corrected.items():
        for column, answer in zip(columns, answers, strict=True):
            cells[column][places[name]] = answer
    for name in ignored:
        cells[USAGE][places[name]] = "Ignored"
    return csv_bytes(table.names, zip(*cells.values(), strict=True))
