"""Ada weighs several metrics into one score, and each part is what it would be alone."""

import dataclasses
import json
import math
import random

import numpy as np
import pytest

import metrics
from metrics.core.figures import Grid
from metrics.tests.worlds import world

PLAIN = [metric for metric in metrics.catalogue() if not metric.is_composite]
composites = {"maximize": "composite_score", "minimize": "composite_error"}


def line_of(metric: metrics.Metric, weight: float = 1) -> str:
    return f"{weight} {metric.key}"


@pytest.mark.thorough
@pytest.mark.parametrize("metric", PLAIN, ids=lambda metric: metric.key)
def test_a_composite_of_one_metric_is_that_metric_to_the_last_bit(metric: metrics.Metric) -> None:
    found = world(metric, 1)
    alone = metrics.evaluate(metric.key, found.truth_csv(), found.submission_csv())
    key = composites[metric.direction]
    truth = metrics.prepare(key, found.truth_csv(), {"parts": line_of(metric)})
    together = truth.evaluate(found.submission_csv())
    assert (together.overall, together.public, together.private) == (alone.overall, alone.public, alone.private)
    best = truth.evaluate(truth.perfect_submission())
    assert (best.overall, best.public, best.private) == (metric.best,) * 3
    other = metrics.evaluate(
        composites["minimize" if metric.direction == "maximize" else "maximize"],
        found.truth_csv(random.Random(3)),
        found.submission_csv(random.Random(4)),
        {"parts": line_of(metric, -2)},
    )
    assert alone.private is not None
    assert other.private == -alone.private + 0.0


TRUTH = b"id,kind,price,w,Usage\n" + b"".join(
    f"{row},{'ab'[row % 2]},{row * 3 % 7 + 1},{row % 3 + 1},{'Public' if row % 5 else 'Private'}\n".encode()
    for row in range(40)
)
SENT = b"id,kind,price\n" + b"".join(
    f"{row},{'ab'[row % 3 % 2]},{row * 3 % 7 + row % 4}\n".encode() for row in range(40)
)
PARTS = '3 balanced_accuracy kind\n-0.5 weighted_mae "price" weight=w\n\n2 r2 price'


def part_of(key: str, columns: list[int], params: dict[str, object] | None = None) -> metrics.Result:
    truth, sent = (
        b"".join(b",".join(line.split(b",")[place] for place in places) + b"\n" for line in text.splitlines())
        for text, places in (
            (TRUTH, [0, *columns, 4]),
            (SENT, [0, *(place for place in columns if place < 3)]),
        )
    )
    return metrics.evaluate(key, truth, sent, params)


@pytest.mark.parametrize(("combine", "under"), [("sum", 1.0), ("mean", 5.5)])
def test_weights_signs_and_columns_are_those_that_ada_wrote(combine: str, under: float) -> None:
    params = {"parts": PARTS, "combine": combine}
    result = metrics.evaluate("composite_score", TRUTH, SENT, params)
    labels, wmae, r2 = (
        part_of("balanced_accuracy", [1]),
        part_of("weighted_mae", [2, 3], {"weight": "w"}),
        part_of("r2", [2]),
    )
    for split in ("overall", "public", "private"):
        one, two, three = (getattr(part, split) for part in (labels, wmae, r2))
        assert getattr(result, split) == pytest.approx((3 * one - 0.5 * two + 2 * three) / under, rel=1e-12)
    truth = metrics.prepare("composite_score", TRUTH, params)
    assert truth.submission_columns == ("id", "kind", "price")
    assert metrics.check_truth("composite_score", TRUTH, params).ok
    assert truth.evaluate(truth.perfect_submission()).overall == 5 / under


def test_a_star_is_the_mean_over_the_columns() -> None:
    truth, sent = b"id,a,b,c\n1,1,2,9\n2,3,4,5\n3,1,1,2\n", b"id,a,b,c\n1,1,4,9\n2,3,5,6\n3,2,3,1\n"
    of_each = [metrics.evaluate("rmse", _columns(truth, place), _columns(sent, place)).overall for place in (1, 2, 3)]
    for params in ({"parts": "2 rmse *"}, {"parts": "1 columnwise_rmse"}):
        assert metrics.evaluate("composite_error", truth, sent, params).overall == pytest.approx(np.mean(of_each))
    mixed = metrics.evaluate("composite_error", truth, sent, {"parts": "2 rmse *; 1 mae b", "combine": "sum"}).overall
    assert mixed == pytest.approx(2 * np.mean(of_each) + 5 / 3)


def _columns(text: bytes, place: int) -> bytes:
    return b"".join(line.split(b",")[0] + b"," + line.split(b",")[place] + b"\n" for line in text.splitlines())


def test_the_explanation_shows_each_part_its_weight_and_its_value() -> None:
    told = metrics.explain("composite_score", TRUTH, SENT, {"parts": PARTS})
    (grid,) = told.figures
    assert isinstance(grid, Grid)
    assert grid.rows == ["balanced_accuracy kind", "weighted_mae price weight=w", "r2 price", "all"]
    *parts, (_, _, total) = grid.cells
    assert [row[0] for row in parts] == [3, -0.5, 2]
    assert math.fsum(float(row[2]) for row in parts) == pytest.approx(total)
    assert total == told.result.overall


SURE = [("accuracy", "1 accuracy; 3 accuracy", 0.15), ("roc_auc", "1 roc_auc; 3 roc_auc", 0.01)]
SURE += [("weighted_gini", "1 weighted_gini; 3 weighted_gini", 0.2), ("spearman", "2 spearman", 0.01)]


@pytest.mark.thorough
@pytest.mark.parametrize(("key", "parts", "near"), SURE)
def test_the_uncertainty_of_a_mean_of_one_metric_is_that_of_the_metric(key: str, parts: str, near: float) -> None:
    found = world(metrics.get(key), 2, rows=200)
    alone, together = (
        metrics.prepare(name, found.truth_csv(), params).evaluate(found.submission_csv(), uncertainty=True)
        for name, params in ((key, {}), ("composite_score", {"parts": parts}))
    )
    assert together.uncertainty["private"].standard_error == pytest.approx(
        alone.uncertainty["private"].standard_error, rel=near
    )


FAULTS = [
    ("", "A value is needed"),
    ("accuracy y", '"accuracy" is not a weight'),
    ("1", "The metric is missing"),
    ("1 acuracy y", 'No built-in metric is called "acuracy"'),
    ("1 rmse y", "Lower values of rmse are better: its weight must be less than 0"),
    ("-1 accuracy y", "more than 0"),
    ("0 accuracy y", "is not a weight"),
    ("nan accuracy y", "is not a weight"),
    ("1 accuracy a b", "accuracy reads 1 column"),
    ("1 fbeta y beta=-1", "beta: Must be"),
    ("1 fbeta y gamma=2", 'fbeta reads 1 column, not "y", "gamma=2"'),
    ("1 composite_score y", "composite itself"),
    ('1 accuracy "y', "quotation mark"),
    ("1 accuracy y\n" * 31, "at most 30"),
]


@pytest.mark.parametrize(("parts", "words"), FAULTS)
def test_ada_is_told_which_part_is_wrong(parts: str, words: str) -> None:
    with pytest.raises(metrics.ParameterError) as caught:
        metrics.clean_params("composite_score", {"parts": parts})
    assert list(caught.value.errors) == ["parts"]
    assert words in caught.value.errors["parts"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ("1 accuracy shape", 'reads the column "shape", and the file has "kind", "price", "w"'),
        ("1 accuracy", "reads 1 target column"),
        ("-1 weighted_mae price weight=height", 'the column "height"'),
        ("1 binary_f1 price", 'of "price" are neither 0 nor 1'),
    ],
)
def test_ada_is_told_where_her_file_does_not_fit_a_part(parts: str, words: str) -> None:
    report = metrics.check_truth("composite_score", TRUTH, {"parts": parts})
    assert not report.ok
    assert any(words in finding.message for finding in report.findings)
    with pytest.raises(metrics.GroundTruthError):
        metrics.prepare("composite_score", TRUTH, {"parts": parts})


def test_ada_is_told_that_no_column_is_left_for_a_star() -> None:
    with pytest.raises(metrics.GroundTruthError, match="No target column is left"):
        metrics.prepare("composite_error", b"id,w\n1,1\n2,2\n", {"parts": "1 weighted_mae * weight=w"})


def test_bo_is_told_each_fault_once_even_where_two_parts_read_the_column() -> None:
    truth = metrics.prepare("composite_error", TRUTH, {"parts": "1 mae price; 1 rmse price; 1 error_rate kind"})
    with pytest.raises(metrics.SubmissionError) as caught:
        truth.evaluate(SENT.replace(b"0,a,0\n", b"0,a,much\n", 1).replace(b"1,b,4", b"1,,4", 1))
    assert sorted(problem.column or "" for problem in caught.value.problems) == ["kind", "price"]
    with pytest.raises(metrics.SubmissionError, match='"price" is missing'):
        truth.evaluate(b"id,kind\n" + b"".join(b"%d,a\n" % row for row in range(40)))


def test_a_composite_is_a_secondary_metric_and_takes_one_beside_it() -> None:
    params = {"parts": "1 accuracy *"}
    truth = metrics.prepare("accuracy", b"id,y\n1,a\n2,b\n", secondary=[("composite_score", params)])
    assert truth.evaluate(b"id,y\n1,a\n2,a\n").secondary[0].overall == 0.5
    truth = metrics.prepare("composite_score", b"id,y\n1,a\n2,b\n", params, secondary=[("error_rate", {})])
    assert truth.evaluate(b"id,y\n1,a\n2,a\n").secondary[0].overall == 0.5


def test_parts_and_their_report_are_plain_json() -> None:
    params = metrics.clean_params("composite_score", {"parts": PARTS})
    assert json.loads(json.dumps(params)) == params
    report = metrics.check_truth("composite_score", TRUTH, params)
    json.dumps(dataclasses.asdict(report))
    assert report.self_test["passed"]
