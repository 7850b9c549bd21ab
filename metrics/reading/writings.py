"""How the cells of a column are written: a label alone or a list in one cell, with which separator, brackets and
quotes.

Programs write the same list in many ways: ``1 5``, ``1,5``, ``1;5``, ``1|5``, ``[1, 5]``, ``['x', 'y']``, ``("x",)``,
``{a}``, ``[10. 3.]``, ``c(1, 5)``, ``array(['x'], dtype=object)``. Readers never guess; this module names what it sees,
so that hosts and students are told and a conversion can be offered.
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ..core.messages import Message

SEPARATORS = {
    ";": Message("semicolons"),
    "|": Message("vertical bars"),
    "\t": Message("tabs"),
    ",": Message("commas"),
    "、": Message("commas"),
    "，": Message("commas"),
    "،": Message("commas"),
    "；": Message("semicolons"),
    "｜": Message("vertical bars"),
    "¦": Message("vertical bars"),
}
"""Separators of lists other than white space, the rarest in labels first."""

RARE_SEPARATORS = "/+&"
"""Separators that many labels have."""

_CONJUNCTIONS = "sowie ed plus then vs and und et y e en och og i a ja ve és oraz or oder ou и та και"
CONJUNCTIONS = frozenset(_CONJUNCTIONS.split())
"""Words that people write between the last items of a list."""
_CONJUNCTION = re.compile(rf"\s+(?:{'|'.join(sorted(CONJUNCTIONS, key=len, reverse=True))})\s+")
_CLOSING = {"[": "]", "(": ")", "{": "}", "［": "］", "（": "）", "<": ">", "【": "】", "〔": "〕", "｛": "｝"}
_CALL = re.compile(
    r"(?:np\.|numpy\.|torch\.|tf\.|jnp\.|pd\.|pl\.)?"
    r"(?:array|asarray|tensor|list|tuple|set|frozenset|dict_keys|dict_values|Index|Series|vector|Vector|Set|Tuple|Any"
    r"|deque|%w|String|Int64|Int32|Float64|Union\{[^{}]*\}|c)\s*(?=[\[({])"
)
"""The name of a type in front of a list, as Python, R and Julia write it."""
_SCALAR = re.compile(r"\b(?:np|numpy)\.(?:\w+\(([^()]*)\)|(?:(True|False)_))")
_KIND = re.compile(r",?\s*(?:dtype|device|shape)=[^,\[\]]+$")
_QUOTED = re.compile(
    r"""(?<!\w)b?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")(?!\w)|‘([^’]*)’|“([^”]*)”|``([^']*)''|[`´]([^`´]*)[`´]"""
    r"""|«([^»]*)»|»([^«]*)«|„([^“”]*)[“”]|[‚‹›]([^‘’‹›]*)[‘’‹›]|[「『《]([^」』》]*)[」』》]"""
)
_BETWEEN = re.compile(r"[\s,;|、，،；｜¦]*")
_BARE = re.compile(r"[\w.-]*")
_UNREAD = re.compile(r"""[\[\](){}［］（）【】]|\.\.\.|…|['"]?\s*:\s*['"]|['"]:""")


@dataclass(frozen=True)
class Writing:
    """The writing of a list: its ``separator`` (``None`` is white space or none at all), its ``brackets`` (``"[]"`` or
    ``""``), and whether its items are ``quoted``."""

    separator: str | None = None
    brackets: str = ""
    quoted: bool = False

    @property
    def words(self) -> Message:
        """The writing in words, such as "in brackets, with commas, in quotes"."""
        parts = [*([_IN_BRACKETS] if self.brackets else []), *([_IN_QUOTES] if self.quoted else [])]
        if self.separator is not None:
            parts.insert(0, Message("with {separators}", separators=SEPARATORS[self.separator]))
        return _WORDS[len(parts)](parts)


_IN_BRACKETS, _IN_QUOTES = Message("in brackets"), Message("in quotes")
_WORDS = (
    lambda parts: Message("with white space"),
    lambda parts: parts[0],
    lambda parts: Message("{first} and {second}", first=parts[0], second=parts[1]),
    lambda parts: Message("{first}, {second} and {third}", first=parts[0], second=parts[1], third=parts[2]),
)


@dataclass(frozen=True)
class WrittenList:
    """The items of a cell and their writing. ``is_clear`` is false where items hold brackets or an ellipsis."""

    items: tuple[str, ...]
    writing: Writing

    @property
    def is_clear(self) -> bool:
        return not any(map(_UNREAD.search, self.items))


def read_list(cell: str, separators: Iterable[str] = SEPARATORS) -> WrittenList:
    """The list in a cell, whatever its writing.

    >>> read_list("['x', 'y z']").items, read_list("1;5").items, read_list("[10. 3.]").items
    (('x', 'y z'), ('1', '5'), ('10.', '3.'))
    """
    inner, brackets = _without_brackets(cell)
    if (quoted := _in_quotes(inner)) is not None:
        return WrittenList(quoted, Writing(_separator_between(inner), brackets, quoted=True))
    separator = next((mark for mark in separators if mark in inner), None)
    items = tuple(item for part in inner.split(separator) if (item := part.strip()))
    return WrittenList(items, Writing(separator, brackets))


def _without_brackets(cell: str) -> tuple[str, str]:
    """The text inside all brackets around it, and the innermost pair; type names around them go, too."""
    inner, brackets = cell.strip(), ""
    while True:
        text = _CALL.sub("", inner, count=1) if _CALL.match(inner) else inner
        if not _is_enclosed(text):
            break
        brackets = text[0] + text[-1]
        inner = _KIND.sub("", text[1:-1].strip()).strip()
    return _SCALAR.sub(r"\1\2", inner), brackets


def _is_enclosed(text: str) -> bool:
    """Whether a bracket opens at the beginning and closes at the end."""
    opening, closing = text[:1], _CLOSING.get(text[:1])
    if closing is None or len(text) < 2 or text[-1] != closing:
        return False
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == opening) - (letter == closing)
        if not depth:
            return place == len(text) - 1
    return False


def _in_quotes(inner: str) -> tuple[str, ...] | None:
    """The items of a list whose items are all in quotes, else ``None``."""
    if not _QUOTED.search(inner) or not _BETWEEN.fullmatch(_QUOTED.sub("", inner)):
        return None
    return tuple(next(part for part in one.groups() if part is not None).strip() for one in _QUOTED.finditer(inner))


def _separator_between(inner: str) -> str | None:
    between = _QUOTED.sub("", inner)
    return next((mark for mark in SEPARATORS if mark in between), None)


_MARK = re.compile(r"[-–—/&+|>•·*→<=~.,;:\\#]+")
"""A mark that stands alone between labels."""


def may_join(item: str) -> bool:
    """Whether an item may be a word or a mark that joins others."""
    return item in CONJUNCTIONS or (not item[:1].isalnum() and _MARK.fullmatch(item) is not None)


def joining_words(lists: Collection[Sequence[str]]) -> set[str]:
    """Words such as ``and`` among the items of some lists that only join others: they are in front of the last item, or
    of each, wherever they are. A single letter is none beside items of one letter; a mark is one wherever it is.

    >>> joining_words([["cat", "and", "dog"], ["dog"]]), joining_words([["a", "e", "i"]])
    ({'and'}, set())
    """
    joins: dict[str, bool] = {}
    marks = {item for items in lists for item in items if _MARK.fullmatch(item)}
    has_letters = False
    for items in lists:
        for place, item in enumerate(items):
            if item in CONJUNCTIONS:
                is_last = place == len(items) - 2 or (len(items) % 2 and {*items[1::2]} == {item})
                joins[item] = joins.get(item, True) and 0 < place < len(items) - 1 and bool(is_last)
            has_letters = has_letters or (len(item) == 1 and item not in CONJUNCTIONS)
    words = {word for word, is_joining in joins.items() if is_joining}
    return marks | ({word for word in words if len(word) > 1} if has_letters or len(words) < len(joins) else words)


def items_joined_by_words(item: str) -> list[str]:
    """The parts of a text that words such as ``and`` join."""
    return _CONJUNCTION.split(item)


def writings_of(cells: Iterable[str]) -> Counter[Writing]:
    """The number of filled cells in each writing; cells of one bare item are left out, because they are the same in
    most writings.

    >>> writings_of(["cat, dog", "cat", "dog, bird", ""]).most_common(1)
    [(Writing(separator=',', brackets='', quoted=False), 2)]
    """
    found: Counter[Writing] = Counter()
    for cell in itertools.filterfalse(_BARE.fullmatch, cells):
        read = read_list(cell)
        if len(read.items) > 1 or read.writing != Writing():
            found[read.writing] += 1
    return found
