"""What the graders of past competitions compute, each written from its public definition, slowly and plainly, and the
built-in metric with the parameters that reproduces it."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats
from sklearn import metrics as sk

Row = list[str]
Files = tuple[list[str], list[Row], list[str], list[Row]]
"""Header and rows of the truth and of a submission, without ids."""

ROWS = 60
WORDS = ("red", "green", "blue", "grey", "pink", "cyan", "gold")


@dataclass(frozen=True)
class Grader:
    """``make`` invents two files; ``grade`` is what the competition computed of their rows; ``key`` with ``params`` is
    ours; ``competitions`` are those that were graded so."""

    what: str
    key: str
    make: Callable[[random.Random], Files]
    grade: Callable[[list[Row], list[Row]], float]
    competitions: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)


# --- files ------------------------------------------------------------------------------------------------------


def columns(
    truth: Callable[[random.Random], Row],
    submission: Callable[[random.Random], Row],
    header: Sequence[str] = ("y",),
    sent: Sequence[str] | None = None,
    rows: int = ROWS,
) -> Callable[[random.Random], Files]:
    def make(dice: random.Random) -> Files:
        return (
            list(header),
            [truth(dice) for _ in range(rows)],
            list(sent or header),
            [submission(dice) for _ in range(rows)],
        )

    return make


def number(low: float, high: float, places: int = 3) -> Callable[[random.Random], str]:
    return lambda dice: repr(round(dice.uniform(low, high), places))


def each(cell: Callable[[random.Random], str], width: int = 1) -> Callable[[random.Random], Row]:
    return lambda dice: [cell(dice) for _ in range(width)]


def bit(dice: random.Random) -> str:
    return dice.choice("01")


def rating(dice: random.Random) -> str:
    return str(dice.randint(0, 4))


def label(dice: random.Random) -> str:
    return dice.choice(WORDS[:4])


def some_labels(dice: random.Random) -> str:
    return " ".join(dice.sample(WORDS, dice.randint(1, 3)))


def ordered(length: int, choices: int = 12) -> Callable[[random.Random], str]:
    return lambda dice: " ".join(f"h{number}" for number in dice.sample(range(choices), length))


def probability(dice: random.Random) -> str:
    return repr(round(dice.random(), 2))


def shares(dice: random.Random) -> Row:
    """Probabilities of four classes that add up to 1."""
    drawn = [dice.random() + 0.01 for _ in range(4)]
    return [repr(value / sum(drawn)) for value in drawn]


def runs(dice: random.Random) -> str:
    """A run-length mask of a picture of 200 pixels, or nothing."""
    if dice.random() < 0.2:
        return ""
    starts = sorted(dice.sample(range(1, 190, 10), dice.randint(1, 4)))
    return " ".join(f"{start} {dice.randint(1, 9)}" for start in starts)


# --- what was computed ------------------------------------------------------------------------------------------


def floats(rows: list[Row]) -> np.ndarray:
    return np.array(rows, np.float64)


def of_columns(grade: Callable[[np.ndarray, np.ndarray], float]) -> Callable[[list[Row], list[Row]], float]:
    """The mean over columns of a grade of numbers; of one column the grade itself."""

    def graded(truth: list[Row], sent: list[Row]) -> float:
        return float(np.mean([grade(t, s) for t, s in zip(floats(truth).T, floats(sent).T, strict=True)]))

    return graded


def of_texts(grade: Callable[[list[str], list[str]], float]) -> Callable[[list[Row], list[Row]], float]:
    return lambda truth, sent: grade([row[0] for row in truth], [row[0] for row in sent])


def mean_of_rows(grade: Callable[[str, str], float]) -> Callable[[list[Row], list[Row]], float]:
    return lambda truth, sent: float(np.mean([grade(t[0], s[0]) for t, s in zip(truth, sent, strict=True)]))


def gini(actual: np.ndarray, predicted: np.ndarray) -> float:
    """Without ties this is the usual code: sort by the prediction, compare the cumulated gains with the diagonal."""

    def of(order: np.ndarray) -> float:
        gains = np.cumsum(actual[order]) / actual.sum()
        return float(gains.sum() - (len(actual) + 1) / 2)

    return of(np.argsort(-predicted, kind="stable")) / of(np.argsort(-actual, kind="stable"))


def multiclass_log_loss(truth: list[Row], sent: list[Row]) -> float:
    """Columns are the sorted labels; rows are scaled to sum to 1, then clipped."""
    names = sorted(set(WORDS[:4]))
    total = 0.0
    for (true,), row in zip(truth, sent, strict=True):
        values = [float(cell) for cell in row]
        total -= math.log(min(max(values[names.index(true)] / sum(values), 1e-15), 1 - 1e-15))
    return total / len(truth)


def log_loss_of(true: float, said: float) -> float:
    """Clipped is the probability of the true answer: ``1 - (1 - 1e-15)`` is no longer 1e-15."""
    return -math.log(max(said if true else 1 - said, 1e-15))


def mean_log_loss(truth: list[Row], sent: list[Row]) -> float:
    pairs = zip(floats(truth).ravel().tolist(), floats(sent).ravel().tolist(), strict=True)
    return float(np.mean([log_loss_of(true, said) for true, said in pairs]))


def weighted_log_loss(truth: list[Row], sent: list[Row]) -> float:
    """The last truth column is the weight of the row."""
    weights = [float(row[-1]) for row in truth]
    losses = [log_loss_of(float(t[0]), float(s[0])) for t, s in zip(truth, sent, strict=True)]
    return sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)


def quadratic_kappa(truth: list[str], sent: list[str]) -> float:
    return float(sk.cohen_kappa_score(truth, sent, weights="quadratic"))


def average_precision_at(k: int) -> Callable[[str, str], float]:
    def graded(true: str, said: str) -> float:
        wanted, hits, total = set(true.split()), 0, 0.0
        given = said.split()[:k]
        for place, item in enumerate(given):
            if item in wanted and item not in given[:place]:
                hits += 1
                total += hits / (place + 1)
        return total / min(len(wanted), k)

    return graded


def ndcg_at(k: int) -> Callable[[str, str], float]:
    """One relevant label: the gain of its place."""

    def graded(true: str, said: str) -> float:
        given = said.split()[:k]
        return 1 / math.log2(given.index(true) + 2) if true in given else 0.0

    return graded


def f_beta_of_sets(beta: float) -> Callable[[str, str], float]:
    def graded(true: str, said: str) -> float:
        wanted, given = set(true.split()), set(said.split())
        common = len(wanted & given)
        if not common:
            return 0.0
        precision, recall = common / len(given), common / len(wanted)
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    return graded


def indicator(rows: list[Row], names: Sequence[str] = WORDS) -> np.ndarray:
    return np.array([[name in row[0].split() for name in names] for row in rows], int)


def word_jaccard(true: str, said: str) -> float:
    ours, theirs = set(true.lower().split()), set(said.lower().split())
    common = ours & theirs
    return len(common) / (len(ours) + len(theirs) - len(common))


def edit_distance(one: str, other: str) -> int:
    before = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        now = [place]
        for column, also in enumerate(other, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (letter != also)))
        before = now
    return before[-1]


def pixels(cell: str) -> set[int]:
    numbers = list(map(int, cell.split()))
    return {p for start, length in zip(numbers[::2], numbers[1::2], strict=True) for p in range(start, start + length)}


def dice_of(true: str, said: str) -> float:
    ours, theirs = pixels(true), pixels(said)
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 1.0


def iou_precision(true: str, said: str) -> float:
    """One mask per picture: the mean over ten thresholds of whether the overlap is larger."""
    ours, theirs = pixels(true), pixels(said)
    if not ours and not theirs:
        return 1.0
    overlap = len(ours & theirs) / len(ours | theirs)
    return float(np.mean([overlap > threshold for threshold in np.arange(0.5, 1.0, 0.05).round(2)]))


def boxes_in(cell: str, width: int) -> list[list[float]]:
    numbers = list(map(float, cell.split()))
    return [numbers[place : place + width] for place in range(0, len(numbers), width)]


def overlap(one: list[float], other: list[float]) -> float:
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    common = max(across, 0.0) * max(down, 0.0)
    return common / (one[2] * one[3] + other[2] * other[3] - common)


def box_precision(levels: Sequence[float]) -> Callable[[str, str], float]:
    """The most confident box chooses first; each true box is found once."""

    def graded(true: str, said: str) -> float:
        wanted, given = boxes_in(true, 4), sorted(boxes_in(said, 5), reverse=True)
        if not wanted or not given:
            return float(not wanted and not given)
        found = []
        for level in levels:
            free = list(wanted)
            for _, *box in given:
                best = max(free, key=lambda other: overlap(box, other), default=None)
                if best is not None and overlap(box, best) > level:
                    free.remove(best)
            hits = len(wanted) - len(free)
            found.append(hits / (len(wanted) + len(given) - hits))
        return float(np.mean(found))

    return graded


def haversine(truth: list[Row], sent: list[Row]) -> float:
    total = 0.0
    for true, said in zip(floats(truth), floats(sent), strict=True):
        (a, b), (c, d) = np.radians(true), np.radians(said)
        h = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
        total += 2 * 6371 * math.atan2(math.sqrt(h), math.sqrt(1 - h))
    return total / len(truth)


def angular_error(truth: list[Row], sent: list[Row]) -> float:
    total = 0.0
    for (azimuth, zenith), (also, height) in zip(floats(truth).tolist(), floats(sent).tolist(), strict=True):
        one, other = (
            (math.cos(a) * math.sin(z), math.sin(a) * math.sin(z), math.cos(z))
            for a, z in ((azimuth, zenith), (also, height))
        )
        product = sum(x * y for x, y in zip(one, other, strict=True))
        total += abs(math.acos(min(1.0, max(-1.0, product))))
    return total / len(truth)


def laplace(truth: list[Row], sent: list[Row]) -> float:
    total = 0.0
    for (true,), (said, sigma) in zip(floats(truth).tolist(), floats(sent).tolist(), strict=True):
        clipped, delta = max(sigma, 70), min(abs(true - said), 1000)
        total -= math.sqrt(2) * delta / clipped + math.log(math.sqrt(2) * clipped)
    return total / len(truth)


def log_mae_by_group(truth: list[Row], sent: list[Row]) -> float:
    groups: dict[str, list[float]] = {}
    for (true, group), (said,) in zip(truth, sent, strict=True):
        groups.setdefault(group, []).append(abs(float(true) - float(said)))
    return float(np.mean([math.log(max(float(np.mean(errors)), 1e-9)) for errors in groups.values()]))


def weighted_mae(truth: list[Row], sent: list[Row]) -> float:
    values, weights = floats(truth).T
    return float((weights * abs(values - floats(sent)[:, 0])).sum() / weights.sum())


def smape(true: np.ndarray, said: np.ndarray) -> float:
    under = (abs(true) + abs(said)) / 2
    return float(100 * np.mean(np.divide(abs(true - said), under, out=np.zeros(len(true)), where=under > 0)))


def rmspe(true: np.ndarray, said: np.ndarray) -> float:
    return math.sqrt(np.mean(((true - said) / true) ** 2))


def kl_divergence(truth: list[Row], sent: list[Row]) -> float:
    total = 0.0
    for true, said in zip(floats(truth).tolist(), floats(sent).tolist(), strict=True):
        for p, q in zip(true, said, strict=True):
            p, q = (min(max(value, 1e-15), 1 - 1e-15) for value in (p, q))
            total += p * math.log(p / q)
    return total / len(truth)


def lwlrap(truth: list[Row], sent: list[Row]) -> float:
    """Every true label counts the same: the precision at its rank."""
    found = []
    for true, said in zip(floats(truth), floats(sent), strict=True):
        for place in np.flatnonzero(true):
            above = said >= said[place]
            found.append(float(true[above].sum() / above.sum()))
    return float(np.mean(found))


def probabilistic_f1(truth: list[Row], sent: list[Row]) -> float:
    true, said = floats(truth)[:, 0], floats(sent)[:, 0]
    hits = float((true * said).sum())
    precision, recall = hits / float(said.sum()), hits / float(true.sum())
    return 2 * precision * recall / (precision + recall)


def weighted_auc(true: np.ndarray, said: np.ndarray) -> float:
    """The area above 0.4 of the true-positive rate counts once, below twice, over the weighted size of the square."""
    wrong, right, _ = sk.roc_curve(true, said, drop_intermediate=False)
    total = 0.0
    for low, high, weight in ((0.0, 0.4, 2), (0.4, 1.0, 1)):
        cut = np.clip(right, low, high) - low
        total += weight * float(np.trapezoid(cut, wrong))
    return total / (0.4 * 2 + 0.6 * 1)


def padded_average_precision(truth: list[Row], sent: list[Row]) -> float:
    """Average precision of each column after five rows of ones, then the mean."""
    true, said = (np.vstack([floats(rows), np.ones((5, len(rows[0])))]) for rows in (truth, sent))
    return float(sk.average_precision_score(true, said, average="macro"))


def bias_auc(truth: list[Row], sent: list[Row], power: float = -5.0) -> float:
    """A quarter each: all rows, and power means over subgroups of three areas of parts of the rows."""
    true, *groups = (column == 1 for column in floats(truth).T)
    said = floats(sent)[:, 0]
    parts = [
        groups,
        [(group & ~true) | (~group & true) for group in groups],
        [(group & true) | (~group & ~true) for group in groups],
    ]
    means = [float(sk.roc_auc_score(true, said))]
    for part in parts:
        areas = np.array([sk.roc_auc_score(true[rows], said[rows]) for rows in part])
        means.append(float(np.mean(areas**power)) ** (1 / power))
    return float(np.mean(means))


def global_average_precision(truth: list[Row], sent: list[Row]) -> float:
    given = [(float(s[0].split()[1]), s[0].split()[0] == t[0]) for t, s in zip(truth, sent, strict=True) if s[0]]
    hits, total = 0, 0.0
    for place, (_, right) in enumerate(sorted(given, reverse=True), 1):
        hits += right
        total += right * hits / place
    return total / sum(bool(row[0]) for row in truth)


def coleridge(truth: list[Row], sent: list[Row]) -> float:
    tp = fp = fn = 0
    for (true,), (said,) in zip(truth, sent, strict=True):
        guesses = sorted(filter(None, said.split("|")))
        taken = set()
        for phrase in filter(None, true.split("|")):
            best = max(((word_jaccard(phrase, guess), -place) for place, guess in enumerate(guesses)), default=(0.0, 0))
            if best[0] >= 0.5:
                taken.add(-best[1])
                tp += 1
            else:
                fn += 1
        fp += len(guesses) - len(taken)
    return 1.25 * tp / (1.25 * tp + 0.25 * fn + fp)


def amex(truth: list[Row], sent: list[Row]) -> float:
    """Half a normalised Gini coefficient, half the share of the defaults found in the first 4 %; zeros weigh 20."""
    answers = [int(row[0]) for row in truth]
    scores = [float(row[0]) for row in sent]

    def weight(answer: int) -> int:
        return 1 if answer else 20

    def gini_of(order: Sequence[int]) -> float:
        total, ones = sum(map(weight, answers)), sum(answers)
        found, gone, area = 0, 0, 0.0
        for row in order:
            found += answers[row]
            gone += weight(answers[row])
            area += (found / ones - gone / total) * weight(answers[row])
        return area

    by_score = sorted(range(len(answers)), key=lambda row: -scores[row])
    best = sorted(range(len(answers)), key=lambda row: -answers[row])
    limit, gone, captured = int(0.04 * sum(map(weight, answers))), 0, 0
    for row in by_score:
        gone += weight(answers[row])
        captured += answers[row] if gone <= limit else 0
    return 0.5 * (gini_of(by_score) / gini_of(best) + captured / sum(answers))


def _cards(dice: random.Random) -> Files:
    """A quarter of defaults and scores without ties."""
    scores = dice.sample(range(1000), 80)
    answers = [1] * 20 + [0] * 60
    dice.shuffle(answers)
    sent = [[repr((2 * score + 601 * answer) / 2700)] for score, answer in zip(scores, answers, strict=True)]
    return ["y"], [[str(answer)] for answer in answers], ["y"], sent


def bengali(truth: list[Row], sent: list[Row]) -> float:
    columns = zip(zip(*truth, strict=True), zip(*sent, strict=True), strict=True)
    recalls = [sk.recall_score(true, said, average="macro", zero_division=0.0) for true, said in columns]
    return float(np.average(recalls, weights=[2, 1, 1]))


def trends(truth: list[Row], sent: list[Row]) -> float:
    true, said = floats(truth), floats(sent)
    errors = np.sum(np.abs(true - said), axis=0) / np.sum(true, axis=0)
    return float(np.sum(errors * [0.3, 0.175, 0.175, 0.175, 0.175]))


def notebooks(truth: list[Row], sent: list[Row]) -> float:
    """Inversions of all orders together, by those of reversed ones; bubble sort counts them."""
    inversions = most = 0
    for (true,), (said,) in zip(truth, sent, strict=True):
        wanted = true.split()
        ranks = [wanted.index(cell) for cell in said.split()]
        inversions += sum(ranks[i] > ranks[j] for i in range(len(ranks)) for j in range(i + 1, len(ranks)))
        most += len(wanted) * (len(wanted) - 1)
    return 1 - 4 * inversions / most


def _orders(dice: random.Random) -> Files:
    truth, sent = [], []
    for _ in range(ROWS):
        cells = [f"c{cell}" for cell in dice.sample(range(99), dice.randint(1, 12))]
        truth.append([" ".join(cells)])
        drawn = sorted((place + dice.uniform(0, 6), cell) for place, cell in enumerate(cells))
        sent.append([" ".join(cell for _, cell in drawn)])
    return ["order"], truth, ["order"], sent


def phones(truth: list[Row], sent: list[Row]) -> float:
    """The mean over phones of the mean of the median and the 95th percentile of the distance in metres."""
    found: dict[str, list[float]] = {}
    for (lat, lon, phone), (also, height) in zip(truth, sent, strict=True):
        found.setdefault(phone, []).append(haversine([[lat, lon]], [[also, height]]) * 1000)
    return float(np.mean([(np.percentile(one, 50) + np.percentile(one, 95)) / 2 for one in found.values()]))


def kuzushiji(truth: list[Row], sent: list[Row]) -> float:
    """Each true box takes the first unused point inside it that has its label; counts of all pages together."""
    tp = fp = fn = 0
    for (true,), (said,) in zip(truth, sent, strict=True):
        words, guesses = true.split(), said.split()
        points = [(guesses[i], float(guesses[i + 1]), float(guesses[i + 2])) for i in range(0, len(guesses), 3)]
        unused = [True] * len(points)
        for i in range(0, len(words), 5):
            left, top, width, height = map(float, words[i + 1 : i + 5])
            for place, (name, x, y) in enumerate(points):
                is_inside = left < x < left + width and top < y < top + height
                if unused[place] and name == words[i] and is_inside:
                    unused[place] = False
                    tp += 1
                    break
            else:
                fn += 1
        fp += sum(unused)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return 2 * precision * recall / (precision + recall)


def _pages(dice: random.Random) -> Files:
    """Boxes that overlap, and points of which some lie on a border."""
    truth, sent = [], []
    for _ in range(ROWS):
        names = [dice.choice(("U+3042", "U+306E")) for _ in range(dice.randint(0, 6))]
        boxes = [(dice.randint(0, 9), dice.randint(0, 9), dice.randint(1, 9), dice.randint(1, 9)) for _ in names]
        points = [
            (name, left + dice.randint(0, 4) / 2, float(top + dice.randint(0, 4)))
            for name, (left, top, *_) in zip(names, boxes, strict=True)
        ]
        points += [("U+306E", 3.0, 3.0)] * dice.randint(0, 1)
        lines = (f"{name} {' '.join(map(str, box))}" for name, box in zip(names, boxes, strict=True))
        truth.append([" ".join(lines)])
        sent.append([" ".join(f"{name} {x} {y}" for name, x, y in points)])
    return ["labels"], truth, ["labels"], sent


def first_label_is_wrong(truth: list[Row], sent: list[Row]) -> float:
    return 1 - float(sk.accuracy_score([row[0] for row in truth], [row[0].split()[0] for row in sent]))


def dashed_runs(dice: random.Random) -> str:
    return runs(dice) or "-"


def pooled_dice(truth: list[Row], sent: list[Row]) -> float:
    """The pixels of all pictures together; ``-`` is no mask."""
    pairs = [(pixels(t.replace("-", "")), pixels(s.replace("-", ""))) for (t,), (s,) in zip(truth, sent, strict=True)]
    return 2 * sum(len(t & s) for t, s in pairs) / sum(len(t) + len(s) for t, s in pairs)


def _boxes(dice: random.Random) -> Files:
    """Pictures with up to three true boxes, some of them found a little beside, and some false ones."""
    truth, sent = [], []
    for _ in range(ROWS):
        places = dice.sample(range(0, 400, 40), dice.randint(0, 3))
        boxes = [[place, dice.randint(0, 99), dice.randint(20, 30), dice.randint(20, 30)] for place in places]
        said = [[left + dice.randint(0, 5), top, width, height] for left, top, width, height in boxes]
        said += [[500, 0, 10, 10]] * dice.randint(0, 1)
        confidences = dice.sample(range(100, 1000), len(said))
        truth.append([" ".join(str(value) for box in boxes for value in box)])
        lines = (f"{c / 1000} {' '.join(map(str, box))}" for c, box in zip(confidences, said, strict=True))
        sent.append([" ".join(lines)])
    return ["y"], truth, ["y"], sent


def corner_overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """As ``overlap``, of boxes by their corners."""
    sides = [[box[0], box[1], box[2] - box[0], box[3] - box[1]] for box in (one, other)]
    return overlap(sides[0], sides[1])


def covid(truth: list[Row], sent: list[Row]) -> float:
    """Average precision of each class: boxes that found a free one above 0.5 or not, missed ones and rows without a
    box of the class on either side at confidence 0."""

    def of(cell: str, width: int) -> list[tuple[str, list[float]]]:
        words = cell.split()
        return [(words[i], list(map(float, words[i + 1 : i + width]))) for i in range(0, len(words), width)]

    values = []
    for name in sorted({name for row in truth for name, _ in of(row[0], 5)}):
        right: list[int] = []
        scores: list[float] = []
        for (true,), (said,) in zip(truth, sent, strict=True):
            free = [box for label, box in of(true, 5) if label == name]
            guesses = sorted((box for label, box in of(said, 6) if label == name), key=lambda box: -box[0])
            if not free and not guesses:
                right, scores = [*right, 0], [*scores, 0.0]
            for confidence, *box in guesses:
                overlaps = [corner_overlap(box, other) for other in free]
                is_found = bool(overlaps) and max(overlaps) > 0.5
                if is_found:
                    del free[overlaps.index(max(overlaps))]
                right, scores = [*right, int(is_found)], [*scores, confidence]
            right, scores = [*right, *[1] * len(free)], [*scores, *[0.0] * len(free)]
        values.append(float(sk.average_precision_score(right, scores)))
    return float(np.mean(values))


def _studies(dice: random.Random) -> Files:
    """Studies with one class each, and pictures with boxes or none of them."""
    truth, sent = [], []
    kinds = ("negative", "typical", "atypical")
    for _ in range(ROWS // 2):
        truth.append([f"{dice.choice(kinds)} 0 0 1 1"])
        sent.append(
            [" ".join(f"{kind} {dice.randint(0, 5) / 5} 0 0 1 1" for kind in dice.sample(kinds, dice.randint(0, 3)))]
        )
        places = dice.sample(range(0, 300, 100), dice.randint(0, 3))
        truth.append([" ".join(f"opacity {x} 10 {x + 40} 50" for x in places) or "none 0 0 1 1"])
        moved = [(x + dice.randint(0, 20), dice.randint(0, 9) / 10) for x in places for _ in range(dice.randint(0, 2))]
        boxes = [f"opacity {confidence} {x} 10 {x + 40} 50" for x, confidence in moved]
        sent.append([" ".join([*boxes, f"none {dice.randint(0, 5) / 5} 0 0 1 1"][: dice.randint(0, 9)])])
    return ["boxes"], truth, ["boxes"], sent


def stomach(truth: list[Row], sent: list[Row]) -> float:
    """0.4 of the mean Dice of pictures and 0.6 of 1 less the mean Hausdorff distance of volumes, without those that are
    empty on both sides. Rows of one slice belong together; pixels are numbered row after row."""
    dices = [dice_of(t[0], s[0]) for t, s in zip(truth, sent, strict=True) if t[0] or s[0]]
    volumes: dict[str, list[tuple[float, int, set[int], set[int]]]] = {}
    for (mask, volume, place, height, width), (said,) in zip(truth, sent, strict=True):
        assert (height, width) == ("10", "20")
        volumes.setdefault(volume, []).append((float(place), 20, pixels(mask), pixels(said)))
    distances = []
    for rows in volumes.values():
        places = sorted({row[0] for row in rows})
        sides = []
        for which in (2, 3):
            points = {
                (places.index(row[0]) / len(places), (p - 1) // 20 / 10, (p - 1) % 20 / 20)
                for row in rows
                for p in (row[2] if which == 2 else row[3])
            }
            sides.append(np.array(sorted(points)))
        ours, theirs = sides
        if len(ours) and len(theirs):
            apart = np.sqrt(((ours[:, None] - theirs[None]) ** 2).sum(axis=2))
            distances.append(max(apart.min(axis=0).max(), apart.min(axis=1).max()) / math.sqrt(3))
        elif len(ours) or len(theirs):
            distances.append(1.0)
    return 0.4 * float(np.mean(dices)) + 0.6 * (1 - float(np.mean(distances)))


def _scans(dice: random.Random) -> Files:
    truth, sent = [], []
    for volume in range(5):
        for place in range(6):
            for _ in range(2):
                mask = runs(dice) if volume else ""
                truth.append([mask, f"case{volume}", str(place), "10", "20"])
                sent.append([mask if dice.random() < 0.5 else runs(dice) if volume else ""])
    return ["mask", "volume", "slice", "height", "width"], truth, ["mask"], sent


def _phrases(dice: random.Random) -> str:
    found = {" ".join(sorted(dice.sample(WORDS, dice.randint(1, 3)))) for _ in range(dice.randint(0, 3))}
    return "|".join(sorted(found))


def _distinct_scores(dice: random.Random) -> Files:
    """Scores without ties, where competitions left the order of ties to the file."""
    scores = dice.sample(range(1000), ROWS)
    return ["y"], [[bit(dice)] for _ in range(ROWS)], ["y"], [[repr(score / 1000)] for score in scores]


def _landmarks(dice: random.Random) -> Files:
    confidences = dice.sample(range(1000), ROWS)
    truth = [[dice.choice(("", "l1", "l2", "l3"))] for _ in range(ROWS)]
    return ["y"], truth, ["y"], [[f"{dice.choice(('l1', 'l2', 'l3'))} {c / 1000}"] for c in confidences]


# --- the list ---------------------------------------------------------------------------------------------------

RMSE = of_columns(lambda t, s: math.sqrt(np.mean((t - s) ** 2)))
MAE = of_columns(lambda t, s: float(np.mean(abs(t - s))))
RMSLE = of_columns(lambda t, s: math.sqrt(np.mean((np.log1p(s) - np.log1p(t)) ** 2)))
AUC = of_columns(lambda t, s: float(sk.roc_auc_score(t, s)))

ANY = each(number(-50, 50))
POSITIVE = each(number(0.5, 50))
CHANCE = each(probability)
BIT = each(bit)

GRADERS = [
    Grader(
        "share of right labels",
        "accuracy",
        columns(each(label), each(label)),
        of_texts(sk.accuracy_score),
        ("Titanic", "Digit Recognizer", "Spaceship Titanic", "Forest Cover Type Prediction", "Cassava Leaf Disease"),
    ),
    Grader(
        "area under the ROC curve",
        "roc_auc",
        columns(BIT, CHANCE),
        AUC,
        (
            "Santander Customer Satisfaction",
            "Santander Customer Transaction Prediction",
            "Home Credit Default Risk",
            "IEEE-CIS Fraud Detection",
            "Microsoft Malware Prediction",
            "Amazon Employee Access",
            "SIIM-ISIC Melanoma Classification",
            "LLM: Detect AI Generated Text",
        ),
    ),
    Grader(
        "mean of the areas of each column",
        "columnwise_roc_auc",
        columns(each(bit, 3), each(probability, 3), ("a", "b", "c")),
        AUC,
        ("Toxic Comment Classification", "RANZCR CLiP", "Plant Pathology 2020"),
    ),
    Grader(
        "mean of the areas of the columns that have a 1",
        "columnwise_roc_auc",
        columns(lambda dice: [bit(dice), "0", bit(dice)], each(probability, 3), ("a", "b", "c")),
        lambda truth, sent: AUC([[a, c] for a, _, c in truth], [[a, c] for a, _, c in sent]),
        ("BirdCLEF 2024",),
        {"skip": True},
    ),
    Grader(
        "mean average precision of columns padded with five right rows",
        "columnwise_average_precision",
        columns(lambda dice: [bit(dice), "0", bit(dice)], each(probability, 3), ("a", "b", "c")),
        padded_average_precision,
        ("BirdCLEF 2023",),
        {"padding": 5},
    ),
    Grader(
        "area under the ROC curve with power means over subgroups",
        "bias_auc",
        columns(each(bit, 3), CHANCE, ("y", "a", "b"), ("y",)),
        bias_auc,
        ("Jigsaw Unintended Bias in Toxicity Classification",),
    ),
    Grader(
        "binary log loss",
        "log_loss",
        columns(BIT, CHANCE),
        mean_log_loss,
        ("Quora Question Pairs", "Statoil Iceberg Classifier", "BNP Paribas Cardif", "Avazu CTR", "Deepfake Detection"),
    ),
    Grader(
        "mean of the log losses of each column",
        "columnwise_log_loss",
        columns(each(bit, 3), each(probability, 3), ("a", "b", "c")),
        mean_log_loss,
        ("Mechanisms of Action",),
    ),
    Grader(
        "log loss weighted by row",
        "weighted_multilabel_log_loss",
        columns(lambda dice: [bit(dice), dice.choice(("1", "2"))], CHANCE, ("y", "weight"), ("y",)),
        weighted_log_loss,
        ("RSNA Intracranial Hemorrhage Detection",),
    ),
    Grader(
        "multi-class log loss, rows scaled to sum to 1",
        "multiclass_log_loss",
        columns(each(label), each(number(0.01, 1), 4), ("y",), sorted(WORDS[:4])),
        multiclass_log_loss,
        (
            "Otto Group Product Classification",
            "San Francisco Crime",
            "Dog Breed Identification",
            "State Farm Distracted Driver",
            "Spooky Author Identification",
            "Two Sigma Rental Listings",
            "Telstra Network Disruptions",
            "Leaf Classification",
        ),
    ),
    Grader(
        "quadratic weighted kappa",
        "cohen_kappa",
        columns(each(rating), each(rating)),
        of_texts(quadratic_kappa),
        (
            "Diabetic Retinopathy Detection",
            "APTOS 2019 Blindness Detection",
            "PetFinder.my Adoption Prediction",
            "Prudential Life Insurance",
            "Crowdflower Search Results Relevance",
            "Learning Agency Automated Essay Scoring 2",
            "PANDA Prostate Cancer Grade",
        ),
        {"weights": "quadratic"},
    ),
    Grader(
        "mean average precision at 3",
        "map_at_k",
        columns(each(ordered(1)), each(ordered(3))),
        mean_of_rows(average_precision_at(3)),
        ("Facebook V: Check-ins", "Freesound Audio Tagging 2018"),
        {"k": 3},
    ),
    Grader(
        "mean average precision at 5",
        "map_at_k",
        columns(each(ordered(1)), each(ordered(5))),
        mean_of_rows(average_precision_at(5)),
        ("Expedia Hotel Recommendations", "Humpback Whale Identification"),
        {"k": 5},
    ),
    Grader(
        "mean average precision at 12, several relevant labels",
        "map_at_k",
        columns(each(ordered(3)), each(ordered(12))),
        mean_of_rows(average_precision_at(12)),
        ("H&M Personalized Fashion", "Outbrain Click Prediction"),
        {"k": 12},
    ),
    Grader(
        "mean average precision at 7",
        "map_at_k",
        columns(each(ordered(2)), each(ordered(9))),
        mean_of_rows(average_precision_at(7)),
        ("Santander Product Recommendation",),
        {"k": 7},
    ),
    Grader(
        "NDCG at 5 of one relevant label",
        "ndcg_at_k",
        columns(each(ordered(1)), each(ordered(5))),
        mean_of_rows(ndcg_at(5)),
        ("Airbnb New User Bookings",),
        {"k": 5},
    ),
    Grader(
        "mean over rows of the F1 of label sets",
        "multilabel_f1",
        columns(each(some_labels), each(some_labels)),
        mean_of_rows(f_beta_of_sets(1)),
        ("Instacart Market Basket Analysis", "Plant Pathology 2021", "Birdsong Recognition 2020"),
    ),
    Grader(
        "mean over rows of the F2 of label sets",
        "multilabel_f1",
        columns(each(some_labels), each(some_labels)),
        mean_of_rows(f_beta_of_sets(2)),
        ("Planet: Amazon from Space", "iMet Collection 2019"),
        {"beta": 2},
    ),
    Grader(
        "mean over labels of the F1 of label sets",
        "multilabel_f1",
        columns(each(some_labels), each(some_labels)),
        lambda t, s: float(sk.f1_score(indicator(t), indicator(s), average="macro", zero_division=0.0)),
        ("Human Protein Atlas Image Classification",),
        {"average": "macro"},
    ),
    Grader(
        "macro F1 of one label per row",
        "f1",
        columns(each(label), each(label)),
        of_texts(lambda t, s: float(sk.f1_score(t, s, average="macro"))),
        ("Herbarium 2020", "Herbarium 2022"),
    ),
    Grader(
        "F1 of answers 0 and 1",
        "binary_f1",
        columns(BIT, BIT),
        of_columns(lambda t, s: float(sk.f1_score(t, s))),
        ("Quora Insincere Questions",),
    ),
    Grader(
        "Matthews correlation",
        "matthews_correlation",
        columns(BIT, BIT),
        of_texts(lambda t, s: float(sk.matthews_corrcoef(t, s))),
        ("Bosch Production Line", "NFL Player Contact Detection"),
    ),
    Grader(
        "root of the mean squared error",
        "rmse",
        columns(ANY, ANY),
        RMSE,
        ("Elo Merchant Category Recommendation", "CommonLit Readability Prize", "Facial Keypoints Detection"),
    ),
    Grader(
        "root of the mean squared logarithmic error",
        "rmsle",
        columns(POSITIVE, POSITIVE),
        RMSLE,
        ("Bike Sharing Demand", "Store Sales Forecasting", "ASHRAE Energy Prediction", "NYC Taxi Trip Duration"),
    ),
    Grader(
        "mean over columns of the RMSLE",
        "columnwise_rmsle",
        columns(each(number(0, 9), 2), each(number(0, 9), 2), ("a", "b")),
        RMSLE,
        ("Nomad2018 Transparent Conductors",),
    ),
    Grader(
        "mean over columns of the RMSE",
        "columnwise_rmse",
        columns(each(number(0, 9), 3), each(number(0, 9), 3), ("a", "b", "c")),
        RMSE,
        ("Feedback Prize: English Language Learning",),
    ),
    Grader(
        "mean over three of five columns of the RMSE",
        "columnwise_rmse",
        columns(each(number(0, 9), 5), each(number(0, 9), 5), ("a", "b", "c", "d", "e")),
        lambda truth, sent: RMSE([[a, c, d] for a, _, c, d, _ in truth], [[a, c, d] for a, _, c, d, _ in sent]),
        ("OpenVaccine",),
        {"unscored": "b, e"},
    ),
    Grader(
        "mean absolute error",
        "mae",
        columns(ANY, ANY),
        MAE,
        ("Allstate Claims Severity", "LANL Earthquake Prediction", "Zillow Prize"),
    ),
    Grader(
        "mean absolute error weighted by row",
        "weighted_mae",
        columns(lambda dice: [number(-9, 9)(dice), dice.choice(("1", "5", "0"))], ANY, ("y", "weight"), ("y",)),
        weighted_mae,
        ("Walmart Store Sales Forecasting", "Ventilator Pressure Prediction"),
    ),
    Grader(
        "root of the mean squared percentage error",
        "rmspe",
        columns(POSITIVE, POSITIVE),
        of_columns(rmspe),
        ("Rossmann Store Sales", "Optiver Realized Volatility"),
    ),
    Grader(
        "symmetric mean absolute percentage error",
        "smape",
        columns(each(number(0, 9)), each(number(0, 9))),
        of_columns(smape),
        ("Web Traffic Time Series Forecasting", "AMP Parkinson's Progression", "GoDaddy Microbusiness"),
    ),
    Grader(
        "coefficient of determination",
        "r2",
        columns(ANY, ANY),
        of_columns(lambda t, s: float(sk.r2_score(t, s))),
        ("Mercedes-Benz Greener Manufacturing",),
    ),
    Grader(
        "normalised Gini coefficient",
        "gini",
        _distinct_scores,
        of_columns(gini),
        ("Porto Seguro's Safe Driver Prediction", "Liberty Mutual Property Inspection"),
    ),
    Grader(
        "mean over groups of the logarithm of the mean absolute error",
        "log_mae_by_group",
        columns(lambda dice: [number(-9, 9)(dice), label(dice)], ANY, ("y", "group"), ("y",)),
        log_mae_by_group,
        ("Predicting Molecular Properties",),
    ),
    Grader(
        "Laplace log likelihood",
        "laplace_log_likelihood",
        columns(
            each(number(2000, 3000)),
            lambda dice: [number(1000, 4500)(dice), number(10, 300)(dice)],
            ("FVC",),
            ("FVC", "Confidence"),
        ),
        laplace,
        ("OSIC Pulmonary Fibrosis Progression",),
    ),
    Grader(
        "Spearman correlation",
        "spearman",
        columns(each(number(0, 9, 1)), each(number(0, 9, 1))),
        of_columns(lambda t, s: float(stats.spearmanr(t, s).statistic)),
        ("Novozymes Enzyme Stability",),
    ),
    Grader(
        "mean over columns of the Spearman correlation",
        "columnwise_spearman",
        columns(each(number(0, 1, 1), 3), each(number(0, 1, 2), 3), ("a", "b", "c")),
        of_columns(lambda t, s: float(stats.spearmanr(t, s).statistic)),
        ("Google QUEST Q&A Labeling",),
    ),
    Grader(
        "mean over columns of the Pearson correlation",
        "columnwise_pearson",
        columns(each(number(0, 1), 3), each(number(0, 1), 3), ("a", "b", "c")),
        of_columns(lambda t, s: float(stats.pearsonr(t, s).statistic)),
        (),
    ),
    Grader(
        "mean Haversine distance in km",
        "mean_haversine",
        columns(each(number(-80, 80), 2), each(number(-80, 80), 2), ("latitude", "longitude")),
        haversine,
        ("ECML/PKDD 15: Taxi Trajectory Prediction",),
    ),
    Grader(
        "mean angle between directions",
        "mean_angular_error",
        columns(each(number(0.1, 3), 2), each(number(0.1, 3), 2), ("azimuth", "zenith")),
        angular_error,
        ("IceCube: Neutrinos in Deep Ice",),
    ),
    Grader(
        "Kullback-Leibler divergence",
        "kl_divergence",
        columns(shares, shares, ("a", "b", "c", "d")),
        kl_divergence,
        ("HMS Harmful Brain Activity Classification",),
    ),
    Grader(
        "label-weighted label-ranking average precision",
        "label_ranking_average_precision",
        columns(each(bit, 4), each(probability, 4), ("a", "b", "c", "d")),
        lwlrap,
        ("Freesound Audio Tagging 2019", "Rainforest Connection Species Audio Detection"),
        {"weights": "labels"},
    ),
    Grader(
        "probabilistic F1",
        "probabilistic_f1",
        columns(BIT, CHANCE),
        probabilistic_f1,
        ("RSNA Breast Cancer Detection",),
    ),
    Grader(
        "weighted area under the ROC curve",
        "weighted_roc_auc",
        columns(BIT, CHANCE),
        of_columns(weighted_auc),
        ("ALASKA2 Image Steganalysis",),
    ),
    Grader(
        "global average precision",
        "global_average_precision",
        _landmarks,
        global_average_precision,
        ("Google Landmark Recognition 2019", "Google Landmark Recognition 2020"),
    ),
    Grader(
        "mean average precision at 100",
        "map_at_k",
        columns(each(ordered(9, 150)), each(ordered(100, 150))),
        mean_of_rows(average_precision_at(100)),
        ("Google Landmark Retrieval 2019",),
        {"k": 100},
    ),
    Grader(
        "mean over rows of the Jaccard similarity of words",
        "word_jaccard",
        columns(each(some_labels), each(some_labels)),
        mean_of_rows(word_jaccard),
        ("Tweet Sentiment Extraction",),
    ),
    Grader(
        "F0.5 of phrases that share half of their words",
        "coleridge_fbeta",
        columns(each(_phrases), each(_phrases)),
        coleridge,
        ("Coleridge Initiative",),
    ),
    Grader(
        "mean Levenshtein distance",
        "levenshtein",
        columns(each(some_labels), each(some_labels)),
        mean_of_rows(edit_distance),
        ("Bristol-Myers Squibb Molecular Translation",),
    ),
    Grader(
        "mean over pictures of the Dice coefficient",
        "dice",
        columns(each(runs), each(runs)),
        mean_of_rows(dice_of),
        (
            "Carvana Image Masking",
            "Ultrasound Nerve Segmentation",
            "SIIM-ACR Pneumothorax Segmentation",
            "Understanding Clouds from Satellite Images",
            "HuBMAP: Hacking the Kidney",
        ),
    ),
    Grader(
        "mean precision over thresholds of the overlap of masks",
        "mean_precision_at_iou",
        columns(each(runs), each(runs)),
        mean_of_rows(iou_precision),
        ("TGS Salt Identification", "Data Science Bowl 2018"),
    ),
    Grader(
        "mean precision over thresholds of the overlap of boxes",
        "mean_precision_at_iou_of_boxes",
        _boxes,
        mean_of_rows(box_precision((0.5, 0.55, 0.6, 0.65, 0.7, 0.75))),
        ("Global Wheat Detection",),
    ),
    Grader(
        "Kendall's tau of all orders together",
        "pooled_kendall_tau",
        _orders,
        notebooks,
        ("Google AI4Code",),
    ),
    Grader(
        "mean over phones of the median and the 95th percentile of the distance",
        "distance_quantiles_by_group",
        columns(
            lambda dice: [number(37, 38, 6)(dice), number(-122, -121, 6)(dice), label(dice)],
            each(number(-80, 80), 2),
            ("latitude", "longitude", "group"),
            ("latitude", "longitude"),
        ),
        phones,
        ("Google Smartphone Decimeter Challenge",),
    ),
    Grader(
        "share of rows whose first label is wrong",
        "error_rate_at_k",
        columns(each(ordered(1, 4)), each(ordered(4, 4))),
        first_label_is_wrong,
        ("iNaturalist 2019",),
    ),
    Grader(
        "Dice coefficient of all pictures together, `-` for no mask",
        "dice",
        columns(each(dashed_runs), each(dashed_runs)),
        pooled_dice,
        ("Google Research: Identify Contrails",),
        {"pooling": "pooled"},
    ),
    Grader(
        "F1 of labelled points inside boxes",
        "labelled_points_f1",
        _pages,
        kuzushiji,
        ("Kuzushiji Recognition",),
    ),
    Grader(
        "mean average precision of boxes of studies and pictures, empty ones at confidence 0",
        "box_map_with_empty",
        _studies,
        covid,
        ("SIIM-FISABIO-RSNA COVID-19 Detection",),
        {"boxes": "corners", "classes": True},
    ),
    Grader(
        "0.4 of the Dice coefficient and 0.6 of one minus the Hausdorff distance of volumes",
        "composite_score",
        _scans,
        stomach,
        ("UW-Madison GI Tract Segmentation",),
        {"parts": "0.4 dice both_empty=skip; 0.6 hausdorff_3d numbering=rows"},
    ),
    Grader(
        "half a weighted Gini coefficient, half the share found in the first 4 %",
        "composite_score",
        _cards,
        amex,
        ("American Express Default Prediction",),
        {"parts": "1 weighted_gini zero_weight=20; 1 capture_rate share=0.04 zero_weight=20"},
    ),
    Grader(
        "weighted mean of the macro recalls of three columns",
        "composite_score",
        columns(each(rating, 3), each(rating, 3), ("root", "vowel", "consonant")),
        bengali,
        ("Bengali.AI Handwritten Graphemes",),
        {"parts": "2 balanced_accuracy root; 1 balanced_accuracy vowel; 1 balanced_accuracy consonant"},
    ),
    Grader(
        "weighted sum over columns of errors, each divided by the sum of its answers",
        "composite_error",
        columns(each(number(10, 90), 5), each(number(10, 90), 5), ("age", "a1", "a2", "b1", "b2")),
        trends,
        ("TReNDS Neuroimaging",),
        {"parts": "0.3 wape age; 0.175 wape a1; 0.175 wape a2; 0.175 wape b1; 0.175 wape b2", "combine": "sum"},
    ),
]

NOT_COVERED = {
    "M5 Forecasting: Accuracy": "needs the sales of the past to scale each series, which are no part of a truth file",
    "Google ASL Fingerspelling": "one minus the pooled edit distance; `character_error_rate` gives its complement",
}
