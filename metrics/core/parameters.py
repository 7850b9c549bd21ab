"""The parameters of a metric, read from the ``Annotated`` keyword-only arguments of its functions."""

import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .errors import ParameterError, error_message, shown
from .messages import Message

_TRUE = ("true", "1", "on", "yes")
_FALSE = ("false", "0", "off", "no")

KindName = Literal["float", "int", "choice", "bool", "text", "column"]


@dataclass(frozen=True)
class Range:
    """The domain of a number; the ends are included unless ``exclusive_minimum``."""

    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False


@dataclass(frozen=True)
class Longest:
    """The most characters of a text; above 1000 its form field has several lines."""

    characters: int


@dataclass(frozen=True)
class Parameter:
    """One parameter: all that is needed for its form field, its validation and its documentation."""

    name: str
    kind: KindName
    default: Any
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    choices: tuple[Any, ...] = ()
    optional: bool = False
    help: str = ""
    check: Callable[[str], object] | None = None
    """A check of a text that raises ``ValueError`` with a message."""
    required: bool = False
    """Whether the parameter has no default, so that a value must be given."""
    longest: int = 100
    """The most characters of a text."""

    @property
    def when_empty(self) -> str:
        """The meaning of an empty value according to the help text; ``""`` if it is not mentioned there."""
        return self.help.partition("empty means ")[2].rstrip(".")

    def clean(self, value: object) -> Any:
        """The value in its type, also from texts of forms and command lines. Raises ``ValueError`` with a message."""
        if isinstance(value, str) and self.kind != "text":
            value = value.strip()
        if value is None or value == "" or (isinstance(value, str) and not value.strip()):
            if self.optional:
                return None
            raise ValueError(Message("A value is needed."))
        if self.kind in ("float", "int"):
            return self._number(value)
        if self.kind == "choice":
            return self._choice(value)
        if self.kind == "bool":
            word = str(value).lower()
            if word not in _TRUE + _FALSE:
                raise ValueError(Message("{value} is neither true nor false.", value=shown(value)))
            return word in _TRUE
        return self._text(value)

    def _number(self, value: object) -> float:
        try:
            number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(Message("{value} is not a finite number.", value=shown(value)))
        least, most = self.minimum, self.maximum
        if least is not None and self.exclusive_minimum and number <= least:
            raise ValueError(Message("Must be over {bound}.", bound=f"{least:g}"))
        if least is not None and number < least:
            raise ValueError(Message("Must be at least {bound}.", bound=f"{least:g}"))
        if most is not None and number > most:
            raise ValueError(Message("Must be at most {bound}.", bound=f"{most:g}"))
        if self.kind == "float":
            return number
        if number != int(number) or abs(number) > 2**53:
            raise ValueError(Message("{value} is not a whole number.", value=shown(value)))
        return int(number)

    def _choice(self, value: object) -> Any:
        for choice in self.choices:
            if value == choice or str(value) == str(choice):
                return choice
        choices = ", ".join(map(str, self.choices))
        raise ValueError(Message("{value} is not one of {choices}.", value=shown(value), choices=choices))

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(Message("{value} is not a text.", value=shown(value)))
        if len(value) > self.longest:
            raise ValueError(Message("At most {most} characters.", most=self.longest))
        if self.check is not None:
            self.check(value)
        return value


_TYPES: dict[Any, KindName] = {float: "float", int: "int", bool: "bool", str: "text"}


def parameters_of(functions: Sequence[Callable[..., Any]]) -> tuple[Parameter, ...]:
    """The keyword-only arguments of all functions as parameters. Raises ``TypeError`` if an argument is declared
    differently in two of them."""
    found: dict[str, Parameter] = {}
    for function in functions:
        hints = typing.get_type_hints(function, include_extras=True)
        for argument in inspect.signature(function).parameters.values():
            if argument.kind is not inspect.Parameter.KEYWORD_ONLY:
                continue
            parameter = parameter_of(argument, hints[argument.name])
            if found.setdefault(argument.name, parameter) != parameter:
                raise TypeError(f"{function.__module__}: {argument.name} is declared in two ways")
    return tuple(found.values())


def parameter_of(argument: inspect.Parameter, hint: Any) -> Parameter:
    """The parameter that an annotated argument declares. Raises ``KeyError`` for a type without a form field."""
    base, *extras = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
    domain = next((extra for extra in extras if isinstance(extra, Range)), Range())
    text = next((extra for extra in extras if isinstance(extra, str)), "")
    check = next((extra for extra in extras if callable(extra)), None)
    longest = next((extra for extra in extras if isinstance(extra, Longest)), Longest(100))
    optional = False
    if typing.get_origin(base) in (types.UnionType, typing.Union):
        optional = type(None) in typing.get_args(base)
        (base,) = (one for one in typing.get_args(base) if one is not type(None))
    is_choice = typing.get_origin(base) is Literal
    is_required = argument.default is argument.empty
    return Parameter(
        name=argument.name,
        kind="choice" if is_choice else _TYPES[base],
        default=None if is_required else argument.default,
        minimum=domain.minimum,
        maximum=domain.maximum,
        exclusive_minimum=domain.exclusive_minimum,
        choices=typing.get_args(base) if is_choice else (),
        optional=optional,
        help=text,
        check=check,
        required=is_required and not optional,
        longest=longest.characters,
    )


def complete(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters, with defaults for those not given. Raises ``ParameterError`` with all faults."""
    errors: dict[str, str] = {}
    known = {parameter.name for parameter in parameters}
    for name in given:
        if name not in known:
            errors[str(name)] = Message("The metric has no such parameter (it has none).")
            if known:
                names = ", ".join(sorted(known))
                errors[str(name)] = Message("The metric has no such parameter ({names}).", names=names)
    values: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name not in given and not parameter.required:
            values[parameter.name] = parameter.default
            continue
        try:
            values[parameter.name] = parameter.clean(given.get(parameter.name))
        except ValueError as error:
            errors[parameter.name] = error_message(error)
    if errors:
        raise ParameterError(errors)
    return values
