"""Metrics of clusterings equal scikit-learn, whatever the clusters are called, and know what each row changes."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

import metrics
from metrics import adjusted_rand
from metrics.core.figures import Grid
from metrics.tests.answer_files import column, score

SEEDS = range(12)


def clusters_of(seed: int) -> tuple[list[str], list[str]]:
    """Few and many clusters, large and small ones, nearly right and unrelated; names shared or not."""
    dice = random.Random(seed)
    count = dice.choice((1, 2, 5, 40, 200))
    names = [f"c{number}" for number in range(dice.choice((1, 2, 5, 50)))]
    truth = dice.choices(names, weights=range(1, len(names) + 1), k=count)
    others = [*names, "x", "y"] if seed % 2 else [f"k{number}" for number in range(dice.choice((1, 3, 60)))]
    kept = dice.choice((0.0, 0.5, 0.95))
    return truth, [name if dice.random() < kept else dice.choice(others) for name in truth]


METRICS: list[tuple[str, dict[str, Any], Callable[..., float], dict[str, Any]]] = [
    ("adjusted_rand", {}, sk.adjusted_rand_score, {}),
    ("v_measure", {}, sk.v_measure_score, {}),
    ("v_measure", {"beta": 0.3}, sk.v_measure_score, {"beta": 0.3}),
    ("v_measure", {"beta": 7.0}, sk.v_measure_score, {"beta": 7.0}),
    *(
        ("normalised_mutual_information", {"average": name}, sk.normalized_mutual_info_score, {"average_method": name})
        for name in ("arithmetic", "geometric", "min", "max")
    ),
]
every_metric = pytest.mark.parametrize(("key", "params", "reference", "theirs"), METRICS)


@every_metric
@pytest.mark.filterwarnings("ignore:.*clustering metrics expects discrete:UserWarning")
def test_it_equals_scikit_learn(
    key: str, params: dict[str, Any], reference: Callable[..., float], theirs: dict[str, Any]
) -> None:
    for truth, said in map(clusters_of, SEEDS):
        expected = float(reference(truth, said, **theirs))
        assert score(key, truth, said, **params) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@every_metric
def test_names_of_clusters_mean_nothing(key: str, params: dict[str, Any], reference: Any, theirs: Any) -> None:
    for truth, said in map(clusters_of, SEEDS):
        names = {name: f"new {place}" for place, name in enumerate(sorted(set(said), reverse=True))}
        value = score(key, truth, said, **params)
        assert score(key, truth, [names[name] for name in said], **params) == value
        assert score(key, truth, [f"{name}'" for name in truth], **params) == 1.0


@every_metric
def test_all_together_and_all_apart(key: str, params: dict[str, Any], reference: Any, theirs: Any) -> None:
    together, apart = ["x"] * 4, list("1234")
    assert score(key, together, together, **params) == 1.0
    assert score(key, apart, apart, **params) == 1.0
    assert score(key, ["a", "a", "b", "b"], together, **params) == 0.0
    assert score(key, together, apart, **params) == 0.0
    assert score(key, ["a"], ["z"], **params) == 1.0


def test_the_worked_numbers_of_the_pages() -> None:
    truth, halves, crossed, apart = "aabb", "xxyz", "xyxy", "wxyz"
    values = {
        key: [score(key, truth, said) for said in (halves, crossed, apart)]
        for key in ("adjusted_rand", "v_measure", "normalised_mutual_information")
    }
    assert values["adjusted_rand"] == [pytest.approx(0.571, abs=5e-4), -0.5, 0.0]
    assert values["v_measure"] == [0.8, 0.0, pytest.approx(0.667, abs=5e-4)]
    assert values["normalised_mutual_information"] == pytest.approx(values["v_measure"], rel=1e-15)
    means = [
        score("normalised_mutual_information", truth, halves, average=name) for name in ("geometric", "min", "max")
    ]
    assert means == [pytest.approx(0.816, abs=5e-4), 1.0, pytest.approx(0.667, abs=5e-4)]
    assert score("normalised_mutual_information", truth, apart, average="min") == 1.0


def test_pairs_are_counted_exactly_on_many_rows() -> None:
    truth, said = ["a"] * 19_999 + ["b"], ["x"] * 19_998 + ["y"] * 2
    together = 19_998 * 19_997
    ours, theirs, pairs = 19_999 * 19_998, together + 2, 20_000 * 19_999
    chance = 2 * ours * theirs
    expected = (2 * together * pairs - chance) / ((ours + theirs) * pairs - chance)
    assert score("adjusted_rand", truth, said) == expected


def rand_like(truth: np.ndarray, said: np.ndarray, weights: np.ndarray) -> float:
    pair = np.outer(weights, weights)
    np.fill_diagonal(pair, 0.0)
    ours, theirs = truth[:, None] == truth, said[:, None] == said
    both, true, predicted, pairs = (float(pair[mask].sum()) for mask in (ours & theirs, ours, theirs, pair >= 0))
    return (both - true * predicted / pairs) / ((true + predicted) / 2 - true * predicted / pairs)


def test_the_influence_of_a_row_on_pairs_is_the_slope_by_its_weight() -> None:
    dice = random.Random(3)
    truth = dice.choices("aabc", k=30)
    said = [name if dice.random() < 0.6 else dice.choice("xyz") for name in truth]
    prepared = metrics.prepare("adjusted_rand", column(truth))
    prediction, _, _ = prepared.read_submission(column(said))
    effects = adjusted_rand.influence(prepared.answers, prediction)
    assert effects.sum() == pytest.approx(0, abs=1e-12)
    for row in range(30):
        step = np.zeros(30)
        step[row] = 1e-5
        up, down = (rand_like(np.array(truth), np.array(said), 1 + sign * step) for sign in (1, -1))
        assert effects[row] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("key", ["adjusted_rand", "v_measure", "normalised_mutual_information"])
def test_a_row_without_a_cluster_is_refused(key: str) -> None:
    with pytest.raises(metrics.SubmissionError, match=r"2 values of \"y\" are missing"):
        score(key, "aab", ["x", "", ""])
    with pytest.raises(metrics.GroundTruthError, match="missing"):
        metrics.prepare(key, column(["a", ""]))


def test_the_table_of_clusters_shows_the_largest() -> None:
    truth, said = [f"t{row % 20:02}" for row in range(50)], [f"s{row % 3}" for row in range(50)]
    (grid,) = metrics.explain("adjusted_rand", column(truth), column(said)).figures
    assert isinstance(grid, Grid)
    assert (len(grid.rows), list(grid.columns)) == (12, ["s0", "s1", "s2"])
    assert list(grid.rows)[:2] == ["t00", "t01"]
    assert "8 smaller clusters are not shown" in grid.note
    assert sum(map(int, grid.cells[0])) == 3


@pytest.mark.parametrize("average", ["arithmetic", "geometric", "min", "max"])
@pytest.mark.filterwarnings("ignore:.*clustering metrics expects discrete:UserWarning")
def test_mutual_information_beyond_chance_equals_scikit_learn(average: str) -> None:
    for truth, said in map(clusters_of, SEEDS):
        expected = float(sk.adjusted_mutual_info_score(truth, said, average_method=average))
        if abs(expected) < 1e6:  # where nothing is possible beyond chance, both divide by a rounding error
            found = score("adjusted_mutual_information", truth, said, average=average)
            assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_the_chance_of_large_clusters_is_found_without_their_whole_sum() -> None:
    dice = np.random.default_rng(2)
    truth = dice.integers(0, 7, 20_000)
    said = np.where(dice.random(20_000) < 0.2, truth, dice.integers(0, 9, 20_000))
    expected = float(sk.adjusted_mutual_info_score(truth, said))
    found = score("adjusted_mutual_information", truth.tolist(), said.tolist())
    assert found == pytest.approx(expected, rel=1e-8)


def test_clusters_by_chance_score_about_nothing() -> None:
    dice = np.random.default_rng(1)
    truth, said = dice.integers(0, 9, 400).tolist(), dice.integers(0, 40, 400).tolist()
    assert abs(score("adjusted_mutual_information", truth, said)) < 0.05
    assert score("normalised_mutual_information", truth, said) > 0.15
    assert score("adjusted_mutual_information", "abcd", "wxyz") == 1.0
    assert score("adjusted_mutual_information", "aaaa", "bbbb") == 1.0
