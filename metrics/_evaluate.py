"""Aligned arrays → the value of each split, and what every row contributed, in one pass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics._arrays import take
from metrics._contract import Contributions, Metric, sums_of
from metrics._errors import TooLarge
from metrics._parameters import chosen

if TYPE_CHECKING:
    from metrics._truth import Truth

OVERALL = "overall"


@dataclass(frozen=True)
class Result:
    """The score of one submission. ``public`` and ``private`` are ``None`` where the truth has no ``Usage`` column.

    ``rows`` counts the rows that were scored (public and private ones); ``parts`` gives, per split, the named sums
    behind the value (``tp``, ``fp``, …), and is empty where a metric has none.
    """

    metric: str
    version: str
    params: Mapping[str, Any]
    overall: float
    public: float | None
    private: float | None
    rows: int
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """What the home scorer prints with ``--json``."""
        names = ("metric", "version", "params", "overall", "public", "private", "rows")
        values = {name: getattr(self, name) for name in names}
        return {**values, "params": dict(self.params)}


def measure(truth: Truth, prediction: Any) -> Result:
    """Score a prediction that is in the order of the truth's scored rows. Raises ``TooLarge``."""
    with np.errstate(over="ignore", invalid="ignore"):
        values, parts = _sums(truth, prediction)
        for name in _splits(truth):
            if values.get(name) is None:
                values[name] = _whole(truth, prediction, name)
    checked = {name: _finite(value) for name, value in values.items()}
    metric = truth.metric
    return Result(
        metric=metric.key,
        version=metric.version,
        params=truth.params,
        overall=checked[OVERALL],
        public=checked.get("public"),
        private=checked.get("private"),
        rows=len(truth.scored),
        parts=parts,
    )


def _splits(truth: Truth) -> tuple[str, ...]:
    return (*truth.parts, OVERALL)


def row_contributions(
    metric: Metric, target: Any, prediction: Any, params: Mapping[str, Any]
) -> np.ndarray | Contributions:
    """What each row contributes; the metric must have ``rows``."""
    assert metric.rows is not None
    return metric.rows(target, prediction, **chosen(metric.rows, params))


def _sums(truth: Truth, prediction: Any) -> tuple[dict[str, float | None], dict[str, dict[str, float]]]:
    metric = truth.metric
    if metric.rows is None or metric.total is None:
        return {}, {}
    contributions = row_contributions(metric, truth.target, prediction, truth.params)
    table = contributions.table if isinstance(contributions, Contributions) else contributions
    if not np.isfinite(table).all():
        raise TooLarge(_endless_rows(contributions).tolist())
    sums = {name: sums_of(contributions, rows) for name, rows in truth.parts.items()}
    # Every scored row is public or private, and the sums are exact: adding them is summing all rows.
    added = [sum(pair, Fraction(0)) for pair in zip(*sums.values(), strict=True)]
    sums[OVERALL] = added or sums_of(contributions, None)
    arguments = chosen(metric.total, truth.params)
    values = {name: metric.total(np.array(list(map(_rounded, exact))), **arguments) for name, exact in sums.items()}
    return values, {name: _named(metric.parts, exact) for name, exact in sums.items()}


def _endless_rows(contributions: np.ndarray | Contributions) -> np.ndarray:
    dense = contributions.dense() if isinstance(contributions, Contributions) else contributions
    return np.flatnonzero(~np.isfinite(dense).all(axis=1))


def _rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        raise TooLarge from None


def _named(names: tuple[str, ...], exact: list[Fraction]) -> dict[str, float]:
    return {
        name: int(value) if value.denominator == 1 else float(value) for name, value in zip(names, exact, strict=False)
    }


def _whole(truth: Truth, prediction: Any, split: str) -> float:
    metric = truth.metric
    assert metric.score is not None, f"{metric.key} can score no whole column"
    if split == OVERALL:
        return metric.score(truth.target, prediction, **chosen(metric.score, truth.params))
    part = take(prediction, truth.parts[split])
    return metric.score(truth.part_targets[split], part, **chosen(metric.score, truth.params))


def _finite(value: float | None) -> float:
    assert value is not None
    number = float(value)
    if not math.isfinite(number):
        raise TooLarge
    return number + 0.0  # never -0.0
