"""Which rows cost several files most, for every metric that knows; and answers put right one by one."""

import numpy as np
import pytest

import metrics
from metrics.checks.hardest_rows import HardRow, HardRows, find_hardest_rows
from metrics.checks.splits import correct_answers

TRUTH = "id,label,Usage\n" + "".join(
    f"{i},{'cat' if i % 3 else 'dog'},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 13)
)


def answers(wrong: int = 0) -> bytes:
    """A perfect file but for the first ``wrong`` public rows."""
    missed = range(1, 2 * wrong, 2)
    rows = "".join(f"{i},{'bird' if i in missed else 'cat' if i % 3 else 'dog'}\n" for i in range(1, 13))
    return f"id,label\n{rows}".encode()


BIRD = answers().replace(b"4,cat", b"4,bird")
WHOLE = [metric for metric in metrics.catalogue() if metric.computation.is_whole]


def hardest(metric: metrics.Metric, submission: bytes) -> HardRows:
    example = metric.example
    return find_hardest_rows(metric.key, example.truth.encode(), [submission], example.params)


@pytest.mark.parametrize("metric", metrics.catalogue(), ids=lambda metric: metric.key)
def test_every_metric_names_rows_or_says_why_not(metric: metrics.Metric) -> None:
    found = hardest(metric, metric.example.submission.encode())
    assert bool(found.reason) != bool(found.rows)
    assert all(row.lost > 0 for row in found.rows)
    assert [row.lost for row in found.rows] == sorted((row.lost for row in found.rows), reverse=True)
    if metric in WHOLE:
        assert found.reason


@pytest.mark.parametrize("metric", metrics.catalogue(), ids=lambda metric: metric.key)
def test_a_perfect_file_loses_no_row(metric: metrics.Metric) -> None:
    perfect = metrics.prepare(metric.key, metric.example.truth.encode(), metric.example.params).perfect_submission()
    assert hardest(metric, perfect).rows == ()


def test_what_rows_cost_adds_up_to_what_the_score_lacks() -> None:
    found = find_hardest_rows("accuracy", TRUTH.encode(), [BIRD, answers(3)])
    assert sum(row.lost for row in found.rows) == pytest.approx((1 / 12 + 3 / 12) / 2)


def test_a_file_that_cannot_be_read_is_left_out() -> None:
    found = find_hardest_rows("accuracy", TRUTH.encode(), [b"nonsense", BIRD])
    assert (found.files, [row.id for row in found.rows]) == (1, ["4"])


def test_an_unknown_id_corrects_nothing() -> None:
    with pytest.raises(metrics.GroundTruthError, match="no row with the id"):
        correct_answers(TRUTH.encode(), {"99": ["cat"]}, [], ["label"])
    with pytest.raises(metrics.GroundTruthError, match="no Usage column"):
        correct_answers(b"id,y\n1,2\n", {}, ["1"], ["y"])


# --- outliers ---------------------------------------------------------------------------------------------------


def numbers(count: int, typed: dict[int, float], *, noise: str = "normal", seed: int = 1) -> tuple[bytes, list[bytes]]:
    """A truth with some answers mistyped, and three files that know the right ones but for noise."""
    dice = np.random.default_rng(seed)
    right = dice.gamma(2.0, 100.0, count)
    common = {
        "normal": dice.normal(0, 10, count),
        "laplace": dice.laplace(0, 10, count),
        "growing": dice.normal(0, 1, count) * right / 5,
        "none": np.zeros(count),
    }[noise]
    cells = [typed.get(place, value) for place, value in enumerate(right)]
    rows = (
        f"{place},{value!r},{'Public' if place % 2 else 'Private'}\n" for place, value in enumerate(map(float, cells))
    )
    truth = "id,y,Usage\n" + "".join(rows)
    own = [right + common + dice.normal(0, 0 if noise == "none" else 3, count) for _file in range(3)]
    files = ["id,y\n" + "".join(f"{place},{value:.6f}\n" for place, value in enumerate(file)) for file in own]
    return truth.encode(), [file.encode() for file in files]


def outliers(truth: bytes, files: list[bytes], metric: str = "mae") -> list[HardRow]:
    residuals = find_hardest_rows(metric, truth, files).residuals
    assert residuals is not None
    return list(residuals.outliers)


@pytest.mark.parametrize("noise", ["normal", "laplace", "none"])
@pytest.mark.parametrize("metric", ["mae", "median_absolute_error"])
def test_answers_that_all_files_miss_by_far_are_outliers(noise: str, metric: str) -> None:
    """Also where the metric is computed on whole columns."""
    truth, files = numbers(600, {7: 4000.0, 120: -900.0}, noise=noise)
    found = outliers(truth, files, metric)
    assert [row.id for row in found] == ["7", "120"]
    assert found[0].off > found[1].off > 6
    assert found[0].truth == ("4000.0",)


@pytest.mark.parametrize("noise", ["normal", "laplace", "growing", "none"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_long_tail_and_large_values_are_no_outliers(noise: str, seed: int) -> None:
    assert len(outliers(*numbers(2000, {}, noise=noise, seed=seed))) <= 1


def test_what_one_file_gets_right_is_no_outlier() -> None:
    truth, files = numbers(600, {7: 4000.0})
    lines = files[0].decode().split("\n")
    lines[8] = "7,4000"
    assert outliers(truth, ["\n".join(lines).encode(), *files[1:]]) == []


def test_too_few_files_or_rows_say_nothing() -> None:
    truth, files = numbers(600, {7: 4000.0})
    assert find_hardest_rows("mae", truth, files[:1]).residuals is None
    truth, files = numbers(10, {7: 4000.0})
    assert find_hardest_rows("mae", truth, files).residuals is None
    assert find_hardest_rows("accuracy", TRUTH.encode(), [BIRD, BIRD]).residuals is None
