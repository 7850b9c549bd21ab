"""Ada's mean over queries or shops is the mean of what the metric says of each of them alone."""

import math
import random

import numpy as np
import pytest

import metrics
from metrics.core.figures import Grid
from metrics.tests.worlds import World, world

KEYS = {"maximize": "mean_score_by_group", "minimize": "mean_error_by_group"}
PLAIN = [metric for metric in metrics.catalogue() if not metric.is_composite and "group" not in metric.roles]


def alone(metric: metrics.Metric, found: World, group: str, groups: dict[str, str]) -> float | None:
    """The metric of one group, as if it were the file; ``None`` if it cannot be scored."""
    truth, sent = ([row for row in rows if groups[row[0]] == group] for rows in (found.truth, found.submission))
    part = World(found.header, truth, found.submission_header, sent)
    try:
        return metrics.evaluate(metric.key, part.truth_csv(), part.submission_csv()).overall
    except metrics.GroundTruthError:
        return None


@pytest.mark.thorough
@pytest.mark.parametrize("metric", PLAIN, ids=lambda metric: metric.key)
def test_it_is_the_mean_of_what_each_group_scores_alone(metric: metrics.Metric) -> None:
    found, dice = world(metric, 1, rows=60, split=False), random.Random(2)
    groups = {row[0]: dice.choice("abc") for row in found.truth}
    # A column of classes makes the columns of a submission, so it has all of them in each group.
    scores = {} if callable(metric.format.names) else {group: alone(metric, found, group, groups) for group in "abc"}
    header = (*found.header, "group")
    truth = World(header, [[*row, groups[row[0]]] for row in found.truth], (), []).truth_csv(dice)
    for average in ("groups", "rows"):
        params = {"metric": metric.key, "average": average, "skip": True}
        prepared = metrics.prepare(KEYS[metric.direction], truth, params)
        result = prepared.evaluate(found.submission_csv(dice), uncertainty=True)
        known = {group: value for group, value in scores.items() if value is not None}
        sizes = {group: list(groups.values()).count(group) if average == "rows" else 1 for group in known}
        if known:
            expected = sum(known[group] * sizes[group] for group in known) / sum(sizes.values())
            assert result.overall == pytest.approx(expected, rel=1e-12, abs=1e-14)
        assert prepared.evaluate(prepared.perfect_submission()).overall == pytest.approx(metric.best, rel=1e-15)
        doubt = result.uncertainty["overall"]
        assert doubt.low <= result.overall <= doubt.high
        assert math.isfinite(doubt.standard_error or 0.0)


TRUTH = b"id,y,shop,Usage\n1,0,x,Public\n2,1,x,Public\n3,0,z,Private\n4,1,z,Private\n5,1,x,Private\n"


def test_ada_is_told_which_group_cannot_be_scored_and_may_leave_it_out() -> None:
    params = {"metric": "roc_auc", "group": "shop"}
    with pytest.raises(metrics.GroundTruthError, match=r'private part .* in the group "x", all its answers are 1'):
        metrics.prepare("mean_score_by_group", TRUTH, params)
    sent = b"id,y\n1,0.1\n2,0.2\n3,0.9\n4,0.1\n5,0.4\n"
    found = metrics.evaluate("mean_score_by_group", TRUTH, sent, {**params, "skip": True})
    assert (found.public, found.private) == (1.0, 0.0)
    with pytest.raises(metrics.GroundTruthError, match="none of its groups"):
        metrics.prepare("mean_score_by_group", TRUTH.replace(b"4,1", b"4,0"), {**params, "skip": True})


FAULTS = [
    ("acuracy", 'No built-in metric is called "acuracy"'),
    ("rmse", "Lower values of rmse are better: use the mean error by group"),
    ("fbeta beta=-1", "beta: Must be"),
    ("fbeta gamma=2", '"gamma=2" is none of its parameters'),
    ("mean_score_by_group", "composite itself"),
    ('accuracy "', "quotation mark"),
]


@pytest.mark.parametrize(("text", "words"), FAULTS)
def test_ada_is_told_what_is_wrong_with_the_metric_that_she_names(text: str, words: str) -> None:
    with pytest.raises(metrics.ParameterError) as caught:
        metrics.clean_params("mean_score_by_group", {"metric": text})
    assert words in caught.value.errors["metric"]


def test_parameters_and_further_columns_of_the_metric_are_read() -> None:
    truth = b"id,y,weight,shop\n1,1,1,x\n2,5,3,x\n3,7,2,z\n"
    sent = b"id,y\n1,2\n2,5\n3,4\n"
    found = metrics.evaluate("mean_error_by_group", truth, sent, {"metric": "weighted_mae", "group": "shop"})
    assert found.overall == (0.25 + 3) / 2
    told = metrics.explain("mean_error_by_group", truth, sent, {"metric": "weighted_mae", "group": "shop"})
    (grid,) = told.figures
    assert isinstance(grid, Grid)
    assert grid.cells == [[2, 0.25], [1, 3.0], [3, 1.625]]


def test_many_small_groups_are_as_uncertain_as_a_mean_of_their_values() -> None:
    dice = np.random.default_rng(3)
    groups, errors = np.repeat(np.arange(100), 4), dice.exponential(1.0, 400)
    truth = b"id,y,group\n" + b"".join(b"%d,0,%d\n" % pair for pair in enumerate(groups.tolist()))
    sent = ("id,y\n" + "".join(f"{row},{error!r}\n" for row, error in enumerate(errors.tolist()))).encode()
    doubt = metrics.prepare("mean_error_by_group", truth).evaluate(sent, uncertainty=True).uncertainty["overall"]
    assert doubt.standard_error == pytest.approx(errors.reshape(100, 4).mean(axis=1).std() / 10, rel=1e-6)
