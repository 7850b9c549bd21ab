"""Metrics of numbers equal scikit-learn, scipy, or their definition written down plainly."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats
from sklearn import metrics as sk

import metrics
from metrics.tests.number_files import csv, score

seeds = pytest.mark.parametrize("seed", range(6))
Reference = Callable[[np.ndarray, np.ndarray], float]


def numbers(seed: int, *, positive: bool = False, columns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Answers and predictions: smooth, tied, huge with small differences, tiny, two rows only, or far apart."""
    dice = np.random.default_rng(seed)
    rows = 2 if seed == 4 else 50
    truth = dice.normal(size=(rows, columns)) * 10
    said = truth + dice.normal(size=truth.shape) * 5
    if seed == 1:
        truth, said = np.round(truth / 4), np.round(said / 4)
    if positive:
        truth, said = np.abs(truth) + 0.25, np.abs(said) + 0.5
    scale = {2: 1e12, 3: 1e-9, 5: 1e60}.get(seed, 1.0)
    shift = 1e13 if seed == 2 else 0.0
    found = truth * scale + shift, said * scale + shift
    return found if columns > 1 else (found[0][:, 0], found[1][:, 0])


LIKE_SCIKIT: dict[str, Reference] = {
    "mse": sk.mean_squared_error,
    "median_absolute_error": sk.median_absolute_error,
    "max_error": sk.max_error,
    "mape": sk.mean_absolute_percentage_error,
    "r2": sk.r2_score,
    "explained_variance": sk.explained_variance_score,
    "pinball": sk.mean_pinball_loss,
    "pearson": lambda t, p: scipy.stats.pearsonr(t, p).statistic,
    "spearman": lambda t, p: scipy.stats.spearmanr(t, p).statistic,
    "kendall_tau": lambda t, p: scipy.stats.kendalltau(t, p).statistic,
}
POSITIVE: dict[str, Reference] = {
    "rmsle": sk.root_mean_squared_log_error,
    "poisson_deviance": sk.mean_poisson_deviance,
    "gamma_deviance": sk.mean_gamma_deviance,
}


@seeds
@pytest.mark.parametrize("key", LIKE_SCIKIT)
def test_it_equals_scikit_learn_or_scipy(key: str, seed: int) -> None:
    truth, said = numbers(seed)
    if key == "mape":
        truth[truth == 0] = 1
    assert score(key, truth, said) == pytest.approx(float(LIKE_SCIKIT[key](truth, said)), rel=1e-12, abs=1e-300)


@seeds
@pytest.mark.parametrize("key", POSITIVE)
def test_it_equals_scikit_learn_on_amounts(key: str, seed: int) -> None:
    truth, said = numbers(seed, positive=True)
    if seed == 2:
        truth, said = truth - 9.9e12, said - 9.9e12  # nearer, scikit-learn's terms cancel out
    assert score(key, truth, said) == pytest.approx(float(POSITIVE[key](truth, said)), rel=1e-11, abs=1e-300)


@seeds
@pytest.mark.parametrize("power", [1, 1.1, 1.5, 1.9, 2, 2.5, 3])
def test_tweedie_equals_scikit_learn_for_each_power(power: float, seed: int) -> None:
    truth, said = numbers(seed if seed != 2 else 0, positive=True)
    if power < 2:
        truth[::3] = 0
    expected = float(sk.mean_tweedie_deviance(truth, said, power=power))
    assert score("tweedie_deviance", truth, said, power=power) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("power", [1, 1.5, 2, 3])
def test_deviances_of_very_near_predictions_keep_their_digits(power: float) -> None:
    # For a small difference d the deviance is d² / yᵖ (1 - p/3 · d/y + …): the plain formula loses all of this.
    truth, gap = 1e6, 2.0**-10
    expected = gap**2 / truth**power * (1 - power / 3 * gap / truth)
    assert score("tweedie_deviance", [truth], [truth + gap], power=power) == pytest.approx(expected, rel=1e-6)


@seeds
@pytest.mark.parametrize("quantile", [0, 0.1, 0.9, 1])
def test_pinball_equals_scikit_learn_for_each_quantile(quantile: float, seed: int) -> None:
    truth, said = numbers(seed)
    expected = sk.mean_pinball_loss(truth, said, alpha=quantile)
    assert score("pinball", truth, said, quantile=quantile) == pytest.approx(float(expected), rel=1e-12)


@seeds
def test_columns_count_the_same(seed: int) -> None:
    truth, said = numbers(seed, columns=3)
    roots = sk.root_mean_squared_error(truth, said, multioutput="raw_values")
    assert score("columnwise_rmse", truth, said) == pytest.approx(float(np.mean(roots)), rel=1e-12)
    ranks = [scipy.stats.spearmanr(true, guess).statistic for true, guess in zip(truth.T, said.T, strict=True)]
    assert score("columnwise_spearman", truth, said) == pytest.approx(float(np.mean(ranks)), rel=1e-12, abs=1e-15)
    truth, said = np.abs(truth), np.abs(said)
    logs = sk.root_mean_squared_log_error(truth, said, multioutput="raw_values")
    assert score("columnwise_rmsle", truth, said) == pytest.approx(float(np.mean(logs)), rel=1e-12)


def test_prices_of_houses_are_compared_by_plain_logarithms() -> None:
    truth, said = numbers(0, positive=True)
    expected = math.sqrt(sk.mean_squared_error(np.log(truth), np.log(said)))
    assert score("rmsle", truth, said, offset=0) == pytest.approx(expected, rel=1e-12)
    assert score("columnwise_rmsle", truth, said, offset=0) == pytest.approx(expected, rel=1e-12)


def smape(truth: np.ndarray, said: np.ndarray) -> float:
    shares = [2 * abs(p - t) / (abs(p) + abs(t)) if p or t else 0.0 for t, p in zip(truth, said, strict=True)]
    return 100 * math.fsum(shares) / len(shares)


@seeds
def test_smape_equals_its_definition(seed: int) -> None:
    truth, said = numbers(seed)
    truth[0] = said[0] = said[1] = 0
    expected = smape(truth, said)
    assert score("smape", truth, said) == pytest.approx(expected, rel=1e-12)
    assert score("smape", truth, said, scale="1") == pytest.approx(expected / 200, rel=1e-12)
    assert score("smape", truth, said, offset=1) == pytest.approx(smape(truth + 1, said + 1), rel=1e-12)


@seeds
def test_log_mae_by_group_equals_its_definition(seed: int) -> None:
    truth, said = numbers(seed)
    groups = [f"1J{'HCN'[place % 3]}" for place in range(len(truth))]
    said[::3] = truth[::3]  # one group is right and meets the floor
    logs = []
    for group in sorted(set(groups)):
        errors = [abs(p - t) for t, p, own in zip(truth, said, groups, strict=True) if own == group]
        logs.append(math.log(max(math.fsum(errors) / len(errors), 1e-9)))
    expected = math.fsum(logs) / len(logs)
    assert score("log_mae_by_group", truth, said, {"group": groups}) == pytest.approx(expected, rel=1e-12)


def test_sums_of_groups_know_no_order() -> None:
    from metrics.numerics.sums import group_sums

    dice = np.random.default_rng(3)
    values = dice.normal(size=500) * 10.0 ** dice.integers(-300, 300, 500)
    groups = dice.integers(0, 5, 500)
    found = group_sums(values, groups, 6)
    for place in dice.permutation(5):
        assert found[place] == pytest.approx(math.fsum(values[groups == place]), rel=1e-14)
    shuffle = dice.permutation(500)
    assert (group_sums(values[shuffle], groups[shuffle], 6) == found).all()
    assert found[5] == 0


@seeds
@pytest.mark.parametrize("params", [{}, {"sigma_minimum": 0.5, "error_maximum": None}])
def test_laplace_log_likelihood_equals_its_definition(params: dict[str, Any], seed: int) -> None:
    truth, said = numbers(seed)
    sigma = np.abs(np.random.default_rng(seed).normal(size=len(truth))) * 200
    least, most = params.get("sigma_minimum", 70), params.get("error_maximum", 1000) or math.inf
    rows = []
    for t, p, s in zip(truth, said, sigma, strict=True):
        clipped = max(s, least)
        rows.append(-math.sqrt(2) * min(abs(t - p), most) / clipped - math.log(math.sqrt(2) * clipped))
    expected = math.fsum(rows) / len(rows)
    for name in ("sigma", "Confidence"):
        files = csv({"y": truth.tolist()}), csv({"y": said.tolist(), name: sigma.tolist()})
        found = metrics.evaluate("laplace_log_likelihood", *files, params).overall
        assert found == pytest.approx(expected, rel=1e-12)


@seeds
def test_distances_equal_scikit_learn(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = (np.column_stack([dice.uniform(-90, 90, 40), dice.uniform(-180, 180, 40)]) for _ in range(2))
    truth[:4], said[:4] = [[90, 0], [0, 0], [5, 5], [-90, 7]], [[-90, 50], [0, 180], [5, 5], [-90, 8]]
    apart = np.diag(sk.pairwise.haversine_distances(np.radians(truth), np.radians(said)))
    assert score("mean_haversine", truth, said) == pytest.approx(6371 * apart.mean(), rel=1e-12)
    assert score("mean_haversine", truth, said, radius=1) == pytest.approx(apart.mean(), rel=1e-12)


@seeds
def test_angles_equal_the_arc_cosine_of_the_product_of_directions(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = (np.column_stack([dice.uniform(-9, 9, 40), dice.uniform(-5, 5, 40)]) for _ in range(2))

    def vectors(angles: np.ndarray) -> np.ndarray:
        azimuth, zenith = angles.T
        flat = np.sin(zenith)
        return np.column_stack([np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.cos(zenith)])

    products = (vectors(truth) * vectors(said)).sum(axis=1)
    expected = float(np.arccos(products.clip(-1, 1)).mean())
    assert score("mean_angular_error", truth, said) == pytest.approx(expected, rel=1e-12)
    turned = score("mean_angular_error", np.degrees(truth), np.degrees(said), unit="degrees")
    assert turned == pytest.approx(math.degrees(expected), rel=1e-12)
    assert score("mean_angular_error", [[0.25, 1]], [[0.25, 1 + 1e-12]]) == pytest.approx(1e-12, rel=1e-3)


@pytest.mark.parametrize(("key", "names"), [("mean_haversine", ("Lat", "LON")), ("mean_angular_error", ("AZ", "Zen"))])
def test_columns_are_known_by_their_names_in_any_order(key: str, names: tuple[str, str]) -> None:
    first, second = names

    def measured(*order: str, to: tuple[str, ...]) -> float:
        files = ({first: [10, 20], second: [50, 70]}, {first: [12, 25], second: [40, 80]})
        truth, said = ({name: file[old] for name, old in zip(to, order, strict=True)} for file in files)
        return metrics.evaluate(key, csv(truth), csv(said)).overall

    expected = measured(first, second, to=(first, second))
    assert measured(second, first, to=(second, first)) == expected
    assert measured(first, second, to=("u", "v")) == expected
    assert measured(second, first, to=("u", "v")) != expected


def exact_r2(truth: np.ndarray, said: np.ndarray) -> float:
    true, guess = ([Fraction(float(value)) for value in values] for values in (truth, said))
    mean = sum(true, Fraction(0)) / len(true)
    left = sum((p - t) ** 2 for t, p in zip(true, guess, strict=True))
    return float(1 - left / sum((t - mean) ** 2 for t in true))


@seeds
def test_small_changes_of_large_numbers_lose_no_digit(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = (1e9 + dice.integers(0, 9, 30) * 2.0**-22 for _ in range(2))
    assert score("r2", truth, said) == pytest.approx(exact_r2(truth, said), rel=1e-12)
    near, close = ((values - 1e9) * 2.0**22 for values in (truth, said))
    for key in ("r2", "explained_variance", "pearson"):
        assert score(key, truth, said) == pytest.approx(score(key, near, close), rel=1e-12)


def test_correlation_knows_no_unit() -> None:
    truth, said = numbers(0)
    expected = score("pearson", truth, said)
    for scale in (1e-300, 1e-200, 1e200, 1e305):
        assert score("pearson", truth * scale, said) == pytest.approx(expected, rel=1e-12)
        assert score("pearson", truth, -said * scale) == pytest.approx(-expected, rel=1e-12)


def test_kendall_pairs_equal_counting_one_by_one() -> None:
    from metrics.kendall_tau import rows

    dice = np.random.default_rng(5)
    for size in (1, 2, 3, 17, 64, 65):
        x, y = dice.integers(0, 8, size), dice.integers(0, 6, size)
        signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
        expected = [(signs > 0).sum(1), (signs < 0).sum(1), (x[:, None] != x).sum(1), (y[:, None] != y).sum(1)]
        assert rows(x, y).tolist() == np.column_stack(expected).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_several_columns_of_numbers_are_averaged_and_pooled_as_scikit_learn_does(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth = dice.normal(size=(30, 3)) * [1, 5, 1e6]
    said = truth + dice.normal(size=(30, 3)) * [1, 2, 1e5]
    mae = sk.mean_absolute_error(truth, said)
    assert score("columnwise_mae", truth, said) == pytest.approx(mae, rel=1e-12)
    pooled = sk.root_mean_squared_error(truth.ravel(), said.ravel())
    assert score("columnwise_rmse", truth, said, average="pooled") == pytest.approx(pooled, rel=1e-12)
    for average, theirs in (("columns", "uniform_average"), ("pooled", "variance_weighted")):
        expected = sk.r2_score(truth, said, multioutput=theirs)
        assert score("columnwise_r2", truth, said, average=average) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(metrics.GroundTruthError, match="in target column 2 all its answers are 3"):
        score("columnwise_r2", [[1, 3], [2, 3]], [[1, 3], [2, 3]])
