"""The deviance of Poisson, gamma and Tweedie models: how far a prediction is from a count or an amount."""

from __future__ import annotations

import numpy as np

FLOOR = 1e-100
"""What a smaller prediction counts as where the answer is above 0, so that it costs much and not endlessly much. No
answer above 0 is smaller."""


def deviance(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """Of each row, shape (n,), never below 0. ``power`` is from 1 to 3; answers and predictions are at least 0, and
    above 0 for a power of 2 and more."""
    is_close = (truth > 0) & (np.abs(prediction - truth) <= truth / 2)
    found = np.empty(len(truth))
    found[is_close] = _near(truth[is_close], prediction[is_close], power)
    found[~is_close] = _far(truth[~is_close], prediction[~is_close], power)
    positive: np.ndarray = np.maximum(2 * found, 0.0)
    return positive


def _near(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """Half of the deviance where the prediction is 0.5 to 1.5 times the answer. The terms of the definition almost
    cancel here; these forms keep the digits."""
    half: np.ndarray
    if power == 1:
        half = truth * _excess((prediction - truth) / truth)
    elif power == 2:
        half = _excess((truth - prediction) / prediction)
    else:
        a, b = 2 - power, 1 - power
        gap = -np.log1p((prediction - truth) / truth)
        half = prediction**a * (np.expm1(a * gap) / a - np.expm1(gap)) / b
    return half


def _far(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """Half of the deviance elsewhere, term by term."""
    floored = np.maximum(prediction, FLOOR)
    half: np.ndarray
    if power == 1:
        logs = np.log(np.where(truth > 0, truth, 1.0)) - np.log(floored)
        half = truth * logs - truth + prediction
    elif power == 2:
        half = np.log(floored) - np.log(truth) + truth / floored - 1
    else:
        a, b = 2 - power, 1 - power
        last = prediction**a if a > 0 else floored**a
        half = truth**a / (a * b) - truth * floored**b / b + last / a
    return half


def _excess(share: np.ndarray) -> np.ndarray:
    """``x - ln(1 + x)``, which is never below 0."""
    excess: np.ndarray = share - np.log1p(share)
    return excess
