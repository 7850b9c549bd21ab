"""How grade rules are read and written: exact numbers, faults with their places, and what all parts have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

from django.utils.translation import gettext as _

MAX_POINTS = 10_000
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?|\d{1,9}/0*[1-9]\d{0,8})")


class RuleFault(NamedTuple):
    """A contradiction: its place, such as `terms.0.line.2`, and a sentence for the host."""

    where: str
    text: str

    def __str__(self) -> str:
        """The sentence with its place in words."""
        places = {"terms": _("Term"), "factors": _("Factor"), "plus": _("Bonus"), "parts": _("Part"), "late": ""}
        parts = self.where.split(".")
        words = [f"{places[parts[0]]} {int(parts[1]) + 1}"] if len(parts) > 1 and parts[0] in places else []
        if len(parts) > 3:
            kind = _("row") if parts[2] == "line" else _("step")
            words.append(f"{kind} {int(parts[3]) + 1}")
        return f"{', '.join(words)}: {self.text}" if words else self.text


class BadRules(Exception):
    """Rules that contradict themselves."""

    def __init__(self, faults: Sequence[RuleFault]) -> None:
        super().__init__(" ".join(map(str, faults)))
        self.faults = list(faults)


# --- numbers as texts ---------------------------------------------------------------------------------------------


def parse_number(value: Any) -> Fraction:
    """A number or its text as a fraction: 0.1, "0.1", "1/60". Raises `ValueError`."""
    text = str(value).strip().replace(",", ".")
    if isinstance(value, bool) or not _NUMBER.fullmatch(text) or abs(int([*text.lower().split("e"), "0"][1])) > 320:
        raise ValueError(_("enter a number."))
    return Fraction(text)


def number_json(value: Fraction) -> str:
    """The text from which `parse_number` reads the same number."""
    return decimal_text(value) if 10**40 % value.denominator == 0 else str(value)


def decimal_text(value: Fraction) -> str:
    """A finite decimal without trailing zeros; with an exponent where it would have more than thirty digits."""
    number = Decimal(value.numerator) / Decimal(value.denominator)
    plain = f"{number.normalize():f}"
    return plain if len(plain) <= 30 else f"{number.normalize()}"


# --- reading ------------------------------------------------------------------------------------------------------

Reader = Callable[[Any, str, list[RuleFault]], Any]


def read_number(value: Any, where: str, faults: list[RuleFault]) -> Fraction:
    return parse_number(value)


def read_points(value: Any, where: str, faults: list[RuleFault]) -> Fraction:
    if abs(points := parse_number(value)) > MAX_POINTS:
        raise ValueError(_("use points up to %(most)s.") % {"most": MAX_POINTS})
    return points


def read_whole(value: Any, where: str, faults: list[RuleFault]) -> int:
    if (number := parse_number(value)).denominator != 1 or abs(number) > MAX_POINTS:
        raise ValueError(_("enter a whole number."))
    return int(number)


def read_text(value: Any, where: str, faults: list[RuleFault]) -> str:
    if not isinstance(value, str) or not 0 < len(value.strip()) <= 120:
        raise ValueError(_("enter a text of up to 120 characters."))
    return value.strip()


def read_flag(value: Any, where: str, faults: list[RuleFault]) -> bool:
    return bool(value)


def one_of(*choices: str) -> Reader:
    def read(value: Any, where: str, faults: list[RuleFault]) -> Any:
        if value not in choices:
            raise ValueError(_("choose one of: %(choices)s.") % {"choices": ", ".join(choices)})
        return value

    return read


def list_of(reader: Reader, most: int) -> Reader:
    def read(value: Any, where: str, faults: list[RuleFault]) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) > most:
            raise ValueError(_("use at most %(most)s rows.") % {"most": most})
        items = []
        for number, item in enumerate(value):
            place = f"{where}.{number}"
            try:
                items.append(reader(item, place, faults))
            except ValueError as error:
                faults.append(RuleFault(place, str(error)))
        return tuple(items)

    return read


class Noun:
    """A part of the rules, read from and written as JSON. `READERS` has a reader for each key."""

    READERS: ClassVar[Mapping[str, Reader]]
    KEYS: ClassVar[Mapping[str, str]] = {"from": "sources"}

    @classmethod
    def read(cls, values: Any, where: str, faults: list[RuleFault]) -> Self:
        if not isinstance(values, Mapping):
            raise ValueError(_("this is no part of the rules."))
        facts = {}
        for key, value in values.items():
            place = f"{where}.{key}" if where else str(key)
            if key not in cls.READERS:
                faults.append(RuleFault(where, _("“%(key)s” is no part of the rules.") % {"key": str(key)[:60]}))
            elif value is not None:
                try:
                    facts[cls.KEYS.get(key, key)] = cls.READERS[key](value, place, faults)
                except ValueError as error:
                    faults.append(RuleFault(where, f"{key.replace('_', ' ')}: {error}"))
        return cls(**facts)

    def as_json(self) -> dict[str, Any]:
        """The values from which `read` makes the same; without those that are as by default."""
        keys = {name: key for key, name in self.KEYS.items()}
        found = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        usual = type(self)()
        return {
            keys.get(name, name): _json_of(value)
            for name, value in found.items()
            if value != getattr(usual, name) or name in ("out_of", "of")
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any], *, higher_is_better: bool | None = None) -> Self:
        """Rules from their JSON. Raises `BadRules` with all faults.

        Fixed scores are compared if the direction of the metric is known; those of baselines and of the class change.
        """
        faults: list[RuleFault] = []
        rules = cls.read(values, "", faults)
        if not faults:
            faults += rules.faults(higher_is_better)
        if faults:
            raise BadRules(faults)
        return rules

    def faults(self, higher_is_better: bool | None = None) -> Iterator[RuleFault]:
        """Contradictions within the rules."""
        yield from ()


def _json_of(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json_of(item) for item in value]
    if isinstance(value, Fraction):
        return number_json(value)
    return value.as_json() if hasattr(value, "as_json") else value
