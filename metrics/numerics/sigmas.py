"""Predictions that are a value and its standard deviation, sigma."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..core.messages import Message
from ..core.parameters import Range
from ..reading.column_kinds import Fields, Number

Sigma = Annotated[float, Range(0, 1e9, exclusive_minimum=True), "A smaller sigma counts as this one."]
VALUE_AND_SIGMA = Fields(Message("value, sigma"), value=Number(), sigma=Number(minimum=0))


def names_with_sigma(truth: np.ndarray, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The submission's columns: the value under the truth's name, and ``sigma`` (``Confidence`` if the truth's name is
    sigma)."""
    return (*targets, "Confidence" if "sigma" in targets else "sigma")


def answers_with_sigma(truth: np.ndarray, sigma: float) -> list[list[str]]:
    """The columns of a submission that says the answers, all with this sigma."""
    return [[repr(float(value)) for value in truth], [repr(sigma)] * len(truth)]
