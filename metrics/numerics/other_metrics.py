"""Metrics that another metric is made of: as a host writes them, and their values on arrays."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.contract import Contributions, Metric, chosen, sums_of
from ..core.errors import ParameterError, shown
from ..core.evaluate import finite_rows
from ..core.messages import Message, joined
from ..core.parameters import complete


def words_in(text: str) -> list[str]:
    """The words of a metric as a host writes it; names with spaces are in quotes. Raises ``ValueError`` with a
    message."""
    try:
        return shlex.split(text)
    except ValueError:
        raise ValueError(Message("A quotation mark is open at the end.")) from None


def metric_named(key: str) -> Metric:
    """The built-in metric with this key. Raises ``ValueError`` with a message if there is none that others may use."""
    from ..core.registry import built_in_metric

    metric = built_in_metric(key)
    if metric is None:
        raise ValueError(Message("No built-in metric is called {key}.", key=shown(key)))
    if metric.is_composite:
        raise ValueError(Message("{metric} is a composite itself.", metric=metric.key))
    return metric


def split_parameters(metric: Metric, words: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """All parameters of a metric, from words such as ``beta=2``, and the other words. Raises ``ValueError`` with a
    message."""
    names = {parameter.name for parameter in metric.parameters}
    are_given = [word.partition("=")[0] in names and "=" in word for word in words]
    given = [word.partition("=") for word, is_given in zip(words, are_given, strict=True) if is_given]
    try:
        params = complete(metric.parameters, {name: value for name, _, value in given})
    except ParameterError as error:
        raise ValueError(joined(error.sentences)) from None
    return params, tuple(word for word, is_given in zip(words, are_given, strict=True) if not is_given)


def has_influence(metric: Metric) -> bool:
    return metric.computation.influence is not None or metric.computation.is_plain_sum


def influence_of_arrays(metric: Metric, params: Mapping[str, Any], answers: Any, prediction: Any) -> np.ndarray:
    """The influence of each row on the metric, shape (n,)."""
    how = metric.computation
    if how.influence is not None:
        return how.influence(answers, prediction, **chosen(how.influence, params))
    contributions = finite_rows(metric, params, answers, prediction)
    rows = contributions.dense() if isinstance(contributions, Contributions) else contributions
    sums = np.array([float(added) for added in sums_of(contributions, None)])
    slopes = slopes_of(metric, params, sums)
    # A total of sums over rows is a ratio, so the effects of all rows add up to 0.
    found: np.ndarray = (rows * slopes).sum(axis=1)
    return found


def slopes_of(metric: Metric, params: Mapping[str, Any], sums: np.ndarray) -> np.ndarray:
    """The derivative of the total by each sum; 0 where it is undefined."""
    total = metric.computation.total
    assert total is not None
    arguments = chosen(total, params)
    found = np.zeros(len(sums))
    with np.errstate(all="ignore"):
        for place, value in enumerate(sums):
            step = np.zeros(len(sums))
            step[place] = 1e-6 * max(1.0, abs(float(value)))
            up, down = (total(sums + sign * step, **arguments) for sign in (1, -1))
            if up is not None and down is not None and np.isfinite(up - down):
                found[place] = (up - down) / (2 * step[place])
    return found
