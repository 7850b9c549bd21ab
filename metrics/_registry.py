"""Every file of this folder without an underscore is a metric; nothing else has to be touched to add one."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from metrics._contract import Metric
from metrics._errors import UnknownMetric
from metrics._parameters import complete

_FOLDER = Path(__file__).parent


@cache
def _all() -> dict[str, Metric]:
    names = [module.name for module in pkgutil.iter_modules([str(_FOLDER)]) if not module.name.startswith("_")]
    return {name: _load(name) for name in names}


def _load(name: str) -> Metric:
    metric = getattr(import_module(f"metrics.{name}"), name, None)
    if not isinstance(metric, Metric) or metric.key != name:
        raise TypeError(f"metrics/{name}.py must define {name} = Metric(…) with functions of its own")
    return metric


def catalogue() -> tuple[Metric, ...]:
    """All metrics, sorted by group and title."""
    return tuple(sorted(_all().values(), key=lambda metric: (metric.group, metric.title)))


def get(key: str) -> Metric:
    """The metric with this key. Raises ``UnknownMetric`` (a ``KeyError``)."""
    try:
        return _all()[key]
    except KeyError:
        raise UnknownMetric(key) from None


def clean_params(key: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a metric, JSON-safe, defaults filled in.

    Accepts texts as forms and command lines give them. Raises ``ParameterError`` with all faults at once.
    """
    return complete(get(key).parameters, given)
