"""Messages in English that can be shown in other languages.

A ``Message`` is a str with its English text. It remembers its template, such as ``{column} is there {times} times.``,
and the parameters: texts, numbers and other messages. A site looks up the template in its catalogue of translations and
fills in the parameters again.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EXAMPLES = 5
"""The most examples in one message."""

_PLACE = re.compile(r"\{([a-z_0-9]+)\}")

Param = str | int
"""Numbers are written with commas between thousands."""


class Plural(NamedTuple):
    """The templates for one thing and for several."""

    one: str
    many: str


def _fill_template(template: str, params: Mapping[str, Param]) -> str:
    """The template with its parameters. They are filled in one pass, so that braces within a parameter stay; a
    placeholder without a parameter stays, too."""
    return _PLACE.sub(lambda place: _text(params.get(place[1], place[0])), template)


def _text(param: Param) -> str:
    return param if isinstance(param, str) else f"{param:,}"


class Message(str):
    """The text of a template with its parameters filled in.

    >>> Message("Line {line} is longer than {most} bytes.", line=2, most=1000)
    'Line 2 is longer than 1,000 bytes.'
    """

    template: str
    params: Mapping[str, Param]
    plural: str
    """The template for a ``number`` other than 1; empty if nothing is counted."""
    number: int | None
    """The parameter ``count``, which chooses between the two templates; ``count`` itself is a method of texts."""

    def __new__(cls, template: str, /, **params: Param) -> Self:
        return cls._made(template, params)

    @classmethod
    def counted(cls, count: int, one: str, many: str, /, **params: Param) -> Self:
        """The message from the template ``one`` or ``many`` as ``count`` demands; ``{count}`` in them is the count."""
        return cls._made(one, {"count": count, **params}, many, count)

    @classmethod
    def _made(cls, template: str, params: Mapping[str, Param], plural: str = "", number: int | None = None) -> Self:
        text = super().__new__(cls, _fill_template(template if number is None or number == 1 else plural, params))
        text.template, text.params, text.plural, text.number = str(template), params, str(plural), number
        return text

    def translated(self, gettext: Callable[[str], str], ngettext: Callable[[str, str, int], str]) -> str:
        """The text in the language of these gettext functions."""
        params = {
            name: value.translated(gettext, ngettext) if isinstance(value, Message) else value
            for name, value in self.params.items()
        }
        words = gettext(self.template) if self.number is None else ngettext(self.template, self.plural, self.number)
        return _fill_template(words, params)

    def with_one_example(self) -> "Message":
        """The message with only the first of its ``listed`` examples."""
        params = {n: one.with_one_example() if isinstance(one, Message) else one for n, one in self.params.items()}
        if first := params.get("examples" if self.template == MORE else "example1"):
            return Message("{example}", example=first)
        return self._made(self.template, params, self.plural, self.number)

    def as_json(self) -> dict[str, Any]:
        """The message as dictionaries, texts and numbers, from which ``restore_message`` restores it."""
        params = {name: one.as_json() if isinstance(one, Message) else one for name, one in self.params.items()}
        plural = {} if self.number is None else {"plural": self.plural, "count": self.number}
        return {"template": self.template, "params": params, **plural}


# Translators: the end of a list of examples
MORE = Message("{examples} and {left} more")


def joined(parts: Sequence[str], between: str = " ", name: str = "part") -> Message:
    """One message with these parts one after another, each a parameter (``name1``, ``name2``…) that is translated by
    itself. A single message is returned as it is."""
    if len(parts) == 1 and isinstance(parts[0], Message):
        return parts[0]
    params = {f"{name}{number}": part for number, part in enumerate(parts, 1)}
    return Message(between.join(f"{{{place}}}" for place in params), **params)


def listed(examples: Sequence[str], count: int) -> Message:
    """Up to five examples in one line, with the number of those left out."""
    few = joined(examples[:EXAMPLES], ", ", "example")
    left = count - min(len(examples), EXAMPLES)
    return Message(MORE, examples=few, left=left) if left > 0 else few


def restore_message(text: str, stored: object) -> str:
    """The message from the result of its ``as_json``, if its English is ``text``; else only the text. Stored data may
    come from a process that read a hostile file, so it is checked."""
    try:
        message = _read_message(stored, len(text))
    except (AttributeError, TypeError, ValueError, KeyError, RecursionError):
        return text
    return message if message == text else text


def with_templates(found: "DataclassInstance") -> dict[str, Any]:
    """The fields of a dataclass such as a finding, with the templates of those that are messages."""
    return asdict(found) | templates_of(**{one.name: getattr(found, one.name) for one in fields(found)})


def templates_of(**texts: object) -> dict[str, Any]:
    """The templates of messages under the key ``forms``, for storing with the texts; empty if none of the texts is a
    message."""
    found = {name: text.as_json() for name, text in texts.items() if isinstance(text, Message) and text}
    return {"forms": found} if found else {}


def _read_message(stored: Any, longest: int) -> Message:
    """The stored message. Raises an exception if it is malformed, or if its text would be longer than ``longest``."""
    params: dict[str, Param] = {}
    for name, one in stored["params"].items():
        if isinstance(one, bool) or not isinstance(one, dict | str | int):
            raise TypeError("no parameter")
        params[str(name)] = _read_message(one, longest) if isinstance(one, dict) else one
    template, plural, count = stored["template"], stored.get("plural", ""), stored.get("count")
    for one in (template, plural):
        if not isinstance(one, str) or sum(len(_text(params[name])) for name in _PLACE.findall(one)) > longest:
            raise ValueError("no template, or too long")
    if count is not None and params["count"] != count:
        raise ValueError("another count")
    return Message._made(template, params, plural, count)


def plain_number(value: float, digits: int | None = None) -> str:
    """The number without an exponent: in full, or with so many significant digits.

    >>> plain_number(2950784403.98), plain_number(1.23e-05), plain_number(2950784403.98, 6)
    ('2950784403.98', '0.0000123', '2950780000')
    """
    text = repr(float(value)) if digits is None else f"{value:.{digits}g}"
    return format(Decimal(text), "f") if math.isfinite(value) else text
