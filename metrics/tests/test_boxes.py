"""Boxes in pictures: who takes whom, and what it is worth, equals the definition worked out box by box."""

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

import metrics
from metrics.core.figures import Curve, Grid
from metrics.tests.answer_files import column

seeds = pytest.mark.parametrize("seed", range(5))
Box = tuple[str, float, tuple[float, float, float, float]]
"""Class, confidence, and left, top, width and height."""


def iou(one: Box, other: Box) -> float:
    (a, b, c, d), (e, f, g, h) = one[2], other[2]
    wide, high = min(a + c, e + g) - max(a, e), min(b + d, f + h) - max(b, f)
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / (c * d + g * h - wide * high)


def box(dice: random.Random) -> Box:
    sides = (dice.randint(0, 2), dice.randint(0, 2), dice.randint(1, 4), dice.randint(1, 8) / 2)
    return dice.choice(("cat", "dog")), dice.randint(0, 5) / 5, sides


def pictures(seed: int, rows: int = 40) -> tuple[list[list[Box]], list[list[Box]]]:
    """Crowded pictures with empty ones, equal boxes, ties of confidence and a class that the truth lacks."""
    dice = random.Random(seed)
    truth = [[box(dice) for _ in range(dice.choice((0, 1, 2, 5)))] for _ in range(rows)]
    said = []
    for picture in truth:
        near = [(label, dice.randint(0, 5) / 5, sides) for label, _, sides in picture if dice.random() < 0.6]
        said.append([*near, *(box(dice) for _ in range(dice.choice((0, 0, 1, 4))))])
        if dice.random() < 0.1:
            said[-1].append(("owl", 0.5, (0, 0, 2, 2)))
        dice.shuffle(said[-1])
    return truth, said


def cells(
    side: Sequence[Sequence[Box]], *, confidence: bool = False, classes: bool = False, corners: bool = False
) -> bytes:
    texts = []
    for picture in side:
        parts = []
        for label, sure, (left, top, width, height) in picture:
            last = (left + width, top + height) if corners else (width, height)
            parts += [*([label] if classes else []), *([sure] if confidence else []), left, top, *last]
        texts.append(" ".join(map(str, parts)))
    return column(texts)


def by_confidence(said: Sequence[Box]) -> list[Box]:
    return sorted(said, key=lambda one: -one[1])


def matches(truth: Sequence[Box], said: Sequence[Box], level: float) -> int:
    free = list(truth)
    for guess in by_confidence(said):
        best = max(free, key=lambda one: iou(one, guess), default=None)
        if best is not None and iou(best, guess) > level:
            free.remove(best)
    return len(truth) - len(free)


def mean_precision(truth: Sequence[Box], said: Sequence[Box], levels: Sequence[float]) -> float | None:
    if not truth and not said:
        return None
    tp = [matches(truth, said, level) for level in levels]
    return sum(one / (len(truth) + len(said) - one) for one in tp) / len(levels)


@seeds
@pytest.mark.parametrize("start", [0.5, 0.4, 0.0])
def test_mean_precision_equals_the_definition(seed: int, start: float) -> None:
    truth, said = pictures(seed)
    levels = [round(start + 0.05 * step, 2) for step in range(round((0.75 - start) / 0.05) + 1)]
    values = [mean_precision(a, b, levels) for a, b in zip(truth, said, strict=True)]
    files = cells(truth), cells(said, confidence=True)
    key = "mean_precision_at_iou_of_boxes"
    found = metrics.evaluate(key, *files, {"start": start}).overall
    filled = [value for value in values if value is not None]
    assert len(filled) < len(values)
    assert found == pytest.approx((math.fsum(filled) + len(values) - len(filled)) / len(values), rel=1e-12)
    found = metrics.evaluate(key, *files, {"start": start, "empty": "left_out"}).overall
    assert found == pytest.approx(math.fsum(filled) / len(filled), rel=1e-12)


def f_beta(tp: float, true: float, said: float, beta: float) -> float:
    square = beta * beta
    return (1 + square) * tp / (square * true + said) if true + said else 1.0


@seeds
def test_f_beta_of_boxes_equals_the_definition_by_picture_and_pooled(seed: int) -> None:
    truth, said = pictures(seed)
    levels = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8]
    tp = np.array([[matches(a, b, level) for level in levels] for a, b in zip(truth, said, strict=True)])
    sizes = [(len(a), len(b)) for a, b in zip(truth, said, strict=True)]
    files, params = (cells(truth), cells(said, confidence=True)), {"start": 0.3, "stop": 0.8, "beta": 2}
    key = "mean_precision_at_iou_of_boxes"
    values = [[f_beta(one, *size, 2) for one in line] for line, size in zip(tp.tolist(), sizes, strict=True)]
    assert metrics.evaluate(key, *files, params).overall == pytest.approx(np.mean(values), rel=1e-12)
    a, b = (sum(column) for column in zip(*sizes, strict=True))
    expected = np.mean([f_beta(one, a, b, 2) for one in tp.sum(axis=0).tolist()])
    pooled = metrics.evaluate(key, *files, {**params, "pooling": "pooled"})
    assert pooled.overall == pytest.approx(expected, rel=1e-12)
    plain = metrics.evaluate(key, *files, {**params, "beta": None, "pooling": "pooled"})
    expected = np.mean([one / (a + b - one) for one in tp.sum(axis=0).tolist()])
    assert plain.overall == pytest.approx(expected, rel=1e-12)


def right_ones(truth: Sequence[Box], said: Sequence[Box], least: float) -> list[tuple[str, float, bool]]:
    """As PASCAL VOC does: the best true box of the class, once; of equal boxes each once."""
    found, taken = [], set()
    for guess in by_confidence(said):
        mine = [(iou(one, guess), -place) for place, one in enumerate(truth) if one[0] == guess[0]]
        best = max((value for value, _ in mine), default=0.0)
        first = next((place for place, one in enumerate(truth) if (best, -place) in mine), -1)
        same = [place for place, one in enumerate(truth) if first >= 0 and (one[0], one[2]) == _key(truth[first])]
        free = [place for place in same if place not in taken]
        is_right = best >= least and bool(free)
        taken |= set(free[:1]) if is_right else set()
        found.append((guess[0], guess[1], is_right))
    return found


def _key(one: Box) -> tuple[str, tuple[float, float, float, float]]:
    return one[0], one[2]


def average_precision(
    truth: Sequence[Sequence[Box]], said: Sequence[Sequence[Box]], least: float, weights: Sequence[float] = ()
) -> float:
    """The definition, each picture counting as often as its weight says."""
    weights = weights or [1.0] * len(truth)
    values = []
    for label in sorted({one[0] for picture in truth for one in picture}):
        sought = sum(weight * sum(one[0] == label for one in a) for a, weight in zip(truth, weights, strict=True))
        answers = [
            (sure, is_right, weight)
            for a, b, weight in zip(truth, said, weights, strict=True)
            for name, sure, is_right in right_ones(a, b, least)
            if name == label
        ]
        levels = sorted({sure for sure, _, _ in answers}, reverse=True)
        recall, precision = [0.0], [0.0]
        for level in levels:
            above = [(is_right, weight) for sure, is_right, weight in answers if sure >= level]
            hits = sum(weight for is_right, weight in above if is_right)
            recall.append(hits / sought)
            precision.append(hits / sum(weight for _, weight in above))
        values.append(
            sum((recall[j] - recall[j - 1]) * max(precision[j:]) for j in range(1, len(recall))),
        )
    return sum(values) / len(values)


def one_class(side: Sequence[Sequence[Box]]) -> list[list[Box]]:
    return [[("all", sure, sides) for _, sure, sides in picture] for picture in side]


@seeds
@pytest.mark.parametrize("least", [0.5, 0.4, 0.05, 1.0])
@pytest.mark.parametrize("corners", [False, True])
def test_box_map_equals_the_definition(seed: int, least: float, corners: bool) -> None:
    truth, said = pictures(seed)
    params = {"iou": least, "boxes": "corners" if corners else "xywh"}
    files = cells(truth, corners=corners), cells(said, confidence=True, corners=corners)
    expected = average_precision(one_class(truth), one_class(said), least)
    assert metrics.evaluate("box_map", *files, params).overall == pytest.approx(expected, rel=1e-12)
    files = (
        cells(truth, classes=True, corners=corners),
        cells(said, confidence=True, classes=True, corners=corners),
    )
    expected = average_precision(truth, said, least)
    found = metrics.evaluate("box_map", *files, {**params, "classes": True})
    assert found.overall == pytest.approx(expected, rel=1e-12)


def test_the_influence_of_a_picture_is_the_derivative_by_its_weight() -> None:
    truth, said = pictures(5, rows=25)
    # Without ties of peaks, at which the area has no derivative.
    dice = random.Random(1)
    said = [[(label, dice.random(), sides) for label, _, sides in picture] for picture in said]
    prepared = metrics.prepare("box_map", cells(truth, classes=True), {"classes": True})
    prediction, _, _ = prepared.read_submission(cells(said, confidence=True, classes=True))
    influence = metrics.get("box_map").computation.influence
    assert influence is not None
    found = influence(prepared.answers, prediction, boxes="xywh", classes=True, iou=0.5)
    step = 1e-6
    for row in range(len(truth)):
        weights = [[1.0 + sign * step * (place == row) for place in range(len(truth))] for sign in (1, -1)]
        up, down = (average_precision(truth, said, 0.5, some) for some in weights)
        assert found[row] == pytest.approx((up - down) / (2 * step), abs=1e-7)


def test_no_digit_depends_on_the_order_of_the_rows() -> None:
    truth, said = pictures(6)
    truth[0].append(("zebra", 1.0, (0, 0, 1, 1)))
    results = []
    for seed in range(4):
        shuffled = []
        for side in (cells(truth, classes=True), cells(said, confidence=True, classes=True)):
            head, *lines = side.decode().splitlines()
            random.Random(seed).shuffle(lines)
            shuffled.append("\n".join([head, *lines]).encode())
        result = metrics.prepare(MAP, shuffled[0], {"classes": True}).evaluate(shuffled[1], uncertainty=True)
        results.append((result.overall, result.parts, *result.uncertainty["overall"].replicates.tolist()))
    assert results == [results[0]] * 4


MAP, PRECISION = "box_map", "mean_precision_at_iou_of_boxes"
DOCUMENTED = [
    (MAP, ["0 0 9 9"], ["0.5 0 0 9 9 0.5 50 50 9 9"], 0.5, {}),
    (MAP, ["0 0 9 9", ""], ["0.5 0 0 9 9", "0.9 1 1 1 1"], 0.5, {}),
    (MAP, ["0 0 9 9", ""], ["0.5 0 0 9 9", "0.1 1 1 1 1"], 1.0, {}),
    (MAP, ["0 0 9 9", ""], ["", ""], 0.0, {}),
    (MAP, ["0 0 10 10"], ["1 0 0 10 5"], 1.0, {}),
    (MAP, ["0 0 10 10"], ["1 0 0 10 4"], 0.0, {}),
    (MAP, ["0 0 10 10 0 0 10 10"], ["1 0 0 10 10 1 0 0 10 10 0.5 0 0 10 10"], 1.0, {}),
    (MAP, ["0 0 10 10"], ["1 0 0 10 10 1 0 0 10 10"], 0.5, {}),
    (MAP, ["a 0 0 9 9 b 1 1 5 5"], ["a 1 0 0 9 9 c 1 0 0 9 9"], 0.5, {"classes": True}),
    (MAP, ["a 0 0 9 9"], ["b 1 0 0 9 9"], 0.0, {"classes": True}),
    (MAP, ["0 0 9 9"], ["1 9 9 -9 -9"], 0.0, {}),
    (PRECISION, ["0 0 10 10"], ["1 0 0 10 6"], 1 / 3, {}),
    (PRECISION, ["0 0 10 10"], ["1 0 0 10 5"], 0.0, {}),
    (PRECISION, [""], [""], 1.0, {}),
    (PRECISION, [""], [""], 1.0, {"empty": "left_out"}),
    (PRECISION, ["", "0 0 1 1"], ["", ""], 0.5, {}),
    (PRECISION, ["", "0 0 1 1"], ["", ""], 0.0, {"empty": "left_out"}),
    (PRECISION, ["", "0 0 1 1"], ["1 0 0 1 1", "1 0 0 1 1"], 0.5, {"empty": "left_out"}),
]


@pytest.mark.parametrize(("key", "truth", "said", "value", "params"), DOCUMENTED)
def test_the_page_says_what_some_pictures_get(
    key: str, truth: list[str], said: list[str], value: float, params: dict[str, object]
) -> None:
    assert metrics.evaluate(key, column(truth), column(said), params).overall == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("key", [MAP, PRECISION])
@pytest.mark.parametrize(
    "cell",
    ["1 2 3 4", "0.5 1 2 3 x", "0.5 1 2 3 nan", "0.5 1 2 3 1e99", ". 1 2 3 4", "cat 0.5 1 2 3 4", "0,5 1 2 3 4"],
)
def test_bo_is_told_which_boxes_are_wrong(key: str, cell: str) -> None:
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate(key, column(["1 1 1 1", "", "1 2 3 4"]), column(["", cell, "0.5 1 1 1 1"]))
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.id, problem.count) == ("not_boxes", 3, "1", 1)
    assert '"confidence left top width height …"' in problem.message


def test_bo_is_told_about_a_missing_class() -> None:
    truth, said = column(["cat 0 0 9 9"]), column(["0.5 0 0 9 9"])
    with pytest.raises(metrics.SubmissionError, match='not "class confidence left top right bottom …"'):
        metrics.evaluate(MAP, truth, said, {"classes": True, "boxes": "corners"})


@pytest.mark.parametrize(
    ("cells_of_truth", "params", "words"),
    [
        (["cat 0 0 9 9", ""], {}, '1 cell is not "left top width height …", such as "cat 0 0 9 9"'),
        (["0 0 9 9", "1 1 1 1"], {"classes": True}, '2 cells are not "class left top width height …"'),
        (["0 0 9 0"], {}, 'a box has no area, in "0 0 9 0"'),
        (["5 5 9 5"], {"boxes": "corners"}, "a box has no area"),
        (["", ""], {}, "no box to be found"),
    ],
)
def test_ada_is_told_what_is_wrong_with_her_boxes(
    cells_of_truth: list[str], params: dict[str, object], words: str
) -> None:
    with pytest.raises(metrics.GroundTruthError, match=words):
        metrics.prepare(MAP, column(cells_of_truth), params)


@pytest.mark.parametrize("classes", [False, True])
def test_crowds_of_equal_boxes_can_be_answered_perfectly(classes: bool) -> None:
    truth, _ = pictures(2)
    for key in (MAP, PRECISION)[: 1 if classes else 2]:
        params = {"classes": True} if classes else {}
        prepared = metrics.prepare(key, cells(truth, classes=classes), params)
        assert prepared.evaluate(prepared.perfect_submission()).overall == 1.0


def test_a_picture_full_of_boxes_harms_nobody() -> None:
    full = " ".join(f"0.5 {number % 100} {number // 100} 1.5 1.5" for number in range(1200))
    truth = " ".join(f"{number % 100} {number // 100} 1.5 1.5" for number in range(1200))
    assert metrics.evaluate(PRECISION, column([truth]), column([full])).overall == 1.0
    assert metrics.evaluate(MAP, column([truth]), column([full])).overall == 1.0


def test_a_chain_of_boxes_that_wait_for_each_other_ends() -> None:
    """Each likes the true box on its left most, which the one before it, choosing first, likes a little less."""
    truth = " ".join(f"{10 * number} 0 10 1" for number in range(501))
    said = " ".join(f"{1 - number / 1000} {10 * number + 4.9} 0 10 1" for number in range(500))
    params = {"start": 0.2, "stop": 0.2}
    assert metrics.evaluate(PRECISION, column([truth]), column([said]), params).overall == 500 / 501


def test_the_page_draws_which_boxes_meet_and_the_curve() -> None:
    example = metrics.get(MAP).example
    told = metrics.explain(MAP, example.truth.encode(), example.submission.encode())
    curve, first, second = told.figures
    assert isinstance(curve, Curve)
    assert curve.points[:4] == [(0.0, 1.0), (1 / 3, 1.0), (1 / 3, 0.75), (1 / 3, 0.75)]
    assert isinstance(first, Grid)
    assert isinstance(second, Grid)
    assert [list(line) for line in first.cells] == [[0.6, 0.0], [0.0, 0.818]]
    assert first.marked == {(0, 0), (1, 1)}
    assert [row[:3] for row in told.contributions] == [(2, 2, 0), (1, 1, 0), (0, 0, 1)]


def coco_precision(truth: Sequence[Sequence[Box]], said: Sequence[Sequence[Box]], levels: Sequence[float]) -> float:
    """Average precision as pycocotools computes it, box by box; all confidences differ."""
    values = []
    for label in sorted({one[0] for picture in truth for one in picture}):
        mine = [[[one for one in picture if one[0] == label] for picture in side] for side in (truth, said)]
        for level in levels:
            answers: list[tuple[float, bool]] = []
            for true, guesses in zip(*mine, strict=True):
                free = list(true)
                for guess in by_confidence(guesses)[:100]:
                    able = [(iou(one, guess), place) for place, one in enumerate(free) if iou(one, guess) >= level]
                    answers.append((guess[1], bool(able)))
                    if able:
                        free.pop(max(able)[1])
            hits = np.cumsum([is_right for _, is_right in sorted(answers, reverse=True)])
            precision, recall = hits / np.arange(1, len(hits) + 1), hits / sum(map(len, mine[0]))
            at = [
                max((p for p, r in zip(precision, recall, strict=True) if r >= least), default=0.0) for least in POINTS
            ]
            values.append(sum(at) / 101)
    return sum(values) / len(values)


POINTS = np.linspace(0, 1, 101)


def told_apart(seed: int) -> tuple[list[list[Box]], list[list[Box]]]:
    """Pictures whose confidences all differ."""
    truth, said = pictures(seed)
    sure = iter(np.random.default_rng(seed).permutation(10_000) / 10_000)
    return truth, [[(label, float(next(sure)), sides) for label, _, sides in picture] for picture in said]


@seeds
def test_the_protocol_of_coco_equals_its_definition(seed: int) -> None:
    truth, said = told_apart(seed)
    files = cells(truth, classes=True), cells(said, classes=True, confidence=True)
    params = {"classes": True, "protocol": "coco"}
    levels = np.linspace(0.5, 0.95, 10).tolist()
    found = metrics.evaluate("box_map", *files, params).overall
    assert found == pytest.approx(coco_precision(truth, said, levels), rel=1e-12)
    found = metrics.evaluate("box_map", *files, {**params, "iou_stop": 0.5}).overall
    assert found == pytest.approx(coco_precision(truth, said, [0.5]), rel=1e-12)
    prepared = metrics.prepare("box_map", files[0], params)
    assert prepared.evaluate(prepared.perfect_submission()).overall == 1.0
    doubt = prepared.evaluate(files[1], uncertainty=True).uncertainty["overall"]
    assert doubt.standard_error is not None
    assert 0 < doubt.standard_error < 0.2
    (grid,) = metrics.explain("box_map", *files, params).figures
    assert isinstance(grid, Grid)
    assert len(grid.columns) == 11


def test_the_protocol_of_coco_counts_a_hundred_boxes_of_a_picture() -> None:
    many: list[Box] = [("cat", 0.9 - number / 1000, (50.0, 50.0, 1.0, 1.0)) for number in range(100)]
    truth: list[list[Box]] = [[("cat", 1.0, (0.0, 0.0, 2.0, 2.0))]]
    last: Box = ("cat", 0.1, (0.0, 0.0, 2.0, 2.0))
    for said, expected in (([*many, last], 0.0), ([*many[1:], last], 0.01)):
        files = cells(truth), cells([said], confidence=True)
        assert metrics.evaluate("box_map", *files, {"protocol": "coco"}).overall == pytest.approx(expected, rel=1e-12)
    with pytest.raises(metrics.GroundTruthError, match="101 boxes of one class, and COCO counts at most 100"):
        metrics.prepare("box_map", cells([[*many, last]]), {"protocol": "coco"})
