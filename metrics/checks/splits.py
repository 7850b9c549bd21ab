"""Adding a public/private split to a truth, correcting single answers, ignoring rows, and comparing two truths.

Corrections change nothing else in the file; a comparison shows whether a new truth differs only in what its host meant
to correct.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..core.errors import GroundTruthError, Problem, Refused, shown
from ..core.layout import id_column_of, layout_of
from ..core.messages import Message
from ..reading.column_names import TRIMMED
from ..reading.columns import NAME_OF_DIGITS, to_decimal
from ..reading.headers import TRUTH_HEADER
from ..reading.sources import Source, read_source
from ..reading.split_words import USAGE, known_part
from ..reading.tables import Table, columns_csv, csv_bytes, pick, plain, sorted_places, text_array
from ..reading.text import LONGEST_MASK_LINE

T = TypeVar("T")


def add_split(
    truth: Source,
    share: float,
    seed: int,
    stratify: bool,
    id_column: str | None = None,
    *,
    secret: bytes,
    group: str | None = None,
    roles: Collection[str] = (),
    earlier: Source | None = None,
    earlier_id_column: str | None = None,
) -> bytes:
    """The truth's CSV text with a ``Usage`` column; ``share`` (0–1) of the rows are public.

    The split depends on the ids, the ``seed`` and the ``secret``, never on the order of the file. Students know the
    ids, the share and often the seed, so the split is as hard to guess as the secret. With ``stratify`` each distinct
    answer is split in the same proportion; answers too rare to reach both splits, such as measured numbers, are drawn
    together. Rows with the same text in the column ``group`` (a patient, a place) stay in one split; then whole groups
    are drawn. ``roles`` are columns that are not answers. Both splits get at least one row. Rows of an ``earlier``
    truth keep their split, and their groups follow: a corrected answer must not move rows between the boards. Raises
    ``GroundTruthError``.
    """
    try:
        table = _table_to_split(truth, id_column, group)
    except Refused as refused:
        raise GroundTruthError(refused.problems) from None
    share = min(max(share, 0.0), 1.0)
    id_name = id_column_of(table, id_column)
    ids = table.column(id_name).to_pylist()
    answers = [name for name in table.names if name not in (id_name, group, *roles)] if stratify else []
    strata = _stratum_codes(table, answers)
    earlier_parts: dict[str, str] = {}
    if earlier is not None:
        known = _read(earlier)
        known_ids = known.column(id_column_of(known, earlier_id_column)).to_pylist()
        earlier_parts = dict(zip(known_ids, known.column(USAGE).to_pylist(), strict=True))
    (key,) = _keyed_hashes(secret, [str(seed)])
    if group is not None:
        usage = text_array(_by_group(table.column(group).to_pylist(), ids, strata, share, key, earlier_parts))
    else:
        usage = pick(text_array(["Private", "Public"]), _are_public(ids, strata, share, key))
        if earlier_parts:
            usage = text_array(list(map(earlier_parts.get, ids, usage.to_pylist())))
    return columns_csv([*table.names, USAGE], [*map(table.column, table.names), usage])


def remove_columns(truth: Source, names: Iterable[str]) -> bytes:
    """The truth's CSV text without these columns, such as a group column that was only needed for the split."""
    table = _read(truth)
    for name in names:
        table = table.without(name)
    return columns_csv(table.names, list(map(table.column, table.names)))


def name_split(truth: Source, column: str) -> bytes:
    """The truth's CSV text with a column of words for the parts as ``Usage``, in the words that the readers know."""
    table = _read(truth)
    cells = {name: table.column(name).to_pylist() for name in table.names}
    cells[column] = [known_part(cell, column) for cell in cells[column]]
    names = [USAGE if name == column else name for name in table.names]
    return csv_bytes(names, zip(*cells.values(), strict=True))


def _read(truth: Source) -> Table:
    """The table of a truth, without knowing its metric."""
    return read_source(truth, TRUTH_HEADER, longest_line=LONGEST_MASK_LINE)


def _keyed_hashes(key: bytes, texts: Iterable[str]) -> list[bytes]:
    """Keyed BLAKE2: as secure as HMAC-SHA256, in a third of its time for millions of ids."""
    start, found = hashlib.blake2b(key=key, digest_size=32), list[bytes]()
    for text in texts:
        keyed = start.copy()
        keyed.update(text.encode())
        found.append(keyed.digest())
    return found


def _table_to_split(truth: Source, id_column: str | None, group: str | None) -> Table:
    table = _read(truth)
    layout = layout_of(None, table, id_column)
    if table.problems:
        raise Refused(*table.problems)
    if layout.has_split:
        raise Refused(Problem("has_split", Message("The file has a Usage column already."), column=USAGE))
    if table.rows < 2:
        raise Refused(Problem("empty_split", Message("Two parts need at least two rows.")))
    if group is not None:
        refuse_group(table, layout.id_column, group)
    return table


def refuse_group(table: Table, id_column: str, group: str) -> None:
    """Raise ``Refused`` unless the column ``group`` exists, is neither id nor ``Usage``, and has at least two
    groups."""
    if group not in table.names or group in (id_column, USAGE):
        names = ", ".join(shown(name) for name in table.names if name not in (id_column, USAGE))
        message = Message(
            "The file has no column {column} for the groups; it has {names}.", column=shown(group), names=names
        )
        raise Refused(Problem("group_missing", message, column=group))
    if len(table.column(group).unique()) < 2:
        message = Message("All rows of {column} are one group: two parts need two.", column=shown(group))
        raise Refused(Problem("one_group", message, group))


def _stratum_codes(table: Table, answers: Sequence[str]) -> np.ndarray:
    """A number for each row, shape (rows,): equal for equal answers, and in their order."""
    found = np.zeros(table.rows, np.int64)
    for name in answers:
        encoded = table.column(name).dictionary_encode()
        ranks = np.empty(len(encoded.dictionary), np.int64)
        ranks[sorted_places(encoded.dictionary)] = np.arange(len(ranks))
        found = found * len(ranks) + ranks[plain(encoded.indices, np.int32)]
        if name != answers[0]:  # those of one column leave out no number
            found = np.unique(found, return_inverse=True)[1]
    return found


def _are_public(ids: Sequence[str], strata: np.ndarray, share: float, key: bytes) -> np.ndarray:
    """Whether each row is public: rows evenly spaced in the order (stratum, keyed hash of the id), so that each stratum
    gets its share to within one row, and the whole file gets it exactly."""
    order = _in_order(ids, strata, share, key)
    wanted = min(max(round(share * len(ids)), 1), len(ids) - 1)
    places = np.arange(len(ids) + 1) * wanted // len(ids)
    found = np.empty(len(ids), bool)
    found[order] = places[1:] > places[:-1]
    return found


def _in_order(ids: Sequence[str], strata: np.ndarray, share: float, key: bytes) -> np.ndarray:
    """Rows by stratum, then by the keyed hash of the id; strata too small for both splits are merged into one, the
    first."""
    drawn = np.frombuffer(b"".join(_keyed_hashes(key, ids)), ">u8").reshape(len(ids), -1)
    least = 1 / max(min(share, 1 - share), 1 / len(ids))
    # In the order of the hashes' bytes; the same hash means the same id.
    shuffled = np.argsort(drawn[:, 0], kind="stable")
    if not np.diff(drawn[shuffled, 0]).all():
        shuffled = np.lexsort(drawn.T[::-1])
    together = np.where(np.bincount(strata)[strata] >= least, strata, -1)
    order: np.ndarray = shuffled[np.argsort(together[shuffled], kind="stable")]
    return order


def _by_group(
    groups: Sequence[str],
    ids: Sequence[str],
    strata: np.ndarray,
    share: float,
    key: bytes,
    earlier_parts: Mapping[str, str],
) -> list[str]:
    """The split of each row if groups stay together.

    Groups are taken in the order (most frequent answer, keyed hash), and each becomes public if that brings the share
    of public rows so far nearer to ``share``. A group with rows in an earlier truth follows most of them.
    """
    rows: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(groups):
        rows[name].append(row)
    names = sorted(rows)
    commonest = np.array([_commonest_value(strata[rows[name]].tolist()) for name in names])
    parts: dict[str, str] = {}
    public = seen = 0
    order = [names[place] for place in _in_order(names, commonest, share, key)]
    for name in order:
        size = len(rows[name])
        seen += size
        before = [earlier_parts[ids[row]] for row in rows[name] if earlier_parts.get(ids[row]) in ("Public", "Private")]
        is_public = abs(public + size - share * seen) < abs(public - share * seen)
        parts[name] = str(_commonest_value(before)) if before else "Public" if is_public else "Private"
        public += size * (parts[name] == "Public")
    if len(set(parts.values())) == 1:
        other = "Private" if "Public" in parts.values() else "Public"
        # Of several smallest groups the first in hashed order, because students know the names.
        parts[min(order, key=lambda name: len(rows[name]))] = other
    return [earlier_parts.get(name, parts[group]) for name, group in zip(ids, groups, strict=True)]


def _commonest_value(values: Sequence[T]) -> T:
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))


def correct_answers(
    truth: Source,
    corrected: Mapping[str, Sequence[str]],
    ignored: Sequence[str],
    columns: Sequence[str],
    id_column: str | None = None,
) -> bytes:
    """The truth's CSV text with corrections: id → cells of ``columns``. Rows of the ``ignored`` ids stay but no longer
    count. Raises ``GroundTruthError`` for ids that the truth does not have and for files without a split."""
    try:
        table = _read(truth)
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
    cells = {name: table.column(name).to_pylist() for name in table.names}
    for name, answers in corrected.items():
        for column, answer in zip(columns, answers, strict=True):
            cells[column][places[name]] = answer
    for name in ignored:
        cells[USAGE][places[name]] = "Ignored"
    return csv_bytes(table.names, zip(*cells.values(), strict=True))


# --- what was corrected ---------------------------------------------------------------------------------------

MOST_EXAMPLES = 20


@dataclass(frozen=True)
class TruthDifference:
    """One answer that changed. ``split`` is the row's split, ``""`` if the truth has none."""

    id: str
    column: str
    before: str
    after: str
    split: str


@dataclass(frozen=True)
class TruthDifferences:
    """``answers`` are the numbers of rows with a changed answer, by split; ``moved`` counts rows in another split,
    ``added`` and ``gone`` rows that only one of the truths has. ``columns`` are answer columns that the earlier truth
    lacked, ``columns_gone`` those that only it has. ``examples`` are the first changed answers."""

    answers: dict[str, int]
    moved: int
    added: int
    gone: int
    columns: tuple[str, ...]
    columns_gone: tuple[str, ...]
    examples: tuple[TruthDifference, ...]


def compare_truths(
    truth: Source, earlier: Source, id_column: str | None = None, earlier_id_column: str | None = None
) -> TruthDifferences:
    """The differences of two readable truths, by id. ``1`` and ``1.0`` are the same answer.

    >>> found = compare_truths(b"id,y\\n1,5\\n2,7\\n", b"id,y\\n1,5.0\\n2,8\\n3,9\\n")
    >>> found.examples, found.gone
    ((TruthDifference(id='2', column='y', before='8', after='7', split=''),), 1)
    """
    now, then = _columns_of(truth, id_column), _columns_of(earlier, earlier_id_column)
    shared = [name for name in now.answers if name in then.answers]
    rows: Counter[str] = Counter()
    examples: list[TruthDifference] = []
    moved = 0
    for name, here in now.places.items():
        there = then.places.get(name)
        if there is None:
            continue
        split = now.parts[here].casefold() if now.parts else ""
        moved += bool(now.parts and then.parts and split != then.parts[there].casefold())
        found = [
            TruthDifference(name, column, then.answers[column][there], now.answers[column][here], split)
            for column in shared
            if _is_other(now.answers[column][here], then.answers[column][there])
        ]
        rows[split] += bool(found)
        examples += found[: MOST_EXAMPLES - len(examples)]
    return TruthDifferences(
        answers={split: number for split, number in sorted(rows.items()) if number},
        moved=moved,
        added=len(now.places.keys() - then.places.keys()),
        gone=len(then.places.keys() - now.places.keys()),
        columns=tuple(name for name in now.answers if name not in then.answers),
        columns_gone=tuple(name for name in then.answers if name not in now.answers),
        examples=tuple(examples),
    )


@dataclass(frozen=True)
class _Columns:
    places: dict[str, int]
    parts: list[str]
    answers: dict[str, list[str]]


def _columns_of(truth: Source, id_column: str | None) -> _Columns:
    table = _read(truth)
    key = id_column_of(table, id_column)
    cells = {name: [cell.strip(TRIMMED) for cell in table.column(name).to_pylist()] for name in table.names}
    places = {name: place for place, name in enumerate(cells.pop(key))}
    return _Columns(places, cells.pop(USAGE, []), cells)


def _is_other(one: str, other: str) -> bool:
    if one == other:
        return False
    if NAME_OF_DIGITS.match(one) or NAME_OF_DIGITS.match(other):
        return True
    first, second = to_decimal(one), to_decimal(other)
    return first is None or second is None or first != second
