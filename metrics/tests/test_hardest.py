"""Which rows cost several files most, for every metric that knows; and answers put right one by one."""

from __future__ import annotations

import pytest

import metrics
from metrics.checks.several_files import HardRows, find_hardest_rows
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
