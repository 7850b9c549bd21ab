"""Facts about a custom metric's file, collected after importing it."""

import doctest
import inspect
import io
import json
from dataclasses import asdict
from types import ModuleType
from typing import Any

from ..reading.columns import Kind
from .contract import Metric
from .custom_parameters import FIRST_THREE, NoMetric, extra_parameters
from .custom_scoring import metric_in


def facts_of(module: ModuleType, key: str, text: str) -> dict[str, Any]:
    """The facts for the catalogue in JSON form, and the results of the doctests; ``text`` is the source. Raises
    ``NoMetric``."""
    metric = metric_in(module, key)
    if isinstance(metric, Metric):
        facts = _facts_of_library_form(module, metric)
    elif callable(getattr(module, "score", None)):
        facts = _facts_of_kaggle_form(module, text)
    else:
        raise NoMetric(f"It has neither a function score({', '.join(FIRST_THREE)}) nor {key} = Metric(…).")
    return {**facts, "doctest": _doctest_results(module)}


def _facts_of_kaggle_form(module: ModuleType, text: str) -> dict[str, Any]:
    """Facts about a file with a function ``score``, as Kaggle's metrics are written."""
    doc = inspect.cleandoc(module.__doc__ or module.score.__doc__ or "")
    parameters, forms, notes = extra_parameters(module.score, text)
    declared = {name: getattr(module, name, None) for name in ("title", "group", "direction", "best", "worst")}
    higher = next((getattr(module, n) for n in ("higher_is_better", "greater_is_better") if hasattr(module, n)), None)
    if declared["direction"] is None and isinstance(higher, bool):
        declared["direction"] = "maximize" if higher else "minimize"
    columns = getattr(module, "submission_columns", ())
    values = {name: value for name, value in declared.items() if isinstance(value, str | int | float)}
    documented = inspect.cleandoc(module.score.__doc__ or "")
    return {
        "declared": values,
        "doc": doc,
        "words": f"{doc}\n{documented}",
        "submission_columns": [str(name) for name in columns],
        "parameters": parameters,
        "forms": forms,
        "notes": notes,
    }


def _facts_of_library_form(module: ModuleType, metric: Metric) -> dict[str, Any]:
    """Facts about a file with ``<key> = Metric(…)``, as the metrics of this library are written."""
    columns = metric.format.names
    functions = {
        "perfect": metric.rules.perfect,
        "verify": metric.rules.verify,
        "by_parameters": metric.by_parameters.best or metric.by_parameters.worst or metric.by_parameters.metric,
        "names": columns if callable(columns) else None,
    }
    unsupported = [name for name, function in functions.items() if function is not None]
    if unsupported or callable(columns):
        raise NoMetric(f"In this folder a metric cannot have functions for {', '.join(unsupported)}.")
    names = ("title", "group", "direction", "best", "worst")
    return {
        "declared": {name: value for name in names if (value := getattr(metric, name)) is not None},
        "doc": inspect.cleandoc(module.__doc__ or ""),
        "words": "",
        "submission_columns": list(columns),
        "parameters": [{**asdict(parameter), "check": None} for parameter in metric.parameters],
        "notes": [],
        "library": {
            "truth": _kind(metric.truth),
            "submission": _kind(metric.submission),
            "roles": {name: _kind(role.kind) for name, role in metric.roles.items()},
            "aliases": list(metric.format.aliases),
            "may_miss_ids": metric.format.may_miss_ids,
            "confirm": {name: list(words.items()) for name, words in metric.rules.confirm.items()},
        },
    }


def _kind(kind: Kind) -> dict[str, Any]:
    """The class of a kind of column and the arguments that make it again, which are its attributes. Raises
    ``NoMetric``."""
    name = type(kind).__name__
    library, _, home = type(kind).__module__.partition(".")
    arguments = {argument: getattr(kind, argument) for argument in inspect.signature(type(kind)).parameters}
    try:
        json.dumps(arguments)
    except TypeError:
        home = ""
    if library != __package__.partition(".")[0] or "." not in home:
        raise NoMetric(
            f"In this folder a metric cannot read {name}: only kinds of column of this site, made of words and numbers."
        )
    return {"module": home, "class": name, "arguments": arguments}


def _doctest_results(module: ModuleType) -> dict[str, Any]:
    """The results of the file's doctests. Kaggle runs the examples of its metrics with ELLIPSIS: 0.33... is 0.3333."""
    helps = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    for example in doctest.DocTestFinder().find(module):
        runner.run(example, out=helps.write, clear_globs=False)
    failed, tried = runner.summarize(verbose=False)
    return {"tried": tried, "failed": failed, "text": helps.getvalue()[:4000]}
