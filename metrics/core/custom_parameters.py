"""The parameters of a metric in Kaggle's format: those of its function ``score`` after the first three, and the columns
of a submission, which the host sets for each truth."""

import csv
import functools
import inspect
import json
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from .messages import Message
from .parameters import Parameter, parameter_of

FIRST_THREE = ["solution", "submission", "row_id_column_name"]
SUBMISSION_COLUMNS = "submission_columns"
_COLUMN_NAMES = ("_column_name", "_column", "_col_name", "_col")
_OF_TRUTH_ALONE = re.compile(r"weight|group|fold|strat|usage|split", re.IGNORECASE)
_LISTS = (list, tuple, set, frozenset, dict, Sequence, Iterable, Mapping)
_MAX_LIST_CHARACTERS = 5000
_LIST_HELP = "Several values, separated by commas, or JSON."
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_QUOTED = re.compile(r"""(["'])(.*)\1""", re.DOTALL)


class NoMetric(Exception):
    """The file is not a metric; the message is for the operator."""


# --- what a function declares -----------------------------------------------------------------------------------


def extra_parameters(function: Callable[..., Any], text: str) -> tuple[list[dict[str, Any]], dict[str, str], list[str]]:
    """The parameters after the first three; for those written as a text the form in which the function gets them
    (``list`` or ``value``); and notes about those that were left out. ``text`` is the file's. Raises ``NoMetric``."""
    arguments = list(inspect.signature(function).parameters.values())
    if [argument.name for argument in arguments[:3]] != FIRST_THREE:
        raise NoMetric(f"Its function score must begin with the parameters {', '.join(FIRST_THREE)}.")
    hints = _readable_hints(function)
    helps = _parameter_helps(function)
    found: list[dict[str, Any]] = []
    forms: dict[str, str] = {}
    notes: list[str] = []
    for argument in arguments[3:]:
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        parameter, form = _extra_parameter(argument, hints, text)
        if parameter is not None:
            words = parameter.help or helps.get(argument.name, "")
            words = f"{words} {_LIST_HELP}".strip() if form == "list" else words
            found.append({**asdict(parameter), "help": words, "check": None})
            forms |= {argument.name: form} if form else {}
        elif argument.default is argument.empty:
            raise NoMetric(f"Its parameter {argument.name} has neither a default nor a type that a form can ask for.")
        else:
            notes.append(f"{argument.name} keeps its default: a form cannot ask for its type.")
    return found, forms, notes


def _readable_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations, without those that only a type checker can read."""
    found: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        function = function.func
    function = function if hasattr(function, "__globals__") else type(function).__call__
    for name, hint in function.__annotations__.items():
        alone = types.SimpleNamespace(__annotations__={name: hint})
        with suppress(Exception):
            found |= typing.get_type_hints(alone, function.__globals__, include_extras=True)
    return found


def _extra_parameter(argument: inspect.Parameter, hints: Mapping[str, Any], text: str) -> tuple[Parameter | None, str]:
    """The parameter and the form in which the function gets it; ``None`` if no form field can ask for its type."""
    default = argument.default
    if isinstance(default, float) and not math.isfinite(default):
        return None, ""
    for hint in _possible_hints(argument, hints):
        parameter, form = _plain_parameter(argument, hint), ""
        if parameter is None:
            parameter, form = _written_parameter(argument, hint), _form_of(hint)
        if parameter is not None:
            return _as_column(parameter, text), form
    return None, ""


def _possible_hints(argument: inspect.Parameter, hints: Mapping[str, Any]) -> list[Any]:
    """The declared type, that of the default, and a text for the name of a column; a text or number without either."""
    found = [hints[argument.name]] if argument.name in hints else []
    if argument.default is not argument.empty:
        found.append(type(argument.default))
        found += [str] if argument.name.endswith(_COLUMN_NAMES) else []
    return found or ([str | float] if argument.annotation is argument.empty else [])


def _plain_parameter(argument: inspect.Parameter, hint: Any) -> Parameter | None:
    """The parameter, if a form field has its type."""
    default = argument.default
    if not (default is argument.empty or default is None or isinstance(default, str | int | float)):
        return None
    try:
        parameter = parameter_of(argument, hint)
    except (KeyError, TypeError, ValueError):
        return None
    return replace(parameter, optional=parameter.optional or default is None)


def _written_parameter(argument: inspect.Parameter, hint: Any) -> Parameter | None:
    """The parameter as a text, for a list or a text or number."""
    default, form = argument.default, _form_of(hint)
    is_required = default is argument.empty
    written = None if is_required or default is None else _text_of(default)
    if not form or (written is None and not is_required and default is not None):
        return None
    is_optional = default is None or type(None) in _members_of(hint)
    longest = _MAX_LIST_CHARACTERS if form == "list" else 100
    return Parameter(
        argument.name,
        "text",
        written,
        optional=is_optional,
        required=is_required and not is_optional,
        longest=longest,
    )


def _as_column(parameter: Parameter, text: str) -> Parameter:
    """The parameter, as the choice of a column if it names one that only the truth has."""
    is_column = parameter.kind == "text" and parameter.name.endswith(_COLUMN_NAMES)
    is_column = is_column and _is_of_truth_alone(parameter.name, text)
    return replace(parameter, kind="column", optional=not parameter.required) if is_column else parameter


def _is_of_truth_alone(name: str, text: str) -> bool:
    """Whether a parameter names a column that submissions do not have: one with weights or groups, or one that the file
    looks up in the solution alone."""
    frames = set(re.findall(rf"\b(solution|submission)\b[\w.]*[\[(][^\])\n]*\b{name}\b", text))
    return bool(_OF_TRUTH_ALONE.search(name)) or frames == {"solution"}


def _form_of(hint: Any) -> str:
    """``list`` for lists and mappings, ``value`` for a text or number; ``""`` for another type."""
    members = [member for member in _members_of(hint) if member is not type(None)]
    if not members:
        return ""
    origins = [typing.get_origin(member) or member for member in members]
    if all(origin in (str, int, float, bool) for origin in origins):
        return "value"
    return "list" if any(origin in _LISTS for origin in origins) else ""


def _members_of(hint: Any) -> tuple[Any, ...]:
    """The types of a union, or the type itself."""
    base = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    is_union = typing.get_origin(base) in (types.UnionType, typing.Union)
    return typing.get_args(base) if is_union else (base,)


def _text_of(default: Any) -> str | None:
    """The text of a default that is no plain text or number; ``None`` if it has none."""
    if isinstance(default, str | int | float):
        return str(default)
    plain = sorted(default, key=str) if isinstance(default, set | frozenset) else default
    try:
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return None


def _parameter_helps(function: Callable[..., Any]) -> dict[str, str]:
    """Help texts of arguments from lines of a docstring such as ``beta: the weight of recall``."""
    helps = {}
    for line in inspect.cleandoc(function.__doc__ or "").splitlines():
        name, found, text = line.strip(" -*").partition(":")
        name = name.partition("(")[0].strip(" `*")
        if found and name.isidentifier() and text.strip():
            helps[name] = text.strip()[:200]
    return helps


# --- what a function gets ---------------------------------------------------------------------------------------


def arguments_of(
    params: Mapping[str, Any], parameters: Sequence[Mapping[str, Any]], forms: Mapping[str, str]
) -> dict[str, Any]:
    """The arguments for the file's function. One that is written as a text and was not changed is left out, so that the
    function takes its own default; so is a column that was not named."""
    found: dict[str, Any] = {}
    for parameter in parameters:
        name = parameter["name"]
        value, form = params[name], forms.get(name)
        if form is None:
            found |= {} if parameter["kind"] == "column" and value is None else {name: value}
        elif value != parameter["default"]:
            found[name] = None if value is None else _list_in(value) if form == "list" else _value_of(value)
    return found


def _list_in(text: str) -> Any:
    """The value of JSON that is a list or an object; else the items between commas, as numbers if all are numbers.

    >>> _list_in("a, b"), _list_in("1, 2"), _list_in('{"a": [0.5]}')
    (['a', 'b'], [1, 2], {'a': [0.5]})
    """
    if text.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):
            return json.loads(text)
    items = [item.strip() for item in text.split(",")]
    values = [_value_of(item) for item in items]
    are_numbers = not any(isinstance(value, str) for value in values)
    return values if are_numbers else [_without_quotes(item) for item in items]


def _value_of(text: str) -> str | int | float:
    """A number if the text is one; quotes keep a text.

    >>> _value_of("1"), _value_of("0.5"), _value_of("'1'"), _value_of("yes")
    (1, 0.5, '1', 'yes')
    """
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return number if math.isfinite(number) else _without_quotes(text)


def _without_quotes(text: str) -> str:
    found = _QUOTED.fullmatch(text)
    return found[2] if found else text


# --- the columns of a submission --------------------------------------------------------------------------------


def columns_of_submission(text: str | None) -> tuple[list[str], list[str]]:
    """The names and, if there is a second line, the sample answers in the first lines of a submission."""
    lines = [line for line in csv.reader((text or "").splitlines(), skipinitialspace=True) if any(line)]
    if not lines:
        return [], []
    return [name.strip() for name in lines[0]], [cell.strip() for cell in lines[1]] if len(lines) > 1 else []


def first_lines(names: Sequence[str], cells: Sequence[str]) -> str:
    """The text that ``columns_of_submission`` reads; only the names if it would be too long, ``""`` if they are."""
    for rows in ([names, cells], [names]):
        text = "\n".join(",".join(map(_csv_cell, row)) for row in rows)
        if len(text) <= _MAX_LIST_CHARACTERS and columns_of_submission(text)[0] == list(names):
            return text
    return ""


def _csv_cell(cell: str) -> str:
    quoted = cell.replace('"', '""')
    return f'"{quoted}"' if set(cell) & set(',"') or cell != cell.strip() else cell


def _check_columns(text: str) -> None:
    names, cells = columns_of_submission(text)
    if not all(names) or len(set(names)) < len(names):
        raise ValueError(Message("Each column needs a name of its own."))
    if cells and len(cells) != len(names):
        raise ValueError(
            Message("The second line has {found} cells, the first has {columns}.", found=len(cells), columns=len(names))
        )


COLUMNS_PARAMETER = Parameter(
    SUBMISSION_COLUMNS,
    "text",
    None,
    optional=True,
    help=Message(
        "The first line of a submission, such as id,low,high; a second line with one sample answer may follow. Empty: "
        "as in the sample submission, or the columns of the answers."
    ),
    check=_check_columns,
    longest=_MAX_LIST_CHARACTERS,
)
