"""Facts about a custom metric's file, collected after importing it."""

from __future__ import annotations

import doctest
import inspect
import io
import json
import math
import typing
from collections.abc import Callable
from dataclasses import asdict, replace
from types import ModuleType
from typing import Any

from ..reading.columns import Kind
from .contract import Metric
from .custom_scoring import metric_in
from .parameters import Parameter, parameter_of

FIRST_THREE = ["solution", "submission", "row_id_column_name"]


class NoMetric(Exception):
    """The file is not a metric; the message is for the operator."""


def facts_of(module: ModuleType, key: str) -> dict[str, Any]:
    """The facts for the catalogue in JSON form, and the results of the doctests. Raises ``NoMetric``."""
    metric = metric_in(module, key)
    if isinstance(metric, Metric):
        facts = _facts_of_ours(module, metric)
    elif callable(getattr(module, "score", None)):
        facts = _facts_of_kaggles(module)
    else:
        raise NoMetric(f"It has neither a function score({', '.join(FIRST_THREE)}) nor {key} = Metric(…).")
    return {**facts, "doctest": _doctest_results(module)}


def _facts_of_kaggles(module: ModuleType) -> dict[str, Any]:
    text = inspect.cleandoc(module.__doc__ or module.score.__doc__ or "")
    parameters, notes = _extra_parameters(module.score)
    said = {name: getattr(module, name, None) for name in ("title", "group", "direction", "best", "worst")}
    higher = next((getattr(module, n) for n in ("higher_is_better", "greater_is_better") if hasattr(module, n)), None)
    if said["direction"] is None and isinstance(higher, bool):
        said["direction"] = "maximize" if higher else "minimize"
    columns = getattr(module, "submission_columns", ())
    words = {name: value for name, value in said.items() if isinstance(value, str | int | float)}
    documented = inspect.cleandoc(module.score.__doc__ or "")
    return {
        "said": words,
        "doc": text,
        "words": f"{text}\n{documented}",
        "submission_columns": [str(name) for name in columns],
        "parameters": parameters,
        "notes": notes,
    }


def _extra_parameters(function: Callable[..., Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The parameters after the first three, and notes about those that were left out. Raises ``NoMetric``."""
    arguments = list(inspect.signature(function).parameters.values())
    if [argument.name for argument in arguments[:3]] != FIRST_THREE:
        raise NoMetric(f"Its function score must begin with the parameters {', '.join(FIRST_THREE)}.")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception:  # an annotation that only a type checker can read
        hints = {}
    helps = _parameter_helps(function)
    found: list[dict[str, Any]] = []
    notes: list[str] = []
    for argument in arguments[3:]:
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        parameter = _extra_parameter(argument, hints)
        if parameter is not None:
            found.append({**asdict(parameter), "help": parameter.help or helps.get(argument.name, ""), "check": None})
        elif argument.default is argument.empty:
            raise NoMetric(f"Its parameter {argument.name} has neither a default nor a type that a form can ask for.")
        else:
            notes.append(f"{argument.name} keeps its default: a form cannot ask for its type.")
    return found, notes


def _extra_parameter(argument: inspect.Parameter, hints: dict[str, Any]) -> Parameter | None:
    """The parameter, or ``None`` if no form field can ask for its type."""
    default = argument.default
    is_required = default is argument.empty
    hint = hints.get(argument.name, None if is_required else type(default))
    if not (is_required or default is None or isinstance(default, str | int | float)):
        return None
    if isinstance(default, float) and not math.isfinite(default):
        return None
    try:
        parameter = parameter_of(argument, hint)
    except (KeyError, TypeError, ValueError):
        return None
    is_column = parameter.kind == "text" and argument.name.endswith(("_column_name", "_column"))
    return replace(
        parameter,
        kind="column" if is_column else parameter.kind,
        optional=parameter.optional or (default is None and not is_required),
    )


def _parameter_helps(function: Callable[..., Any]) -> dict[str, str]:
    """Help texts of arguments from lines of a docstring such as ``beta: the weight of recall``."""
    helps = {}
    for line in inspect.cleandoc(function.__doc__ or "").splitlines():
        name, found, text = line.strip(" -*").partition(":")
        name = name.partition("(")[0].strip(" `*")
        if found and name.isidentifier() and text.strip():
            helps[name] = text.strip()[:200]
    return helps


def _facts_of_ours(module: ModuleType, metric: Metric) -> dict[str, Any]:
    columns = metric.format.names
    functions = {
        "perfect": metric.rules.perfect,
        "verify": metric.rules.verify,
        "by_parameters": metric.by_parameters.best or metric.by_parameters.metric,
        "names": columns if callable(columns) else None,
    }
    unsupported = [name for name, function in functions.items() if function is not None]
    if unsupported or callable(columns):
        raise NoMetric(f"In this folder a metric cannot have functions for {', '.join(unsupported)}.")
    names = ("title", "group", "direction", "best", "worst")
    return {
        "said": {name: value for name in names if (value := getattr(metric, name)) is not None},
        "doc": inspect.cleandoc(module.__doc__ or ""),
        "words": "",
        "submission_columns": list(columns),
        "parameters": [{**asdict(parameter), "check": None} for parameter in metric.parameters],
        "notes": [],
        "ours": {
            "truth": _kind(metric.truth),
            "submission": _kind(metric.submission),
            "roles": {name: _kind(role.kind) for name, role in metric.roles.items()},
            "aliases": list(metric.format.aliases),
            "may_miss_ids": metric.format.may_miss_ids,
            "confirm": {name: list(words.items()) for name, words in metric.rules.confirm.items()},
        },
    }


def _kind(kind: Kind) -> dict[str, Any]:
    """The class of a kind of column and the arguments that restore it, which it keeps as attributes. Raises
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
