"""The registry: every file at the top of the library or in ``special/`` without an underscore is a metric, so adding
one needs one file.

Files of the folder ``METRICS_DIR``, which the operator may add, follow (``custom``).
"""

import pkgutil
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from .contract import Metric
from .custom_packages import custom_folder
from .errors import UnknownMetric
from .parameters import complete

_FOLDER = Path(__file__).parent.parent
_LIBRARY = __package__.partition(".")[0]

USUAL = {
    "accuracy", "balanced_accuracy", "f1", "binary_f1", "precision", "recall", "matthews_correlation", "cohen_kappa",
    "multilabel_f1",
    "rmse", "mae", "rmsle", "mape", "smape", "r2", "spearman",
    "roc_auc", "average_precision", "log_loss", "multiclass_log_loss", "brier",
    "map_at_k", "ndcg_at_k",
    "word_jaccard",
}  # fmt: skip
"""The metrics that most classes use. Every list of metrics begins with them."""


@cache
def _metric_modules() -> dict[str, str]:
    """The module of each metric of this library."""
    found = {}
    for folder, package in ((_FOLDER, _LIBRARY), (_FOLDER / "special", f"{_LIBRARY}.special")):
        for module in pkgutil.iter_modules([str(folder)]):
            if not (module.ispkg or module.name.startswith("_")):
                found[module.name] = f"{package}.{module.name}"
    return found


@cache
def built_in() -> dict[str, Metric]:
    return {name: _load_metric(name) for name in sorted(_metric_modules())}


def built_in_metric(key: str) -> Metric | None:
    """The built-in metric with that key, or None; no other metric is imported."""
    return _load_metric(key) if key in _metric_modules() else None


@cache
def _load_metric(name: str) -> Metric:
    """Import one metric; a worker needs no others."""
    metric = getattr(import_module(_metric_modules()[name]), name, None)
    if not isinstance(metric, Metric) or metric.key != name:
        raise TypeError(f"{name}.py must define {name} = Metric(…)")
    return metric


def catalogue() -> tuple[Metric, ...]:
    """All metrics: the usual ones, the others, those of single past competitions, custom ones. Each part is sorted by
    group and title."""
    custom: Sequence[Metric] = ()
    if custom_folder() is not None:
        from .custom_metrics import usable_metrics

        custom = usable_metrics()
    return tuple(sorted((*built_in().values(), *custom), key=_place_in_catalogue))


def is_special(metric: Metric) -> bool:
    """Whether it is a metric of a single past competition."""
    return not metric.is_custom and metric.source_path.parent != _FOLDER


def _place_in_catalogue(metric: Metric) -> tuple[int, str, str]:
    if metric.is_custom:
        part = 3
    elif is_special(metric):
        part = 2
    else:
        part = 0 if metric.key in USUAL else 1
    return part, metric.group, metric.title


def get(key: str) -> Metric:
    """The metric with this key; ``key@version`` returns an earlier version of a custom metric.

    Built-in metrics have only the version of the library, so there the version is ignored. Raises ``UnknownMetric`` (a
    ``KeyError``).
    """
    name, _, version = key.partition("@")
    if name in _metric_modules():
        return _load_metric(name)
    if custom_folder() is not None:
        from .custom_metrics import find

        if (found := find(name, version)) is not None:
            return found
    raise UnknownMetric(key, similar_keys)


def similar_keys(key: str) -> list[str]:
    """The keys of at most three metrics whose key, title, summary or initials are like this name."""
    wanted, metrics = _letters_of(key).removesuffix("score"), catalogue() if "@" not in key else ()
    names: dict[str, str] = {}
    for metric in metrics:
        initials = "".join(word[0] for word in metric.key.split("_") if word)
        for name in (metric.key, metric.title, re.split("[:.,]", metric.summary)[0], initials):
            names.setdefault(_letters_of(name), metric.key)
    found = [names[wanted]] if wanted in names else []
    found += [names[name] for name in get_close_matches(wanted, names, 3, 0.7)]
    found += [metric.key for metric in metrics if wanted in metric.key.split("_")]
    return list(dict.fromkeys(found))[:3]


def _letters_of(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def clean_params(key: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a metric in JSON form, with defaults filled in.

    Accepts texts from forms and command lines. Raises ``ParameterError`` with all faults at once.
    """
    return complete(get(key).parameters, given)
