"""Scoring of aligned arrays: the value of each split and its uncertainty, in one pass."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .arrays import take
from .buckets import Buckets
from .contract import Contributions, Metric, RowSum, WholeColumn, chosen, sums_of
from .errors import NotFinite
from .result import OVERALL, Result
from .types import PreparedTruth
from .uncertainty import (
    ENOUGH_RELEVANT,
    FIRST_BUCKETS,
    MAX_INFLUENCES,
    Part,
    Uncertainty,
    by_scoring_again,
    from_influence,
    from_sums,
)


def score_prediction(
    truth: PreparedTruth, prediction: Any, *, uncertainty: bool = False, with_parts: bool = False
) -> Result:
    """Score a prediction that is in the order of the truth's scored rows. Raises ``NotFinite``."""
    metric = truth.metric
    ready = metric.computation.ready
    if ready is not None:
        prediction = ready(prediction)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = _parts_by_split(truth, prediction)
        contributions, sums = _exact_sums(truth, parts)
        values: dict[str, float] = {}
        uncertainties: dict[str, Uncertainty] = {}
        named = {name: _named(metric.computation.parts, exact) for name, exact in sums.items()}
        totals = {name: _total_of_sums(metric, truth.params, exact) for name, exact in sums.items()}
        for name in tuple(parts):
            # A part and its results can be freed after this.
            part, total = parts.pop(name), totals.get(name)
            if total is None:
                total = _score_of_column(metric, truth.params, part.answers(), part.prediction())
            values[name] = _finite(total)
            if with_parts and not sums:
                named[name] = _extra_sums(truth, part)
            if uncertainty:
                uncertainties[name] = _uncertainty_of_part(truth, name, part, contributions, values[name])
    return Result(
        metric=metric.key,
        version=metric.version,
        params=truth.params,
        overall=values[OVERALL],
        public=values.get("public"),
        private=values.get("private"),
        rows=len(truth.scored),
        parts=named,
        uncertainty=uncertainties,
    )


def _parts_by_split(truth: PreparedTruth, prediction: Any) -> dict[str, Part]:
    """Truth and prediction of each split and of all rows. They are cut only on demand, because sums over rows do not
    need them."""
    parts = {
        name: Part(rows, lambda name=name: truth.part_answers[name], lambda rows=rows: take(prediction, rows))  # type: ignore[misc]
        for name, rows in truth.parts.items()
    }
    return {**parts, OVERALL: Part(None, lambda: truth.answers, lambda: prediction)}


def row_contributions(metric: Metric, answers: Any, prediction: Any, params: Mapping[str, Any]) -> Any:
    rows = metric.computation.rows
    assert rows is not None
    return rows(answers, prediction, **chosen(rows, params))


def contributions_of(truth: PreparedTruth, prediction: Any, answers: Any = None) -> np.ndarray:
    """The contribution of each scored row, or of each row of one split if its ``answers`` are given; shape (rows,
    k)."""
    found = row_contributions(truth.metric, truth.answers if answers is None else answers, prediction, truth.params)
    dense: np.ndarray = found.dense() if isinstance(found, Contributions) else found
    return dense.astype(np.float64, copy=False)


def _exact_sums(truth: PreparedTruth, parts: dict[str, Part]) -> tuple[Any, dict[str, list[Fraction]]]:
    """The contributions of all rows (``None`` if each split is computed separately), and the exact sums per split."""
    how = truth.metric.computation
    if not how.is_made_of_sums:
        return None, {}

    def rows_of(part: Part) -> Any:
        return finite_rows(truth.metric, truth.params, part.answers(), part.prediction())

    if how.is_whole:
        return None, {name: sums_of(rows_of(part), None) for name, part in parts.items()}
    contributions = rows_of(parts[OVERALL])
    # Contiguous columns, because they are summed one after the other.
    if isinstance(contributions, Contributions):
        contributions = Contributions(np.asfortranarray(contributions.table), contributions.of_row)
    else:
        contributions = np.asfortranarray(contributions)
    sums = {name: sums_of(contributions, rows) for name, rows in truth.parts.items()}
    # Every scored row is public or private, and the sums are exact, so their sum is that of all rows.
    added = [sum(pair, Fraction(0)) for pair in zip(*sums.values(), strict=True)]
    sums[OVERALL] = added or sums_of(contributions, None)
    return contributions, sums


def value_of_arrays(metric: Metric, params: Mapping[str, Any], answers: Any, prediction: Any) -> float:
    """The score of some rows, to the last bit as ``score_prediction`` computes it. Raises ``NotFinite``."""
    value, how = None, metric.computation
    if how.is_made_of_sums:
        value = _total_of_sums(metric, params, sums_of(finite_rows(metric, params, answers, prediction), None))
    return _finite(_score_of_column(metric, params, answers, prediction) if value is None else value)


def _score_of_column(metric: Metric, params: Mapping[str, Any], answers: Any, prediction: Any) -> float:
    score = metric.computation.score
    assert score is not None, f"{metric.key} can score no whole column"
    return score(answers, prediction, **chosen(score, params))


def finite_rows(metric: Metric, params: Mapping[str, Any], answers: Any, prediction: Any) -> Any:
    """The contribution of each row. Raises ``NotFinite``."""
    found = row_contributions(metric, answers, prediction, params)
    if not np.isfinite(found.table if isinstance(found, Contributions) else found).all():
        raise NotFinite
    return found


def _total_of_sums(metric: Metric, params: Mapping[str, Any], exact: list[Fraction]) -> float | None:
    total = metric.computation.total
    assert total is not None
    try:
        sums = np.array([float(value) for value in exact])
    except OverflowError:
        raise NotFinite from None
    return total(sums, **chosen(total, params))


def _named(names: tuple[str, ...], exact: list[Fraction]) -> dict[str, float]:
    return {
        name: int(value) if value.denominator == 1 else float(value) for name, value in zip(names, exact, strict=False)
    }


def _extra_sums(truth: PreparedTruth, part: Part) -> dict[str, float]:
    """The named sums of a metric that does not need them for its value, without those that are not finite."""
    metric = truth.metric
    if metric.computation.rows is None:
        return {}
    columns = contributions_of(truth, part.prediction(), part.answers()).T
    sums = zip(metric.computation.parts, (float(column.sum()) for column in columns), strict=False)
    return {name: int(value) if value == int(value) else value for name, value in sums if math.isfinite(value)}


def _uncertainty_of_part(truth: PreparedTruth, name: str, part: Part, contributions: Any, value: float) -> Uncertainty:
    """The uncertainty of a split, by the cheapest way that the metric allows."""
    params = truth.params
    # The interval ends at the best and the worst value that these parameters allow.
    metric = replace(truth.metric, best=truth.metric.best_with(params), worst=truth.metric.worst_with(params))
    buckets = truth.buckets(name)
    how = metric.computation
    total = how.total
    if contributions is not None and total is not None:
        arguments = chosen(total, params)
        found = from_sums(metric, buckets, contributions, part.rows, value, lambda sums: total(sums, **arguments))
        if found is not None:
            return found
    if how.influence is not None:
        count = len(buckets.order)
        part, buckets = _sample_rows(part, buckets, how)
        effects = how.influence(part.answers(), part.prediction(), **chosen(how.influence, params))
        effects = effects * math.sqrt(len(effects) / count)
        size = how.effective_size
        enough = None if size is None else size(part.answers(), part.prediction(), **chosen(size, params))
        return from_influence(metric, buckets, effects, value, count, enough)
    return by_scoring_again(metric, buckets, value, lambda rows: value_of(truth, part.cut(rows)))


def _sample_rows(part: Part, buckets: Buckets, how: RowSum | WholeColumn) -> tuple[Part, Buckets]:
    """Some rows of a large part, which always are the same, and their buckets; the part itself if these would not have
    enough relevant rows."""
    if how.relevant_rows is None or len(buckets.order) <= MAX_INFLUENCES:
        return part, buckets
    some = part.cut(buckets.order[:MAX_INFLUENCES])
    return (some, FIRST_BUCKETS) if how.relevant_rows(some.answers()) >= ENOUGH_RELEVANT else (part, buckets)


def value_of(truth: PreparedTruth, part: Part) -> float | None:
    """The score of some rows, or ``None`` if they cannot be scored. Raises ``NotFinite``."""
    check = truth.metric.rules.unscorable
    if check is not None and check(part.answers(), **chosen(check, truth.params)):
        return None
    return value_of_arrays(truth.metric, truth.params, part.answers(), part.prediction())


def _finite(value: float) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise NotFinite
    return number + 0.0  # never -0.0
