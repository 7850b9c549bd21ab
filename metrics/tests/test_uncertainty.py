"""The doubt about a score is what drawing the rows again would show, and two files are compared row by row."""

import math
import random

import numpy as np
import pytest

import metrics
from metrics.core import evaluate
from metrics.core.arrays import take
from metrics.core.buckets import buckets_of, hashes_of
from metrics.core.evaluate import value_of
from metrics.core.uncertainty import Part
from metrics.tests.worlds import world


def redrawn(key: str, rows: int, seed: int = 3, draws: int = 300) -> tuple[metrics.Uncertainty, float]:
    """The claimed doubt, and the spread of the score over rows drawn again, the plain way."""
    found = world(metrics.get(key), seed, rows=rows, split=False)
    truth = metrics.prepare(key, found.truth_csv())
    prediction, _, _ = truth.read_submission(found.submission_csv())
    claimed = truth.evaluate(found.submission_csv(), uncertainty=True).uncertainty["overall"]
    dice = np.random.default_rng(seed)
    whole = Part(None, lambda: truth.answers, lambda: prediction)
    values = [value_of(truth, whole.cut(dice.integers(0, rows, rows))) for _ in range(draws)]
    return claimed, float(np.std([value for value in values if value is not None]))


@pytest.mark.parametrize(
    "key", ["accuracy", "rmse", "roc_auc", "global_average_precision", "survival_concordance", "coleridge_fbeta"]
)
def test_the_standard_error_is_the_spread_over_rows_drawn_again(key: str) -> None:
    claimed, spread = redrawn(key, rows=300)
    assert claimed.standard_error == pytest.approx(spread, rel=0.25)
    assert np.std(claimed.replicates) == pytest.approx(spread, rel=0.3)


def test_buckets_of_many_rows_tell_the_same() -> None:
    claimed, spread = redrawn("mae", rows=3000)
    assert claimed.standard_error == pytest.approx(spread, rel=0.25)


def test_the_area_under_the_curve_has_the_standard_error_of_delong() -> None:
    found = world(metrics.get("roc_auc"), 8, rows=80, split=False)
    truth = metrics.prepare("roc_auc", found.truth_csv())
    prediction, _, _ = truth.read_submission(found.submission_csv())
    ups, downs = prediction[truth.target == 1], prediction[truth.target == 0]
    wins = np.array([[(up > down) + 0.5 * (up == down) for down in downs] for up in ups])
    expected = math.sqrt(wins.mean(axis=1).var(ddof=1) / len(ups) + wins.mean(axis=0).var(ddof=1) / len(downs))
    doubt = truth.evaluate(found.submission_csv(), uncertainty=True).uncertainty["overall"]
    assert doubt.standard_error == pytest.approx(expected, rel=1e-12)


def sent(rows: int, wrong: set[int]) -> bytes:
    return "".join(["id,y\n", *(f"{row},{'b' if row in wrong else 'a'}\n" for row in range(rows))]).encode()


def test_bos_file_is_surely_better_when_it_is_better_on_the_same_rows() -> None:
    truth = metrics.prepare("accuracy", sent(1000, set()))
    bo, cy, dee = (
        truth.evaluate(sent(1000, set(wrong)), uncertainty=True) for wrong in (range(300), range(310), range(690, 1000))
    )
    nested = metrics.compare(bo, cy)
    assert nested.difference == pytest.approx(0.01)
    assert nested.probability > 0.99
    assert nested.low > 0
    # Dee is wrong as often as Cy, but on other rows: that tells much less.
    apart = metrics.compare(bo, dee)
    assert apart.probability < 0.85
    assert apart.low < 0 < apart.high


def test_lower_is_better_where_the_metric_says_so() -> None:
    truth = metrics.prepare("mae", b"id,y\n1,0\n2,0\n3,0\n")
    good, bad = (
        truth.evaluate(f"id,y\n1,{value}\n2,{value}\n3,{value}\n".encode(), uncertainty=True) for value in (1, 2)
    )
    assert metrics.compare(good, bad).probability == 1.0
    assert metrics.compare(good, bad).difference == -1.0


def test_rows_that_sum_to_more_than_one_do_not_beat_the_best_value() -> None:
    truth, said = b"id,a,b\n1,0.5,0.5\n2,0.25,0.75\n", b"id,a,b\n1,0.5005,0.5005\n2,0.2504,0.7504\n"
    result = metrics.prepare("kl_divergence", truth, {"normalise": False}).evaluate(said, uncertainty=True)
    doubt = result.uncertainty["overall"]
    assert result.overall == doubt.low == 0.0
    assert doubt.high >= 0.0


def test_one_row_says_nothing_about_others() -> None:
    doubt = (
        metrics.prepare("accuracy", b"id,y\n1,a\n").evaluate(b"id,y\n1,a\n", uncertainty=True).uncertainty["overall"]
    )
    assert (doubt.standard_error, doubt.low, doubt.high) == (None, 0.0, 1.0)


def test_rows_are_dealt_by_their_ids_alone() -> None:
    import pyarrow as pa

    ids = [f"row {number}" for number in range(2500)] + ["", "ü", "a" * 5000]
    shuffled = random.Random(1).sample(ids, len(ids))
    first, second = (dict(zip(some, hashes_of(pa.array(some)).tolist(), strict=True)) for some in (ids, shuffled))
    assert first == second
    assert len(set(first.values())) == len(ids)
    buckets = buckets_of(hashes_of(pa.array(ids)))
    assert len(buckets.starts) == 1000
    assert set(np.diff([*buckets.starts, len(ids)])) == {2, 3}
    assert sorted(buckets.order.tolist()) == list(range(len(ids)))
    assert take(np.arange(len(ids)), buckets.order).sum() == sum(range(len(ids)))


LABELLED = [("global_average_precision", "{} {}"), ("average_precision", "{1}")]


def uncertainty_of_many(key: str, cell: str, share: float, monkeypatch: pytest.MonkeyPatch, most: int) -> list[float]:
    """The standard errors of all rows and of both parts of 12,000 rows, of which a share can be found."""
    monkeypatch.setattr(evaluate, "MAX_INFLUENCES", most)
    monkeypatch.setattr(evaluate, "FIRST_BUCKETS", buckets_of(np.arange(most, dtype=np.uint64)))
    dice = np.random.default_rng(8)
    found, scores = dice.random(12_000) < share, dice.random(12_000)
    is_gap = key == "global_average_precision"
    truth, said = ["id,y,Usage"], ["id,y"]
    for row, (is_there, score) in enumerate(zip(found.tolist(), scores.tolist(), strict=True)):
        answer = ("a" if is_there else "") if is_gap else int(is_there)
        truth.append(f"{row},{answer},{'Public' if row % 5 else 'Private'}")
        said.append(f"{row},{cell.format('a' if row % 3 else 'b', (score + is_there) / 2)}")
    result = metrics.prepare(key, "\n".join(truth).encode()).evaluate("\n".join(said).encode(), uncertainty=True)
    return [one.standard_error or math.nan for one in result.uncertainty.values()]


@pytest.mark.parametrize(("key", "cell"), LABELLED)
def test_some_rows_of_many_say_how_sure_a_score_is(key: str, cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = uncertainty_of_many(key, cell, 0.4, monkeypatch, 100_000)
    some = uncertainty_of_many(key, cell, 0.4, monkeypatch, 4000)
    assert some == pytest.approx(every, rel=0.05)
    assert some[0] != every[0]


@pytest.mark.parametrize(("key", "cell"), LABELLED)
def test_all_rows_are_asked_where_few_can_be_found(key: str, cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = uncertainty_of_many(key, cell, 0.02, monkeypatch, 100_000)
    assert uncertainty_of_many(key, cell, 0.02, monkeypatch, 4000) == every
