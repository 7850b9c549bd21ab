"""Making a public and a private part of a truth that has none."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict

from metrics._errors import GroundTruthError, Problem, Refused
from metrics._layout import USAGE, check_truth_header, layout_of
from metrics._tables import Source, read_bytes, read_table
from metrics._truth import csv_bytes


def add_split(
    truth: Source,
    share: float,
    seed: int,
    stratify: bool,
    id_column: str | None = None,
    *,
    earlier: Source | None = None,
    earlier_id_column: str | None = None,
) -> bytes:
    """The truth's CSV text with a ``Usage`` column; ``share`` (0–1) of the rows are public.

    Which rows depends on the seed and the ids, never on the order of the file. With ``stratify`` each distinct answer
    is split in the same proportion; answers too rare to reach both parts, such as measured numbers, are drawn
    together. Both parts get at least one row. Rows that an ``earlier`` truth knows keep the part they have there: a
    corrected answer must not move rows between the boards. Raises ``GroundTruthError``.
    """
    try:
        table = read_table(read_bytes(truth), check_truth_header)
        layout = layout_of(None, table, id_column)
        if table.problems:
            raise Refused(*table.problems)
        if layout.has_split:
            raise Refused(Problem("has_split", "The file has a Usage column already.", column=USAGE))
        if table.rows < 2:
            raise Refused(Problem("empty_split", "Two parts need at least two rows."))
    except Refused as refused:
        raise GroundTruthError(refused.problems) from None
    columns = [array.to_pylist() for array in table.arrays]
    ids = columns[table.names.index(layout.id_column)]
    targets = [columns[table.names.index(name)] for name in layout.targets]
    strata: list[tuple[str, ...]] = list(zip(*targets, strict=True)) if stratify else [()] * table.rows
    public = _public_rows(ids, strata, min(max(share, 0.0), 1.0), seed)
    kept = {} if earlier is None else _parts_of(earlier, earlier_id_column)
    usage = [kept.get(name, "Public" if row in public else "Private") for row, name in enumerate(ids)]
    return csv_bytes([*table.names, USAGE], zip(*columns, usage, strict=True))


def _parts_of(truth: Source, id_column: str | None) -> dict[str, str]:
    """Part by id of a published truth."""
    table = read_table(read_bytes(truth), check_truth_header)
    ids, parts = (
        table.arrays[table.names.index(name)].to_pylist()
        for name in (layout_of(None, table, id_column).id_column, USAGE)
    )
    return dict(zip(ids, parts, strict=True))


def _public_rows(ids: list[str], strata: list[tuple[str, ...]], share: float, seed: int) -> set[int]:
    """Rows in the order (stratum, hash of id), of which evenly spaced ones are public: each stratum gets its share to
    within one row, and the whole gets it exactly."""
    drawn = [hashlib.sha256(f"{seed}\x00{name}".encode()).digest() for name in ids]
    sizes = Counter(strata)
    least = 1 / max(min(share, 1 - share), 1 / len(ids))
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in sorted(range(len(ids)), key=lambda row: (drawn[row], ids[row])):
        groups[strata[row] if sizes[strata[row]] >= least else ()].append(row)
    order = [row for _, rows in sorted(groups.items()) for row in rows]
    wanted = min(max(round(share * len(ids)), 1), len(ids) - 1)
    return {row for place, row in enumerate(order) if (place + 1) * wanted // len(ids) > place * wanted // len(ids)}
