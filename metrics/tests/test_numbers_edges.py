"""What metrics of numbers refuse, what they say at the ends of their domains, and what a heavier row does to them."""

import math
from typing import Any

import numpy as np
import pytest

import metrics
from metrics.core.explanation import rows_csv
from metrics.core.figures import Grid
from metrics.tests.number_files import csv, faults, refusals, score

RANKED = ("pearson", "spearman", "kendall_tau", "columnwise_spearman")


@pytest.mark.parametrize("key", RANKED)
def test_bos_constant_is_no_correlation(key: str) -> None:
    assert score(key, [1, 2, 3], [0.1, 0.1, 0.1]) == 0.0
    assert score(key, [1, 2, 3], [3, 2, 1]) == -1.0
    assert score(key, [0.1, 0.7, 0.3], [0.2, 1.4, 0.6]) == 1.0


@pytest.mark.parametrize("key", [*RANKED, "r2", "explained_variance"])
@pytest.mark.parametrize("answers", [[5, 5, 5], [5]])
def test_ada_is_told_that_equal_answers_cannot_be_scored(key: str, answers: list[float]) -> None:
    (fault,) = faults(key, {"y": answers})
    assert fault.code == "unscorable"
    assert "its answers are 5; at least two different ones are needed" in fault.message


def test_ada_is_told_which_column_is_constant_and_that_differences_vanish() -> None:
    (fault,) = faults("columnwise_spearman", {"a": [1, 2], "b": [3, 3]})
    assert "in target column 2 all its answers are 3" in fault.message
    (fault,) = faults("r2", {"y": [1e-200, 2e-200]})
    assert "differ so little" in fault.message


@pytest.mark.parametrize(
    ("key", "params", "answer", "words"),
    [
        ("rmsle", {}, -0.5, "below 0"),
        ("columnwise_rmsle", {}, -1, "below 0"),
        ("poisson_deviance", {}, -2, "below 0"),
        ("tweedie_deviance", {}, -2, "below 0"),
        ("gamma_deviance", {}, 0, "not above 0"),
        ("tweedie_deviance", {"power": 2}, 0, "needs a power below 2"),
        ("rmsle", {"offset": 0}, 0, "has no logarithm"),
        ("columnwise_rmsle", {"offset": 0}, 0, "has no logarithm"),
        ("mape", {}, 0, "in per cent of 0 is endless"),
    ],
)
def test_numbers_out_of_the_domain_are_refused_on_both_sides(
    key: str, params: dict[str, Any], answer: float, words: str
) -> None:
    (fault,) = faults(key, {"y": [1, answer, 2]}, **params)
    assert words in fault.message
    if key == "mape":
        assert score(key, [1, 2], [0, 0]) == 1.0
        return
    (problem,) = refusals(key, {"y": [1, 3, 2]}, {"y": [1, answer, 2]}, **params)
    assert (problem.code, problem.line, problem.id, problem.column, problem.count) == ("too_small", 3, "1", "y", 1)


def test_bo_is_told_which_places_are_not_on_the_globe() -> None:
    truth = {"latitude": [1, 2], "longitude": [3, 4]}
    high, east = refusals("mean_haversine", truth, {"latitude": [91, 2], "longitude": [3, 361]})
    assert "above 90" in high.message
    assert "line 2" in high.message
    assert "above 360" in east.message
    assert "line 3" in east.message
    (missing,) = refusals("mean_haversine", truth, {"latitude": [1, 2]})
    assert missing.column == "longitude"
    (fault,) = faults("mean_haversine", {"latitude": [1, 2]})
    assert "2 target columns (latitude, longitude)" in fault.message


def test_bo_needs_a_confidence_and_it_is_not_negative() -> None:
    (missing,) = refusals("laplace_log_likelihood", {"y": [1]}, {"y": [1]})
    assert missing.column == "sigma"
    (negative,) = refusals("laplace_log_likelihood", {"y": [1]}, {"y": [1], "sigma": [-1]})
    assert "below 0" in negative.message


def test_ada_is_told_when_no_row_has_a_weight() -> None:
    (fault,) = faults("weighted_mae", {"y": [1, 2], "weight": [0, 0]})
    assert "all its weights are 0" in fault.message
    (fault,) = faults("weighted_mae", {"y": [1, 2], "weight": [1, -1]})
    assert "below 0" in fault.message


@pytest.mark.parametrize(
    "key", ["mse", "r2", "explained_variance", "columnwise_rmse", "smape", "max_error", "weighted_mae"]
)
def test_endless_scores_are_refused_and_never_shown(key: str) -> None:
    truth = {"y": ["1", "5", "2"]}
    if key == "weighted_mae":
        truth["weight"] = ["1", "1", "1"]
    for huge in ("1.01e100", "1e200", "1e308"):
        (problem,) = refusals(key, truth, {"y": ["1", f"-{huge}", "3"]})
        assert (problem.code, problem.line, problem.count) == ("too_large_values", 3, 1)
        (fault,) = faults(key, {**truth, "y": ["1", huge, "2"]})
        assert fault.code == "too_large_values"
    prepared = metrics.prepare(key, csv(truth))
    assert math.isfinite(prepared.evaluate(csv({"y": ["1", "-1e100", "1e100"]})).overall)


@pytest.mark.parametrize(
    ("key", "small"),
    [
        ("mape", "1e-51"),
        ("rmspe", "-1e-51"),
        ("gamma_deviance", "1e-101"),
        ("poisson_deviance", "5e-324"),
        ("tweedie_deviance", "1e-200"),
    ],
)
def test_ada_is_told_of_answers_too_near_0_to_divide_by(key: str, small: str) -> None:
    (fault,) = faults(key, {"y": ["1", small]})
    assert "nearer to 0 than" in fault.message


@pytest.mark.parametrize("key", ["gamma_deviance", "poisson_deviance", "tweedie_deviance"])
def test_a_prediction_next_to_nothing_counts_as_1e_100(key: str) -> None:
    assert score(key, [2, 1], [1, 1e-100]) == score(key, [2, 1], [1, 5e-324]) < math.inf


@pytest.mark.parametrize("params", [{}, {"floor": 1e-3}, {"floor": 7.25}])
def test_the_best_value_follows_the_floor(params: dict[str, float]) -> None:
    truth = csv({"y": [1, 2, 3, 4], "group": ["a", "a", "b", "c"], "Usage": ["Public", "Private"] * 2})
    report = metrics.check_truth("log_mae_by_group", truth, params)
    assert report.ok
    assert report.self_test["public"] == report.self_test["best"] == math.log(params.get("floor", 1e-9))


@pytest.mark.parametrize("sigma", [70.0, 1.0, 3e-5])
def test_the_best_value_follows_the_smallest_sigma(sigma: float) -> None:
    truth = csv({"y": [0.1, -2, 3e5] * 7})
    report = metrics.check_truth("laplace_log_likelihood", truth, {"sigma_minimum": sigma})
    assert report.ok
    assert report.self_test["overall"] == pytest.approx(-math.log(math.sqrt(2) * sigma), rel=1e-15)
    prepared = metrics.prepare("laplace_log_likelihood", truth, {"sigma_minimum": sigma})
    doubt = prepared.evaluate(prepared.perfect_submission(), uncertainty=True).uncertainty["overall"]
    assert doubt.low == doubt.high == report.self_test["best"]


def test_zeros_cost_much_and_are_never_endless() -> None:
    assert score("poisson_deviance", [0, 0], [0, 3]) == 3.0
    assert score("poisson_deviance", [1], [0]) == pytest.approx(2 * (100 * math.log(10) - 1), rel=1e-12)
    assert score("tweedie_deviance", [0], [4]) == 8.0
    assert score("tweedie_deviance", [1], [0]) == pytest.approx(4e50, rel=1e-12)
    assert score("tweedie_deviance", [0, 1], [0, 1], power=1.99) == 0.0
    assert score("smape", [0, 0], [0, 5]) == 100.0
    assert score("rmsle", [0], [0]) == 0.0


def test_the_middle_of_errors_is_shown_in_its_row() -> None:
    told = metrics.explain("median_absolute_error", csv({"y": [0, 0, 0, 0]}), csv({"y": [4, 100, 1, 2]}))
    assert told.contributions == [(4, 4, 1), (100, 0, 0), (1, 0, 0), (2, 2, 1)]
    assert told.worked == "6 / 2"
    told = metrics.explain("max_error", csv({"y": [0, 0, 0]}), csv({"y": [7, -7, 1]}))
    assert told.contributions == [(7, 7, 1), (7, 0, 0), (1, 0, 0)]


def test_the_largest_of_enormous_errors_is_shown() -> None:
    truth, said = csv({"y": [0, 0]}), csv({"y": [5e99, -1e100]})
    told = metrics.explain("max_error", truth, said)
    assert told.result.overall == 1e100
    assert told.sums == {"absolute_error": 1.5000000000000001e100, "largest_error": 1e100, "largest": 1}
    assert told.worked == "1e+100 / 1"
    assert b"5e+99" in rows_csv(metrics.prepare("max_error", truth), said)


def test_a_table_shows_each_column_and_each_group() -> None:
    truth, said = {"a": [1, 2], "b": [3, 0]}, {"a": [2, 3], "b": [3, 0]}
    for key, scores in (("columnwise_rmse", [[1.0], [0.0], [0.5]]), ("columnwise_spearman", [[1.0], [1.0], [1.0]])):
        (grid,) = metrics.explain(key, csv(truth), csv(said)).figures
        assert isinstance(grid, Grid)
        assert grid.rows == ["target column 1", "target column 2", "mean"]
        assert grid.cells == scores
    grouped: dict[str, list[Any]] = {"y": [1, 2, 3], "group": ["b", "a", "b"]}
    (grid,) = metrics.explain("log_mae_by_group", csv(grouped), csv({"y": [2, 3, 6]})).figures
    assert isinstance(grid, Grid)
    assert dict(zip(grid.rows, grid.cells, strict=True)) == {"b": [2, 2, math.log(2)], "a": [1, 1, 0]}


def test_groups_named_by_numbers_are_compared_as_numbers() -> None:
    def told(groups: list[str]) -> metrics.Explanation:
        return metrics.explain("log_mae_by_group", csv({"y": [1, 2, 3], "group": groups}), csv({"y": [2, 4, 6]}))

    texts, digits = told(["1", "x", "1.0"]), told(["1", "2", "1.0"])
    assert [len(one.figures[0].rows) for one in (texts, digits) if isinstance(one.figures[0], Grid)] == [2, 2]
    assert digits.result.overall == math.log(2)


@pytest.mark.parametrize(
    ("key", "params"),
    [
        ("rmsle", {"offset": 0}),
        ("columnwise_rmsle", {"offset": 0}),
        ("tweedie_deviance", {"power": 2}),
        ("tweedie_deviance", {"power": 3}),
    ],
)
def test_the_sample_is_valid_where_nothing_can_be_0(key: str, params: dict[str, float]) -> None:
    truth = metrics.prepare(key, b"id,y,Usage\n1,2,Public\n2,3,Private\n3,4,Ignored\n", params)
    assert truth.evaluate(truth.sample_submission()).overall > 0
    assert truth.evaluate(truth.perfect_submission()).overall == 0


def test_large_answers_lose_nothing_when_small_predictions_are_subtracted() -> None:
    truth, said = [1e16, 1e16 + 2, 1e16 + 4, 1e16 + 6], [1.0, 0.0, 2.0, 1.0]
    errors = [1, -2, -2, -5]  # beside 1e16
    left = sum((error + 2) ** 2 for error in errors)
    assert score("explained_variance", truth, said) == pytest.approx(1 - left / 20, rel=1e-12)


def test_a_column_called_sigma_can_be_predicted_too() -> None:
    truth = metrics.prepare("laplace_log_likelihood", csv({"sigma": [1, 2]}))
    assert truth.submission_columns == ("id", "sigma", "Confidence")
    signal = metrics.prepare("laplace_log_likelihood", csv({"signal": [5000.0]}))
    for name in ("sigma", "Confidence"):
        assert signal.evaluate(csv({"signal": [5000], name: [99]})).overall == -math.log(math.sqrt(2) * 70) - math.log(
            99 / 70
        )


ONE_ROW = {
    "mse": 4.0,
    "median_absolute_error": 2.0,
    "max_error": 2.0,
    "rmsle": math.log(2),
    "mape": 2.0,
    "smape": 100.0,
    "pinball": 1.0,
    "poisson_deviance": 2 * (2 - math.log(3)),
    "gamma_deviance": 2 * (math.log(3) - 2 / 3),
    "columnwise_rmse": 2.0,
    "columnwise_rmsle": math.log(2),
}


@pytest.mark.parametrize("key", ONE_ROW)
def test_a_single_row_scores_its_own_error(key: str) -> None:
    assert score(key, [1], [3]) == pytest.approx(ONE_ROW[key], rel=1e-15)


def test_the_largest_error_varies_by_the_distance_to_the_second() -> None:
    truth = metrics.prepare("max_error", csv({"y": [0, 0, 0, 0]}))
    doubt = truth.evaluate(csv({"y": [3, 1, -10, 2]}), uncertainty=True).uncertainty["overall"]
    assert doubt.standard_error == 7.0


WITH_INFLUENCE = ("r2", "explained_variance", *RANKED, "log_mae_by_group")


@pytest.mark.parametrize("key", WITH_INFLUENCE)
def test_a_constant_or_perfect_file_has_no_endless_doubt(key: str) -> None:
    roles: dict[str, Any] = {"group": ["a", "b", "a"]} if metrics.get(key).roles else {}
    truth = metrics.prepare(key, csv({"y": [1, 2, 4], **roles}))
    for guesses in ([0, 0, 0], [1, 2, 4]):
        doubt = truth.evaluate(csv({"y": guesses}), uncertainty=True).uncertainty["overall"]
        assert doubt.standard_error is not None
        assert math.isfinite(doubt.standard_error)


@pytest.mark.parametrize("key", ["mse", "pinball", "max_error", "median_absolute_error"])
def test_huge_errors_have_a_value_and_no_endless_doubt(key: str) -> None:
    truth = metrics.prepare(key, csv({"y": [0, 1, 2]}))
    doubt = truth.evaluate(csv({"y": ["1e100", 1, "-1e100"]}), uncertainty=True).uncertainty["overall"]
    if key == "mse":
        assert (doubt.standard_error, doubt.low, doubt.high) == (None, 0.0, math.inf)
    else:
        assert math.isfinite(doubt.high - doubt.low)
    assert np.isfinite(doubt.replicates).all()
