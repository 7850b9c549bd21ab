"""Sentences that know what they are made of, so that whoever shows them can say them in another language.

A ``Sentence`` is its English text and can be used as such everywhere. Beside that it knows its form, a constant of
the code such as ``{column} is there {times} times.``, and the facts that were put in: texts of a file, numbers, and
sentences again. Nothing in a fact is ever read as a form. The catalogue of a translator is keyed by the forms; tools
find them as the texts of ``said``, ``counted``, ``forms`` and ``later``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EXAMPLES = 5
"""How many cases of one kind a message names."""

_PLACE = re.compile(r"\{([a-z_]+)\}")
_DEEPEST = 8
"""Sentences within sentences that are read back."""

Fact = str | int
"""What is put into a form: a number is written with commas between thousands."""

Say = Callable[[str, str, int | None], str]
"""A form in another language: the form, what it is for many and how many; ``""`` and ``None`` where nothing counts."""


class Sentence(str):
    """The English text, and the ``form`` and ``facts`` that it was made of; ``many`` is the form for another
    ``number`` than 1. Without a form it is the ``parts`` with ``between`` between them."""

    form: str
    many: str
    number: int | None
    facts: Mapping[str, Fact]
    parts: Sequence[str]
    between: str

    def as_json(self) -> dict[str, Any]:
        """Dictionaries, lists, texts and numbers, from which ``restored`` makes it again."""
        if not self.form:
            return {"parts": [_as_json(part) for part in self.parts], "between": self.between}
        counted = {} if self.number is None else {"many": self.many, "count": self.number}
        return {"form": self.form, **counted, "facts": {name: _as_json(fact) for name, fact in self.facts.items()}}

    def said_by(self, say: Say) -> str:
        """The sentence with each form as ``say`` gives it. What names other facts than the form itself is the mistake
        of a translator: then that form is said in English."""
        if not self.form:
            return self.between.join(_said_by(part, say) for part in self.parts)
        if not self.facts:  # the short way for titles and the like, of which a page has hundreds
            words = say(self.form, "", None)
            return self.form if _PLACE.search(words) else words
        facts = {name: _said_by(fact, say) for name, fact in self.facts.items()}
        words = say(self.form, self.many, self.number)
        return _filled(words if _fits(words, facts) else _english(self), facts)

    def in_short(self) -> str:
        """The same with the first of all examples only."""
        if not self.form:
            kept = self.parts[:1] if self.between == _COMMA else self.parts
            return joined([_in_short(part) for part in kept], self.between)
        if self.form == _MORE:
            first: str = _in_short(self.facts["examples"])
            return first
        return _formed(self.form, {name: _in_short(one) for name, one in self.facts.items()}, self.many, self.number)

    def __reduce__(self) -> tuple[Any, ...]:
        return _read, (self.as_json(),)


_COMMA, _MORE = ", ", "{examples} and {left} more"
_BETWEEN = (" ", _COMMA, " = ")


class Forms(NamedTuple):
    """A sentence about one thing, and about several."""

    one: str
    many: str


def forms(one: str, many: str) -> Forms:
    """Forms that will be ``counted`` elsewhere."""
    return Forms(one, many)


def later(form: str) -> str:
    """The form as it is, of a sentence that will be ``said`` elsewhere."""
    return form


def said(form: str, /, **facts: Fact) -> Sentence:
    """The form with the facts at their places.

    >>> said("{column} has no value in {rows}.", column='"y"', rows=counted(3, "{count} row", "{count} rows"))
    '"y" has no value in 3 rows.'
    """
    return _formed(form, facts)


def as_sentence(text: str) -> str:
    """A text that says the same to everybody, as its own form; one that might be read as a form with places, and an
    empty one, are left as they are. Tools do not find such texts: whoever makes them has them collected."""
    return said(text) if text and not _PLACE.search(text) else text


def counted(count: int, one: str, many: str, /, **facts: Fact) -> Sentence:
    """The form for this number of things, which is the fact ``count``."""
    return _formed(one, {"count": count, **facts}, many, count)


def joined(parts: Sequence[str], between: str = " ") -> Sentence:
    """Sentences one after the other; one alone is itself."""
    if len(parts) == 1 and isinstance(parts[0], Sentence):
        return parts[0]
    text = Sentence(between.join(parts))
    text.form, text.many, text.number, text.facts, text.parts, text.between = "", "", None, {}, tuple(parts), between
    return text


def listed(examples: Sequence[str], count: int) -> Sentence:
    """Up to five examples in one line, with the number of those left out."""
    text = joined(examples[:EXAMPLES], _COMMA)
    left = count - min(len(examples), EXAMPLES)
    # Translators: the end of a list of examples
    return said("{examples} and {left} more", examples=text, left=left) if left > 0 else text


def restored(message: str, told: object) -> str:
    """The sentence that ``as_json`` told, if its English is this message; otherwise the message and nothing else."""
    try:
        sentence = _read(told, len(message))
    except (AttributeError, TypeError, ValueError, KeyError):
        return message
    return sentence if sentence == message else message


def kept(found: DataclassInstance) -> dict[str, Any]:
    """The fields of what was found, and the forms of those that are sentences, to say them in other languages later."""
    texts = {one.name: getattr(found, one.name) for one in fields(found)}
    return asdict(found) | forms_of(**texts)


def forms_of(**texts: object) -> dict[str, Any]:
    """What is kept beside some texts under the key ``forms``; nothing where none of them knows its form."""
    found = {name: text.as_json() for name, text in texts.items() if isinstance(text, Sentence) and text}
    return {"forms": found} if found else {}


def _formed(form: str, facts: Mapping[str, Fact], many: str = "", count: int | None = None) -> Sentence:
    english = form if count is None or count == 1 else many
    text = Sentence(_filled(english, {name: _text(fact) for name, fact in facts.items()}))
    text.form, text.many, text.number, text.facts, text.parts, text.between = form, many, count, facts, (), ""
    return text


def _english(sentence: Sentence) -> str:
    return sentence.form if sentence.number is None or sentence.number == 1 else sentence.many


def _fits(form: str, facts: Mapping[str, Fact]) -> bool:
    """Whether it names all the facts and no others; the number may go without saying."""
    return facts.keys() - {"count"} <= set(_PLACE.findall(form)) <= facts.keys()


def _filled(form: str, facts: Mapping[str, str]) -> str:
    """In one pass, so that a place within a fact is a text as any other."""
    return _PLACE.sub(lambda found: facts[found[1]], form)


def _text(fact: Fact) -> str:
    return fact if isinstance(fact, str) else f"{fact:,}"


def _said_by(fact: Fact, say: Say) -> str:
    return fact.said_by(say) if isinstance(fact, Sentence) else _text(fact)


def _in_short(fact: Any) -> Any:
    return fact.in_short() if isinstance(fact, Sentence) else fact


def _as_json(fact: Fact) -> Any:
    return fact.as_json() if isinstance(fact, Sentence) else fact


# --- reading back ------------------------------------------------------------------------------------------------


def _read(told: Any, longest: int | None = None, depth: int = 0) -> Sentence:
    """What ``as_json`` told. It may come from a process that nobody trusts: a text longer than ``longest`` is not even
    made. Raises ``TypeError``, ``ValueError`` or ``KeyError``."""
    if depth > _DEEPEST:
        raise ValueError("too deep")

    def fact(one: Any) -> Fact:
        if isinstance(one, dict):
            return _read(one, longest, depth + 1)
        if isinstance(one, bool) or not isinstance(one, str | int):
            raise TypeError("a fact")
        return one

    if "parts" in told:
        return _read_parts([fact(part) for part in told["parts"]], told["between"], longest)
    facts = {name: fact(one) for name, one in told["facts"].items()}
    form, many, count = told["form"], told.get("many", ""), told.get("count")
    for one in (form, many) if count is not None else (form,):
        _check_form(one, facts, longest)
    if count is not None and facts["count"] != count:
        raise ValueError("another count")
    return _formed(form, facts, many, count)


def _read_parts(parts: list[Any], between: Any, longest: int | None) -> Sentence:
    if between not in _BETWEEN or not all(isinstance(part, str) for part in parts):
        raise TypeError("parts")
    if longest is not None and sum(map(len, parts)) > longest:
        raise ValueError("too long")
    return joined(parts, between)


def _check_form(form: Any, facts: Mapping[str, Fact], longest: int | None) -> None:
    """It has words, it names the facts and no others, and comes to no endless text."""
    if not isinstance(form, str) or not form or not _fits(form, facts):
        raise ValueError("a form")
    if longest is not None and sum(len(_text(facts[name])) for name in _PLACE.findall(form)) > longest:
        raise ValueError("too long")
