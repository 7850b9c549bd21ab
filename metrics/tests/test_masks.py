"""Masks as run lengths: areas, overlaps and objects equal what counting pixel by pixel gives."""

import math
import random
from collections.abc import Sequence

import pytest

import metrics
from metrics.core.figures import Grid
from metrics.tests.answer_files import column, score

seeds = pytest.mark.parametrize("seed", range(6))
PIXELS = 30


def runs(pixels: set[int]) -> str:
    """The run lengths of a set of pixels; neighbouring runs are sometimes left apart."""
    found: list[list[int]] = []
    for pixel in sorted(pixels):
        if found and found[-1][0] + found[-1][1] == pixel and pixel % 7:
            found[-1][1] += 1
        else:
            found.append([pixel, 1])
    return " ".join(f"{first} {length}" for first, length in found)


def mask(dice: random.Random) -> set[int]:
    return set(dice.sample(range(1, PIXELS + 1), dice.choice((0, 0, 1, 5, 20, PIXELS))))


def masks(seed: int, rows: int = 50) -> tuple[list[set[int]], list[set[int]]]:
    dice = random.Random(seed)
    truth = [mask(dice) for _ in range(rows)]
    return truth, [pixels if dice.random() < 0.2 else mask(dice) for pixels in truth]


def share(over: float, under: float) -> float:
    return over / under if under else 1.0


@seeds
@pytest.mark.parametrize("beta", [1.0, 0.5, 0.3, 7.0])
def test_dice_equals_counting_pixels(seed: int, beta: float) -> None:
    truth, said = masks(seed)
    square = beta * beta
    counts = [(len(a & b), len(a), len(b)) for a, b in zip(truth, said, strict=True)]
    values = [share((1 + square) * both, square * a + b) for both, a, b in counts]
    texts = [runs(pixels) for pixels in truth], [runs(pixels) for pixels in said]
    found = score("dice", *texts, beta=beta)
    assert found == pytest.approx(math.fsum(values) / len(values), rel=1e-12)
    both, a, b = (sum(column) for column in zip(*counts, strict=True))
    assert score("dice", *texts, beta=beta, pooling="pooled") == pytest.approx(
        (1 + square) * both / (square * a + b), rel=1e-12
    )


@seeds
def test_iou_equals_counting_pixels(seed: int) -> None:
    truth, said = masks(seed)
    counts = [(len(a & b), len(a | b)) for a, b in zip(truth, said, strict=True)]
    texts = [runs(pixels) for pixels in truth], [runs(pixels) for pixels in said]
    expected = math.fsum(share(*pair) for pair in counts) / len(counts)
    assert score("iou", *texts) == pytest.approx(expected, rel=1e-12)
    both, either = (sum(column) for column in zip(*counts, strict=True))
    assert score("iou", *texts, pooling="pooled") == both / either


def objects(dice: random.Random) -> list[set[int]]:
    """Some objects of one picture that share no pixel, in any order."""
    owners = [dice.randint(0, 4) for _ in range(dice.choice((0, 8, PIXELS)))]
    found = [{pixel + 1 for pixel, owner in enumerate(owners) if owner == one} for one in range(1, 5)]
    return dice.sample([pixels for pixels in found if pixels], k=sum(map(bool, found)))


def blurred(dice: random.Random, truth: list[set[int]]) -> list[set[int]]:
    """The same objects with some pixels lost and some objects gone."""
    kept = [{pixel for pixel in pixels if dice.random() < 0.85} for pixels in truth if dice.random() < 0.8]
    return [pixels for pixels in kept if pixels]


def precision_of_picture(
    truth: list[set[int]], said: list[set[int]], levels: Sequence[float], beta: object = None
) -> float:
    total = 0.0
    for level in levels:
        tp = sum(len(a & b) / len(a | b) > level for a in truth for b in said)
        if beta == 2:
            total += share(5 * tp, 5 * tp + 4 * (len(truth) - tp) + len(said) - tp)
        else:
            total += share(tp, len(truth) + len(said) - tp)
    return total / len(levels)


@seeds
@pytest.mark.parametrize(
    ("params", "levels"),
    [
        ({}, [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]),
        ({"start": 0.6, "stop": 0.9, "step": 0.1}, [0.6, 0.7, 0.8, 0.9]),
        ({"start": 0.75, "stop": 0.5}, [0.75]),
        ({"start": 0.75, "beta": 2, "stop": 0.85, "step": 0.05}, [0.75, 0.8, 0.85]),
    ],
)
def test_mean_precision_equals_the_definition(seed: int, params: dict[str, object], levels: list[float]) -> None:
    dice = random.Random(seed)
    truth = [objects(dice) for _ in range(40)]
    said = [blurred(dice, picture) if dice.random() < 0.8 else objects(dice) for picture in truth]
    values = [precision_of_picture(a, b, levels, params.get("beta")) for a, b in zip(truth, said, strict=True)]
    true_cells, said_cells = (["|".join(map(runs, picture)) for picture in side] for side in (truth, said))
    found = score("mean_precision_at_iou", true_cells, said_cells, **params)
    assert found == pytest.approx(math.fsum(values) / len(values), rel=1e-12)


@pytest.mark.parametrize(
    ("key", "cell"), [("mean_precision_at_iou", "1 3|9 2"), ("mean_precision_at_iou_of_boxes", "1 2 3 4 5 5 2 2")]
)
def test_a_perfect_file_is_above_every_threshold_that_may_be_chosen(key: str, cell: str) -> None:
    truth = column([cell, cell])
    for name in ("start", "stop"):
        with pytest.raises(metrics.ParameterError, match=r"at most 0\.99"):
            metrics.clean_params(key, {name: 1})
    prepared = metrics.prepare(key, truth, {"start": 0.5, "stop": 0.99, "step": 0.07})
    assert prepared.evaluate(prepared.perfect_submission()).overall == 1.0


DOCUMENTED = [
    ("dice", "1 3 10 1", "2 3", 4 / 7, {}),
    ("dice", "", "", 1.0, {}),
    ("dice", "", "1 1", 0.0, {}),
    ("dice", "1 1", "", 0.0, {"pooling": "pooled"}),
    ("dice", "", "", 1.0, {"pooling": "pooled"}),
    ("dice", "1 2 3 2", "1 4", 1.0, {}),
    ("dice", "999999999999 2", "1000000000000 1", 2 / 3, {}),
    ("iou", "1 3 10 1", "2 3", 0.4, {}),
    ("iou", "", "", 1.0, {}),
    ("iou", "5 5", "", 0.0, {}),
    ("mean_precision_at_iou", "1 100", "1 72", 0.5, {}),
    ("mean_precision_at_iou", "1 4", "1 2", 0.0, {}),
    ("mean_precision_at_iou", "", "", 1.0, {}),
    ("mean_precision_at_iou", "", "1 4", 0.0, {}),
    ("mean_precision_at_iou", "1 4", "", 0.0, {}),
    ("mean_precision_at_iou", "1 4||9 2|", " |9 2 | 1 4", 1.0, {}),
]


@pytest.mark.parametrize(("key", "truth", "said", "value", "params"), DOCUMENTED)
def test_the_page_says_what_one_picture_gets(
    key: str, truth: str, said: str, value: float, params: dict[str, object]
) -> None:
    assert score(key, [truth], [said], **params) == value


FAULTY = [
    ("1 2 3", "not_run_lengths"),
    ("1", "not_run_lengths"),
    ("-1", "not_run_lengths"),
    ("0 5", "not_run_lengths"),
    ("5 0", "not_run_lengths"),
    ("1 2.0", "not_run_lengths"),
    ("+1 2", "not_run_lengths"),
    ("1 -2", "not_run_lengths"),
    ("a b", "not_run_lengths"),
    ("1,2", "not_run_lengths"),
    ("1 99999999999999999999", "not_run_lengths"),
    ("1 2 2 1", "not_in_order"),
    ("5 1 1 1", "not_in_order"),
    ("1000000000000 2", "too_large"),
    ("9223372036854775807 9223372036854775807", "too_large"),
]


@pytest.mark.parametrize("key", ["dice", "iou", "mean_precision_at_iou"])
@pytest.mark.parametrize(("cell", "code"), FAULTY)
def test_bo_is_told_which_mask_is_wrong(key: str, cell: str, code: str) -> None:
    with pytest.raises(metrics.SubmissionError) as caught:
        score(key, ["1 1", "4 2", ""], ["1 1", cell, cell])
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.id, problem.count) == (code, 3, "1", 2)
    assert cell[:20] in problem.message
    with pytest.raises(metrics.GroundTruthError) as refused:
        metrics.prepare(key, column(["1 1", cell]))
    assert [problem.code for problem in refused.value.problems] == [code]


def test_all_faults_of_a_file_are_told_at_once() -> None:
    with pytest.raises(metrics.SubmissionError) as caught:
        score("mean_precision_at_iou", ["1 1"] * 4, ["1", "5 1 1 1", "1 4|3 3", "1 3|2 2 1 1"])
    assert {problem.code: problem.count for problem in caught.value.problems} == {
        "not_run_lengths": 1,
        "not_in_order": 2,
        "objects_overlap": 1,
    }


def test_a_bar_is_no_mask_where_a_row_has_one() -> None:
    with pytest.raises(metrics.SubmissionError, match="start length"):
        score("dice", ["1 1"], ["1 1|3 1"])


@pytest.mark.parametrize("key", ["dice", "iou", "mean_precision_at_iou"])
def test_a_mask_beyond_the_picture_is_an_error_where_its_size_is_known(key: str) -> None:
    assert score(key, ["1 1", ""], ["1 100", ""], pixels=100) < 1
    with pytest.raises(metrics.SubmissionError) as caught:
        score(key, ["1 1", ""], ["1 101", ""], pixels=100)
    assert '1 value of "y" is naming a pixel beyond the 100 of a picture: line 2' in str(caught.value)
    with pytest.raises(metrics.GroundTruthError, match="1 mask with a pixel beyond the 100 of a picture"):
        metrics.prepare(key, column(["100 2", "1 1"]), {"pixels": 100})


def test_sums_of_enormous_masks_are_exact() -> None:
    truth = [f"1 {10**12}"] * 3 + ["1 1"]
    result = metrics.evaluate("iou", column(truth), column([*[f"1 {10**12}"] * 3, ""]), {"pooling": "pooled"})
    assert result.parts["overall"]["intersection"] == 3 * 10**12
    assert result.overall == 3 * 10**12 / (3 * 10**12 + 1)


def test_a_picture_of_a_thousand_objects_costs_no_matrix() -> None:
    many = "|".join(f"{10 * number + 1} 8" for number in range(4000))
    assert score("mean_precision_at_iou", [many, "1 2"], [many, "1 2"]) == 1.0


def test_the_page_draws_which_objects_meet() -> None:
    told = metrics.explain("mean_precision_at_iou", column(["", "1 10|20 10"]), column(["", "1 9|24 10"]))
    (figure,) = told.figures
    assert isinstance(figure, Grid)
    assert [list(line) for line in figure.cells] == [[0.9, 0.0], [0.0, 0.429]]
    assert figure.marked == {(0, 0)}
    assert figure.title == "IoU in row 2"
    assert [list(row) for row in told.contributions] == [[0, 0, 0, 1, 1], [2, 2, 1, pytest.approx(0.8 / 3), 1]]


WORST = " ".join(f"{pixel} 1" for pixel in range(1, 1 + 1024 * 1024, 2))
"""Every other pixel of 1024 × 1024."""


@pytest.mark.thorough
def test_the_worst_mask_of_a_large_picture_is_read() -> None:
    assert len(WORST) > 4_000_000
    key, truth = "mean_precision_at_iou", f"id,y,Usage\n1,{WORST},Public\n2,3 4,Private\n3,,Public\n".encode()
    assert metrics.check_truth(key, truth, is_quick=True).ok
    said = f'id,y\n1,"{WORST}"\n2,3 4\n3,\n'.encode()
    assert metrics.evaluate(key, truth, said).overall == 1.0
    assert not metrics.sniff(said[:1_000_000], len(said), ["id", "y"], longest_line=metrics.get(key).longest_line)
    with pytest.raises(metrics.SubmissionError, match="Line 2 is longer than 8,388,608 bytes"):
        metrics.evaluate(key, truth, b"id,y\n1," + b"1 1 " * 2_500_000 + b"\n")


def test_a_long_mask_is_recognised_as_one() -> None:
    mask = " ".join(f"{pixel} 1" for pixel in range(1, 20_000, 2))
    fits = {fit.key: fit for fit in metrics.suggest(f"id,y\n1,{mask}\n2,3 4\n3,5 6\n".encode())}
    assert next(iter(fits)) == "dice"
    assert not fits["levenshtein"].fits
    assert "lines of at most 65,536 bytes" in fits["levenshtein"].reason


@pytest.mark.parametrize("key", ["rmse", "accuracy", "multilabel_f1", "word_jaccard", "map_at_k"])
def test_other_cells_are_as_long_as_they_were(key: str) -> None:
    said = b"id,y\n1," + b"7 " * 40_000 + b"\n2,1\n"
    with pytest.raises(metrics.SubmissionError, match="Line 2 is longer than 65,536 bytes"):
        metrics.evaluate(key, b"id,y\n1,1\n2,2\n", said)
    assert metrics.sniff(said, len(said), ["id", "y"])[0].code == "long_line"
