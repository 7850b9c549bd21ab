"""Scores of which only the order counts: ranks, areas under curves, and counts of ordered pairs.

All counts are whole numbers, found in O(n log n), so the result does not depend on the order of the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from ..core.arrays import Coded, Ranked
from ..core.figures import Curve, Figure
from ..core.lazy import cached_property
from ..core.messages import Message
from .sums import exact_sum

T = TypeVar("T")


def closed_up(places: np.ndarray) -> np.ndarray:
    """The numbers renumbered from 0 without gaps, in the same order; int32."""
    seen = np.zeros(int(places.max(initial=0)) + 1, np.int32)
    seen[places] = 1
    number = np.cumsum(seen, dtype=np.int32)
    number -= 1
    return number[places]


def dense_ranks(values: np.ndarray) -> np.ndarray:
    """The index of each value among the distinct values, from 0 for the lowest; int32, shape (n,)."""
    order = np.argsort(values)
    ordered = values[order]
    steps = np.zeros(len(order), np.int32)
    np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
    ranks = np.empty(len(order), np.int32)
    ranks[order] = steps
    return ranks


class Ranks:
    """Scores reduced to their order, so that subsets of rows need no new sorting: ``places`` are indices among the
    distinct scores, from 0 for the lowest; shape (n,)."""

    def __init__(self, places: np.ndarray) -> None:
        self.places = places
        self._made: tuple[Any, Any] | None = None

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: np.ndarray) -> "Ranks":
        """The given rows, ranked among themselves."""
        return Ranks(closed_up(self.places[rows]))

    def once(self, function: Callable[[Any, np.ndarray], T], truth: Any) -> T:
        """``function(truth, places)``, cached for the last truth."""
        if self._made is None or self._made[0] is not truth:
            self._made = (truth, function(truth, self.places))
        found: T = self._made[1]
        return found


def ranks_of(scores: np.ndarray) -> Ranks:
    """The ranks of scores; sorts once."""
    return Ranks(dense_ranks(scores))


@dataclass(frozen=True)
class Classes:
    """The number of positive (``up``) and negative (``down``) rows at each place; ``keys`` encode the place and class
    of each row: twice the place, plus 1 for a positive row."""

    keys: np.ndarray
    up: np.ndarray
    down: np.ndarray

    def of_rows(self, of_down: np.ndarray, of_up: np.ndarray) -> np.ndarray:
        """For each row the value at its place, from ``of_down`` if it is negative and from ``of_up`` if it is
        positive."""
        table = np.empty(2 * len(of_up))
        table[::2], table[1::2] = of_down, of_up
        return table[self.keys]

    def below(self) -> np.ndarray:
        """For each place the number of negative rows below it, ties counting half."""
        return np.cumsum(self.down) - self.down / 2

    def above(self) -> np.ndarray:
        """For each place the number of positive rows above it, ties counting half."""
        return self.up.sum() - np.cumsum(self.up) + self.up / 2

    @cached_property
    def area(self) -> float:
        """The share of pairs of a positive and a negative row in the right order, ties counting half; 0.5 without
        pairs."""
        below = np.cumsum(self.down, dtype=np.int64)
        below -= self.down
        ordered, tied = int(np.vdot(self.up, below)), int(np.vdot(self.up.astype(np.int64), self.down))
        pairs = int(self.up.sum()) * int(self.down.sum())
        return float(Fraction(2 * ordered + tied, 2 * pairs)) if pairs else 0.5


def classes_by_place(positive: np.ndarray, places: np.ndarray) -> Classes:
    """Count positive and negative rows at each place."""
    keys = 2 * places + positive
    counts = np.bincount(keys, minlength=2 * (int(keys.max(initial=0)) // 2 + 1)).reshape(-1, 2).T
    down, up = np.ascontiguousarray(counts)
    return Classes(keys, up, down)


def _classes_of(truth: np.ndarray, scores: np.ndarray | Ranks) -> Classes:
    """The classes by place for a ``truth`` of 0.0 and 1.0."""
    ranks = scores if isinstance(scores, Ranks) else ranks_of(scores)
    return ranks.once(lambda truth, places: classes_by_place(truth == 1, places), truth)


def roc_area(truth: np.ndarray, prediction: np.ndarray | Ranks) -> float:
    """The area under the ROC curve; ``truth`` holds 0.0 and 1.0, shapes (n,)."""
    return _classes_of(truth, prediction).area


def wins(truth: np.ndarray, prediction: np.ndarray | Ranks) -> np.ndarray:
    """For each 1 the number of 0s below it (ties count half) and the number of all 0s; 0 and 0 for each 0."""
    classes = _classes_of(truth, prediction)
    below = classes.of_rows(np.zeros(len(classes.up)), classes.below())
    return np.column_stack([below, np.where(truth == 1, np.count_nonzero(truth != 1), 0)])


def roc_influence(truth: np.ndarray, prediction: np.ndarray | Ranks) -> np.ndarray:
    """The influence of each row on the area under the ROC curve, as DeLong, DeLong and Clarke-Pearson 1988: the root of
    the sum of squares is their standard error."""
    classes = _classes_of(truth, prediction)
    ups, downs = int(classes.up.sum()), int(classes.down.sum())
    # Computed once per place and class, then looked up for each row.
    of_up = (classes.below() / max(downs, 1) - classes.area) / _without_one(ups)
    of_down = (classes.above() / max(ups, 1) - classes.area) / _without_one(downs)
    return classes.of_rows(of_down, of_up)


def _without_one(count: int) -> float:
    return float(np.sqrt(max(count, 1) * max(count - 1, 1)))


def roc_effective_size(truth: np.ndarray, prediction: np.ndarray | Ranks) -> float | None:
    """The number of rows with balanced classes that would be as certain; small if one class is rare."""
    classes = _classes_of(truth, prediction)
    ups, downs = int(classes.up.sum()), int(classes.down.sum())
    return 4 * ups * downs / (ups + downs)


def roc_curve(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    """The ROC curve: one point for each distinct score, from the highest down."""
    positive = truth == 1
    _, places = np.unique(-prediction, return_inverse=True)
    up, down = np.cumsum(np.bincount(places, positive)), np.cumsum(np.bincount(places, ~positive))
    points = [(0.0, 0.0), *zip((down / max(down[-1], 1)).tolist(), (up / max(up[-1], 1)).tolist(), strict=True)]
    note = "Each point takes all rows from one score on as 1. The line from corner to corner is what guessing gives."
    return [Curve("ROC curve", "share of the 0s taken", "share of the 1s taken", points, diagonal=True, note=note)]


def one_class(truth: np.ndarray) -> str:
    if (truth == truth[0]).all():
        return Message("all its answers are {answer}; both 0 and 1 are needed.", answer=f"{truth[0]:g}")
    return ""


def only_labels(prediction: np.ndarray) -> str:
    """A hint about scores that are all 0 or 1, or ``""``."""
    if not all(((part == 0) | (part == 1)).all() for part in (prediction[:100], prediction)):
        return ""
    return Message(
        "Every score is 0 or 1, so nearly all pairs of rows are ties. Only the order of scores counts here: "
        "probabilities such as 0.73 say more than labels."
    )


class Thresholds(Classes):
    """The distinct scores from the highest down, with the number of 1s (``up``) and of 0s (``down``) at each."""

    @cached_property
    def taken(self) -> np.ndarray:
        """The number of rows from the highest score down to each; at least 1."""
        return np.maximum(np.cumsum(self.up + self.down), 1)

    @cached_property
    def precision(self) -> np.ndarray:
        """The share of 1s among all rows from the highest score down to each."""
        return np.cumsum(self.up) / self.taken

    def gain_and_loss(self) -> tuple[np.ndarray, np.ndarray]:
        """For each score, summed over the 1s at this score and below: the rise of their precision by one more 1 in the
        numerator, and the fall by one more row in the denominator."""
        per_row = self.up / self.taken
        return sum_of_rest(per_row), sum_of_rest(per_row * self.precision)


def sum_of_rest(values: np.ndarray) -> np.ndarray:
    """The sum of each value and all values after it, added from the last on."""
    return np.cumsum(values[::-1])[::-1]


def thresholds_of(truth: np.ndarray, scores: np.ndarray | Ranks, padding: int = 0) -> Thresholds:
    """The thresholds of scores, shapes (n,); sorts once. ``padding`` is the number of further rows with answer 1 and
    score 1, which are only counted; it needs scores, not ranks."""
    if isinstance(scores, Ranks):
        ranks = scores.places
    else:
        ranks = dense_ranks(scores if not padding else np.concatenate([scores, [1.0]]))
    places = ranks.max(initial=0) - ranks
    found = classes_by_place(truth == 1, places[: len(truth)])
    up, down = found.up, found.down
    if padding:
        more = max(0, int(places[-1]) + 1 - len(up))
        up, down = np.pad(up, (0, more)), np.pad(down, (0, more))
        up[places[-1]] += padding
    return Thresholds(found.keys, up, down)


def precision_at_ones(truth: np.ndarray, scores: np.ndarray | Ranks) -> np.ndarray:
    """For each 1 the precision at its score, 0 for each 0; shape (n,)."""
    found = thresholds_of(truth, scores)
    return found.of_rows(np.zeros(len(found.up)), found.precision)


def average_precision_of(truth: np.ndarray, scores: np.ndarray | Ranks, padding: int = 0) -> float:
    """The mean precision at the 1s; ``padding`` as in ``thresholds_of``."""
    found = thresholds_of(truth, scores, padding)
    ones = found.up.sum()
    return float(exact_sum(found.precision * found.up)) / float(ones) if ones else 0.0


def precision_influence(truth: np.ndarray, scores: np.ndarray | Ranks, padding: int = 0) -> np.ndarray:
    """The derivative of average precision by the weight of each row, shape (n,): the precision that a 1 earns itself,
    and the effect of every row on the precision at its score and below."""
    found = thresholds_of(truth, scores, padding)
    ones = max(1.0, float(found.up.sum()))
    value = float((found.precision * found.up).sum()) / ones
    gain, loss = found.gain_and_loss()
    return found.of_rows((0.0 - loss) / ones, (found.precision + gain - value - loss) / ones)


def recall_curve(truth: np.ndarray, scores: np.ndarray) -> list[Figure]:
    """Precision over recall as steps; the area below is the average precision."""
    found = thresholds_of(truth, scores)
    recall = np.cumsum(found.up) / max(1.0, float(found.up.sum()))
    points: list[tuple[float, float]] = []
    before = 0.0
    for at, precision in zip(recall.tolist(), found.precision.tolist(), strict=True):
        if at > before:
            points += [(before, precision), (at, precision)]
        before = at
    note = "Each step takes the rows of one more score as 1; its height is the share of them that are 1."
    return [Curve("Precision and recall", "share of the 1s taken (recall)", "precision", points, note=note)]


class Sorted:
    """Answers with ranks instead of confidences, so that subsets of rows need no new sorting."""

    def __init__(self, codes: np.ndarray, ranks: Ranks) -> None:
        self.codes, self.ranks = codes, ranks

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: np.ndarray) -> "Sorted":
        return Sorted(self.codes[rows], self.ranks.take(rows))


def in_order(prediction: Ranked) -> Sorted:
    """The answers with the ranks of their confidences; sorts once."""
    return Sorted(prediction.codes, ranks_of(prediction.confidence))


@dataclass(frozen=True)
class Ranking:
    """``sought`` is a mask of the rows that have an answer in the truth, ``given`` are the rows with an answer in the
    submission. ``ranks`` are the thresholds of their confidences, a right answer counting as a 1."""

    sought: np.ndarray
    given: np.ndarray
    ranks: Thresholds

    def of_rows(self, of_wrong: np.ndarray, of_right: np.ndarray) -> np.ndarray:
        """For each row the value at its rank, from ``of_wrong`` or ``of_right``; 0 without an answer."""
        found = np.zeros(len(self.sought))
        found[self.given] = self.ranks.of_rows(of_wrong, of_right)
        return found


def ranking_of(truth: Coded, prediction: Ranked | Sorted) -> Ranking:
    """The answers ranked by confidence; cached, because ``score`` and ``influence`` both need it."""
    answers = prediction if isinstance(prediction, Sorted) else in_order(prediction)
    return answers.ranks.once(lambda truth, places: _ranking(truth, answers.codes, places), truth)


def _ranking(truth: Coded, codes: np.ndarray, places: np.ndarray) -> Ranking:
    sought = has_answer(truth)
    right = sought & (codes == truth.codes)
    given = np.flatnonzero(codes >= 0)
    return Ranking(sought, given, thresholds_of(right[given], Ranks(places[given])))


def has_answer(truth: Coded) -> np.ndarray:
    """A mask of the rows whose true answer is not empty, shape (n,), bool."""
    has: np.ndarray = np.array([bool(text) for text in truth.values] or [False])
    return has[truth.codes]


def smaller_before(values: np.ndarray) -> np.ndarray:
    """For each place the number of smaller values before it. ``values`` are a permutation of 0 to n-1.

    The values are split bit by bit, from the highest on, each half keeping its order. Before a split a block holds the
    values of one range, so all halves have one size and a block is a row of a matrix.

    >>> smaller_before(np.array([2, 0, 3, 1]))
    array([0, 0, 2, 1])
    """
    count = len(values)
    bits = max(count - 1, 1).bit_length()
    # Padded to a power of two with larger values at the end, which change no count.
    cells = np.arange(1 << bits)
    cells[:count] = values
    cells <<= 32  # the lower half of a cell counts
    for bit in range(bits - 1, -1, -1):
        blocks = cells.reshape(-1, 2 << bit)
        is_low = (blocks >> (32 + bit) & 1) == 0
        is_high = ~is_low
        passed = np.cumsum(is_low, axis=1, dtype=np.int32)
        halves = (blocks[is_low], blocks[is_high] + passed[is_high])
        cells = np.stack([half.reshape(-1, 1 << bit) for half in halves], axis=1)
    return (cells.ravel() & (2**32 - 1))[values]


def crossings(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """For each row the number of rows that are smaller in both, smaller in x and equal in y, equal in x and smaller in
    y, and equal in both (itself included); shape (4, n). ``x`` and ``y`` are whole numbers from 0."""
    width = int(y.max(initial=0)) + 1
    keys = x * width + (width - 1 - y)
    # By rising x, then falling y: a row before this one with a smaller y then has a smaller x, too.
    order = np.argsort(keys, kind="stable")
    # By rising y, then from the last place to the first, so that x falls.
    turned = len(x) - 1 - np.argsort(y[order][::-1], kind="stable")
    numbers = np.empty(len(x), np.int64)
    numbers[turned] = np.arange(len(x))
    by_y = order[turned]
    found = np.empty((4, len(x)), np.int64)
    # Among equal y the later place has the smaller number, so that none of them counts as smaller.
    found[0, order] = smaller_before(numbers)
    found[1, by_y] = _ends(y[by_y]) - _ends(keys[by_y])
    ends = _ends(keys[order])
    found[2, order] = _ends(x[order]) - ends
    found[3, order] = np.bincount(ends)[ends]
    return found


def _ends(values: np.ndarray) -> np.ndarray:
    """For each place of sorted values the end of its run of equal values."""
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]) + 1, len(values))
    return np.repeat(ends, np.diff(ends, prepend=0))
