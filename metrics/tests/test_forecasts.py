"""Forecasts with an interval, a distribution or a scale are judged as scipy, scikit-learn and the definitions do."""

from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats
from sklearn import metrics as sk

import metrics
from metrics.tests.arrays import close, table
from metrics.tests.number_files import score

seeds = pytest.mark.parametrize("seed", range(4))


def forecasts(seed: int, rows: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers, values and sigmas, one of which is tiny."""
    dice = np.random.default_rng(seed)
    truth = dice.normal(size=rows) * 10
    return truth, truth + dice.normal(size=rows), np.r_[1e-6, dice.exponential(1.0, rows - 1) + 0.01]


def scored(key: str, truth: np.ndarray, names: list[str], said: Any, **params: Any) -> float:
    return metrics.evaluate(key, table(["y"], truth), table(names, said), params).overall


@seeds
def test_the_likelihood_is_that_of_scipys_normal_distribution(seed: int) -> None:
    truth, mean, sigma = forecasts(seed)
    said = np.column_stack([mean, sigma])
    for least in (0.001, 0.5):
        expected = scipy.stats.norm.logpdf(truth, mean, np.maximum(sigma, least)).mean()
        found = scored("gaussian_log_likelihood", truth, ["y", "sigma"], said, sigma_minimum=least)
        assert found == pytest.approx(expected, rel=1e-11)


@seeds
def test_the_interval_score_is_made_of_two_pinball_losses(seed: int) -> None:
    truth, lower, width = forecasts(seed)
    upper = lower + width - 0.5  # some ends are in the wrong order
    for level in (0.5, 0.9, 0.95):
        alpha = 1 - level
        ends = [sk.mean_pinball_loss(truth, end, alpha=at) for end, at in ((lower, alpha / 2), (upper, 1 - alpha / 2))]
        found = scored("interval_score", truth, ["lower", "upper"], np.column_stack([lower, upper]), level=level)
        assert found == pytest.approx(2 / alpha * sum(ends), rel=1e-11)


def test_bo_is_told_of_ends_in_the_wrong_order() -> None:
    prepared = metrics.prepare("interval_score", table(["y"], [1, 2]))
    found = prepared.evaluate(table(["lower", "upper"], [[2, 0], [1, 3]]))
    assert [warning.message for warning in found.warnings] == ["In 1 row lower is above upper."]
    assert prepared.evaluate(prepared.perfect_submission()).warnings == ()


@seeds
def test_the_crps_of_a_normal_distribution_is_the_integral(seed: int) -> None:
    truth, mean, sigma = forecasts(seed, 6)
    sigma += 0.1
    values = []
    for y, m, s in zip(truth, mean, sigma, strict=True):
        grid = np.unique(np.concatenate([np.linspace(min(y, m - 9 * s), max(y, m + 9 * s), 40_001), [y]]))
        middle = (grid[1:] + grid[:-1]) / 2
        values.append(float((np.diff(grid) * (scipy.stats.norm.cdf(middle, m, s) - (middle >= y)) ** 2).sum()))
    found = scored("crps", truth, ["y", "sigma"], np.column_stack([mean, sigma]))
    assert found == pytest.approx(np.mean(values), rel=1e-5)


def test_a_sigma_of_0_makes_an_absolute_error() -> None:
    found = scored("crps", np.array([1.0, 5.0]), ["y", "sigma"], [[3, 0], [4, 0]])
    assert found == 1.5


@seeds
def test_the_crps_of_an_ensemble_equals_the_definition(seed: int) -> None:
    dice = np.random.default_rng(seed)
    truth, said = dice.normal(size=12) + 1e6, dice.normal(size=(12, 5)) + 1e6
    apart = np.abs(said[:, :, None] - said[:, None, :]).sum(axis=(1, 2)) / 50
    expected = (np.abs(said - truth[:, None]).mean(axis=1) - apart).mean()
    names = [f"member_{place}" for place in range(1, 6)]
    assert scored("crps", truth, names, said, form="ensemble", members=5) == pytest.approx(expected, rel=1e-9)


@seeds
def test_the_crps_of_quantiles_is_twice_their_mean_pinball_loss(seed: int) -> None:
    dice = np.random.default_rng(seed)
    levels = (0.05, 0.5, 0.95)
    truth, said = dice.normal(size=12), dice.normal(size=(12, 3))
    pinball = [sk.mean_pinball_loss(truth, column, alpha=at) for column, at in zip(said.T, levels, strict=True)]
    found = scored("crps", truth, ["q0.05", "q0.5", "q0.95"], said, form="quantiles", quantiles="0.05 0.5 0.95")
    assert found == close(2 * np.mean(pinball))
    for wrong in ("0.1, 1", "0.5 0.5", "x"):
        with pytest.raises(metrics.ParameterError):
            metrics.clean_params("crps", {"quantiles": wrong})


@pytest.mark.parametrize("form", ["gaussian", "ensemble", "quantiles"])
def test_a_perfect_distribution_costs_nothing_and_the_sample_is_valid(form: str) -> None:
    prepared = metrics.prepare("crps", table(["y"], [1.5, 2, 7]), {"form": form})
    assert prepared.evaluate(prepared.perfect_submission()).overall == 0.0
    assert prepared.evaluate(prepared.sample_submission()).overall > 0


@seeds
@pytest.mark.parametrize("delta", [0.3, 1.0, 50.0])
def test_the_huber_loss_is_that_of_scipy(delta: float, seed: int) -> None:
    truth, said, _ = forecasts(seed)
    assert score("huber", truth, said, delta=delta) == close(scipy.special.huber(delta, said - truth).mean())


@seeds
def test_mase_is_the_error_of_scaled_numbers(seed: int) -> None:
    truth, said, scale = forecasts(seed)
    expected = sk.mean_absolute_error(truth / scale, said / scale)
    files = table(["y", "q"], np.column_stack([truth, scale])), table(["y"], said)
    assert metrics.evaluate("mase", *files, {"scale": "q"}).overall == pytest.approx(expected, rel=1e-9)
    with pytest.raises(metrics.GroundTruthError, match="not above 0"):
        metrics.prepare("mase", table(["y", "scale"], [[1, 0], [2, 1]]))


@seeds
@pytest.mark.parametrize("quantile", [0.5, 0.1, 0.77])
def test_d2_of_a_quantile_is_that_of_scikit_learn(quantile: float, seed: int) -> None:
    truth, said, _ = forecasts(seed, 30 + seed)
    expected = sk.d2_pinball_score(truth, said, alpha=quantile)
    assert score("d2", truth, said, quantile=quantile) == pytest.approx(float(expected), rel=1e-11)
    if quantile == 0.5:
        assert score("d2", truth, said) == pytest.approx(float(sk.d2_absolute_error_score(truth, said)), rel=1e-11)


@seeds
@pytest.mark.parametrize("power", [1, 1.5, 2, 3])
def test_d2_of_a_deviance_is_that_of_scikit_learn(power: float, seed: int) -> None:
    truth, said = (np.abs(numbers) + 0.1 for numbers in forecasts(seed)[:2])
    expected = sk.d2_tweedie_score(truth, said, power=power)
    assert score("d2", truth, said, loss="tweedie", power=power) == pytest.approx(float(expected), rel=1e-11)


def test_the_best_constant_saves_nothing() -> None:
    assert score("d2", [1, 2, 6], [2, 2, 2]) == 0.0
    assert score("d2", [1, 2, 6], [3, 3, 3]) == pytest.approx(-0.2)
    for wrong in ([2.0, 2.0], [1e-60, 2e-60]):
        with pytest.raises(metrics.GroundTruthError, match="its answers"):
            score("d2", wrong, wrong)
