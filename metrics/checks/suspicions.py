"""Warnings about a readable truth: leaks, ids that cause trouble, and properties that may make it measure something
else than its host intends. They never block publication."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.errors import shown
from ..core.messages import EXAMPLES, Message, Plural, listed
from ..core.truth import Truth
from ..numerics.correlation import mid_ranks
from ..reading.columns import Cells
from ..reading.label_forms import LabelForm, typical_label
from ..reading.label_kinds import LabelSet, Words
from ..reading.numbers import read_numbers
from ..reading.repairs import mend_letters
from ..reading.tables import pick, sorted_places
from ..reading.thousands import READ_AS_DECIMAL, grouped_numbers
from .findings import Finding, place_of, warning
from .id_suspicions import MAX_COMPARED, id_suspicions, in_pairs, look_alikes

_MIN_ROWS = 10
_MAX_EXPLAINED = 0.3
"""The largest share of the answer's variance that ids may explain without a warning."""

_MIN_GAP = 0.1
"""The least share of rows that would have to change for equal distributions in both splits that is warned of."""
_MIN_STANDARD_ERRORS = 3.3
"""Standard errors above which a difference between the splits is not by chance (one case in a thousand)."""

_MIN_SPREADS = 20.0
"""Distance from the median, in spreads (quartile distances), from which on a number is odd."""
_MAX_CLASSES = 12
_MAX_COLUMNS = 3


@dataclass(frozen=True)
class _Column:
    """The answers of one column: numbers, or codes of their ``labels``."""

    name: str
    codes: np.ndarray
    labels: list[str] | None


def find_suspicions(truth: Truth) -> list[Finding]:
    """All warnings about a truth that the metric can read."""
    found = list(id_suspicions(truth))
    for name in truth.target_columns:
        column = _column(truth, name)
        for look in (
            _similar_labels,
            _odd_labels,
            _odd_numbers,
            _points_in_numbers,
            _missing_classes,
            _distribution_warning,
            _sorted_by_answer,
            _answers_follow_ids,
        ):
            found += look(truth, column)
    return found


@dataclass(frozen=True)
class AnswerShare:
    """The frequency of one answer in each split: ``shares`` (0–1) by the split's name."""

    column: str
    answer: str
    shares: dict[str, float]


def answer_shares(truth: Truth) -> list[AnswerShare]:
    """The frequencies of the answers in each split, for columns of few classes."""
    found = []
    for name in truth.target_columns[:_MAX_COLUMNS] if truth.parts else ():
        column = _column(truth, name)
        labels = column.labels or []
        if not 2 <= len(labels) <= _MAX_CLASSES:
            continue
        counts = {
            part: np.bincount(column.codes[rows].astype(np.int64), minlength=len(labels)) / len(rows)
            for part, rows in truth.parts.items()
        }
        found += [
            AnswerShare(name, label, {part: float(share[place]) for part, share in counts.items()})
            for place, label in enumerate(labels)
        ]
    return found


def _column(truth: Truth, name: str) -> _Column:
    cells = Cells(truth.table, name, truth.id_column, truth.scored)
    if isinstance(truth.target, np.ndarray):
        values = read_numbers(cells)
        if not cells.problems:
            distinct = np.unique(values)
            return _Column(name, values, ["0", "1"] if np.array_equal(distinct, [0, 1]) else None)
    coded = cells.coded()
    labels, places = np.unique(np.array(coded.values, object), return_inverse=True)
    return _Column(name, places.astype(np.int64)[coded.codes], labels.tolist())


# --- answers ----------------------------------------------------------------------------------------------------

_MISSING_TEXTS = ("na", "n/a", "nan", "null", "none", "nil", "?", "-", "<na>", "#n/a", "missing")
_MISSING_NUMBERS = (-1.0, -9.0, -99.0, 99.0, -999.0, 999.0, -9999.0, 9999.0, 99999.0, -99999.0, 999999.0)


def _similar_labels(truth: Truth, column: _Column) -> Iterator[Finding]:
    """A warning about labels that look the same to a reader, such as ``01`` beside ``1``; of lists, each label."""
    labels = column.labels
    if labels is None or len(labels) > MAX_COMPARED:
        return
    is_list = "separator" in truth.params
    if is_list:
        labels = sorted({label.strip() for cell in labels for label in cell.split(truth.params["separator"] or None)})
    pairs = look_alikes(labels) if is_list or 2 * len(labels) <= len(column.codes) else []
    cured = LabelForm(typical_label(labels)).faults(labels) if pairs or 2 * len(labels) <= len(column.codes) else {}
    known, paired = set(labels), {label for pair in pairs for label in pair}
    pairs += [
        (labels[place], fault.cured)
        for place, fault in cured.items()
        if fault.cured in known and labels[place] not in paired
    ]
    if pairs:
        message = Message.counted(
            len(pairs),
            "{count} pair of answers that look alike: {examples}.",
            "{count} pairs of answers that look alike: {examples}.",
            examples=in_pairs(pairs),
        )
        why = Message("They count as different answers: mixing them up counts as an error.")
        yield warning("similar_answers", message, why, column.name)


def _odd_labels(truth: Truth, column: _Column) -> Iterator[Finding]:
    labels = column.labels
    if labels is None or len(labels) > MAX_COMPARED:
        return
    if empty := [label for label in labels if label.casefold() in _MISSING_TEXTS]:
        rows = np.flatnonzero(column.codes == labels.index(empty[0]))
        message = Message.counted(
            len(rows),
            "{answer} is an answer of {count} row of {column}.",
            "{answer} is an answer of {count} rows of {column}.",
            answer=shown(empty[0]),
            column=shown(column.name),
        )
        why = Message("It is compared as ordinary text. If the answer is not known, mark the row Ignored.")
        yield warning("answer_like_nothing", message, why, column.name, place_of(truth, int(truth.scored[rows[0]])))
    if damaged := [(label, whole) for label in labels if (whole := mend_letters(label)) != label]:
        message = Message.counted(
            len(damaged),
            "{count} answer looks damaged: {examples}.",
            "{count} answers look damaged: {examples}.",
            examples=in_pairs(damaged),
        )
        why = Message("Students have the right letters, and theirs would count as errors.")
        row = int(truth.scored[np.flatnonzero(column.codes == labels.index(damaged[0][0]))[0]])
        yield warning("damaged_answer", message, why, column.name, place_of(truth, row))
    yield from _rare_labels(truth, column, labels)


def _rare_labels(truth: Truth, column: _Column, labels: list[str]) -> Iterator[Finding]:
    """A warning about answers that occur once among frequent ones: perhaps typing errors."""
    counts = np.bincount(column.codes.astype(np.int64), minlength=len(labels))
    rare = np.flatnonzero(counts == 1)
    if not len(rare) or len(column.codes) < 10 * len(labels) or len(rare) > len(labels) / 2:
        return
    rows = [int(truth.scored[np.flatnonzero(column.codes == code)[0]]) for code in rare[:EXAMPLES]]
    examples = [
        Message("{answer} (line {line})", answer=shown(labels[code]), line=int(truth.table.lines[row]))
        for code, row in zip(rare, rows, strict=False)
    ]
    message = Message.counted(
        len(rare),
        "{count} answer in one row only: {examples}.",
        "{count} answers in one row only: {examples}.",
        examples=listed(examples, len(rare)),
    )
    why = Message("Possible typo. A class with a single row cannot be learned.")
    yield warning("rare_answer", message, why, column.name, place_of(truth, rows[0]))


def _odd_numbers(truth: Truth, column: _Column) -> Iterator[Finding]:
    """A warning about values far from all others, or typical codes for missing values (-999)."""
    if column.labels is not None or len(column.codes) < _MIN_ROWS:
        return
    low, middle, high = np.quantile(column.codes, (0.25, 0.5, 0.75))
    distance = np.abs(column.codes - middle)
    spread = max(high - low, float(np.median(distance)))
    is_odd = (distance > _MIN_SPREADS * spread) | (np.isin(column.codes, _MISSING_NUMBERS) & (distance > 3 * spread))
    places = np.flatnonzero(is_odd) if spread > 0 else np.zeros(0, int)
    if not len(places) or len(places) > len(column.codes) / 10:
        return
    rows = truth.scored[places]
    examples = [
        Message("line {line} is {value}", line=int(truth.table.lines[row]), value=f"{column.codes[at]:.15g}")
        for row, at in zip(rows[:EXAMPLES], places, strict=False)
    ]
    message = Message.counted(
        len(places),
        "{count} value of {column} is far from all others: {examples}.",
        "{count} values of {column} are far from all others: {examples}.",
        column=shown(column.name),
        examples=listed(examples, len(places)),
    )
    why = Message("Does it stand for no value? A few such rows may decide every score.")
    yield warning("odd_value", message, why, column.name, place_of(truth, int(rows[0])))


def _points_in_numbers(truth: Truth, column: _Column) -> Iterator[Finding]:
    """A warning about points that may divide thousands."""
    if column.labels is not None or column.name not in truth.table.names:
        return
    cells = Cells(truth.table, column.name, truth.id_column, truth.scored)
    found = grouped_numbers(cells.values, column.codes)
    if found is not None and (found.all_have_points or found.has_small):
        cells.warn("thousands", READ_AS_DECIMAL, found.places)
        why = Message("Scores would be those of numbers a thousand times too small.")
        yield Finding(**cells.warnings[0].as_dict() | {"message": cells.warnings[0].message}, blocking=False, why=why)


# --- parts ------------------------------------------------------------------------------------------------------


_MISSING_FROM = {
    "public": Plural(
        "{count} answer of {column} missing from the public part: {answers}.",
        "{count} answers of {column} missing from the public part: {answers}.",
    ),
    "private": Plural(
        "{count} answer of {column} missing from the private part: {answers}.",
        "{count} answers of {column} missing from the private part: {answers}.",
    ),
}


def _missing_classes(truth: Truth, column: _Column) -> Iterator[Finding]:
    labels = column.labels
    # If cells hold several labels, each cell is a combination, and hardly any split has all combinations.
    holds_several = isinstance(truth.metric.truth, LabelSet | Words)
    if labels is None or holds_several or len(labels) > max(2, len(column.codes) // 2):
        return
    for name, rows in truth.parts.items():
        gone = sorted(set(range(len(labels))) - set(column.codes[rows].astype(int).tolist()))
        if gone:
            names = listed([shown(labels[code]) for code in gone[:EXAMPLES]], len(gone))
            message = Message.counted(len(gone), *_MISSING_FROM[name], column=shown(column.name), answers=names)
            why = Message("The two boards then measure different things.")
            yield warning("missing_class", message, why, column.name)


def _distribution_warning(truth: Truth, column: _Column) -> Iterator[Finding]:
    """A warning if the distributions of the answers in the two splits differ by more than chance."""
    if not truth.parts:
        return
    public, private = (np.sort(column.codes[rows]) for rows in truth.parts.values())
    size = len(public) * len(private) / (len(public) + len(private))
    if column.labels is None:
        values = np.unique(column.codes)
        steps = [np.searchsorted(part, values, side="right") / len(part) for part in (public, private)]
        gap = float(np.abs(steps[0] - steps[1]).max())
        is_sure = gap > 1.95 / np.sqrt(size)
    else:
        if len(column.labels) > len(column.codes) / 5:
            return
        counts = [np.bincount(part.astype(np.int64), minlength=len(column.labels)) for part in (public, private)]
        gap = float(np.abs(counts[0] / len(public) - counts[1] / len(private)).sum() / 2)
        is_sure = _is_no_chance(counts[0], counts[1])
    if gap < _MIN_GAP or not is_sure:
        return
    message = Message(
        "The answers of {column} differ between the parts: {share} of the rows would have to change.",
        column=shown(column.name),
        share=f"{gap:.0%}",
    )
    why = Message(
        "A model that is better on one board may be worse on the other. Split at random, or say why they differ."
    )
    yield warning("distribution_gap", message, why, column.name)


def _is_no_chance(first: np.ndarray, second: np.ndarray) -> bool:
    """The chi-squared test of two rows of counts, by the cube-root approximation of Wilson and Hilferty."""
    table = np.array([first, second], np.float64)
    table = table[:, table.sum(axis=0) > 0]
    freedom = table.shape[1] - 1
    if freedom < 1:
        return False
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    ratio = float(((table - expected) ** 2 / expected).sum()) / freedom
    noise = 2 / (9 * freedom)
    return bool((np.cbrt(ratio) - (1 - noise)) / np.sqrt(noise) > _MIN_STANDARD_ERRORS)


# --- order ------------------------------------------------------------------------------------------------------


def _sorted_by_answer(truth: Truth, column: _Column) -> Iterator[Finding]:
    codes = column.codes
    distinct = len(np.unique(codes))
    if len(codes) < _MIN_ROWS or distinct < 2:
        return
    steps = np.diff(codes)
    runs = int((steps != 0).sum()) + 1
    is_grouped = column.labels is not None and runs == distinct < len(codes)
    if not ((steps >= 0).all() or (steps <= 0).all() or is_grouped):
        return
    message = Message("The rows are sorted by the answer {column}.", column=shown(column.name))
    why = Message("If the test data come in the same order, the row number gives the answer away. Shuffle both.")
    yield warning("sorted_by_answer", message, why, column.name)


def _answers_follow_ids(truth: Truth, column: _Column) -> Iterator[Finding]:
    """A warning if the order of the ids explains much of the answer's variance (squared rank correlation, or the
    between-class share for labels)."""
    import pyarrow as pa

    if len(column.codes) < 3 * _MIN_ROWS:
        return
    ids = pick(truth.ids.array, truth.scored)
    rank = np.empty(len(ids))
    rank[sorted_places(ids.cast(pa.int64()) if truth.ids.are_integers else ids)] = np.arange(len(ids))
    is_label = column.labels is not None
    share = _variance_between(rank, column.codes) if is_label else _rank_correlation(rank, column.codes) ** 2
    if share < _MAX_EXPLAINED:
        return
    message = Message(
        "The ids tell much about {column}: their order explains {share} of it.",
        column=shown(column.name),
        share=f"{share:.0%}",
    )
    why = Message("A student could predict from the id alone. Give the rows new, random ids.")
    yield warning("id_tells_answer", message, why, column.name)


def _variance_between(rank: np.ndarray, codes: np.ndarray) -> float:
    _, places = np.unique(codes, return_inverse=True)
    counts = np.bincount(places)
    if len(counts) < 2 or len(counts) > len(codes) / 5:
        return 0.0
    means = np.bincount(places, rank) / counts
    return float((counts * (means - rank.mean()) ** 2).sum() / ((rank - rank.mean()) ** 2).sum())


def _rank_correlation(rank: np.ndarray, values: np.ndarray) -> float:
    ranks = mid_ranks(values)
    return 0.0 if (ranks == ranks[0]).all() else float(np.corrcoef(rank, ranks)[0, 1])
