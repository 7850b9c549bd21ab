"""Reads templates for words that nobody could translate: texts and spoken attributes outside of translation tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TEMPLATE = r"\{%.*?%\}|\{\{.*?\}\}"
PIECE = re.compile(
    r"(?P<skip>\{#.*?#\}|<!--.*?-->|<!doctype.*?>|\{%\s*comment\b.*?\{%\s*endcomment\s*%\}"
    r"|\{%\s*blocktrans(?:late)?\b.*?\{%\s*endblocktrans(?:late)?\s*%\}"
    r"|<(?P<code>pre|code|script|style|kbd|svg|samp)\b.*?</(?P=code)>)"
    r"|(?P<block>\{%.*?%\})"
    r"|(?P<value>\{\{.*?\}\})"
    rf"|(?P<tag></?[a-zA-Z](?:{_TEMPLATE}|\"(?:{_TEMPLATE}|[^\"])*\"|'(?:{_TEMPLATE}|[^'])*'|[^<>\"'])*>)"
    r"|(?P<text>(?:(?!\{[%{#])[^<])+|<)",
    re.DOTALL,
)
SPOKEN = re.compile(
    rf"\s(?P<name>placeholder|title|aria-label|aria-description|alt|label|data-label|data-confirm|data-busy|data-lost|data-spans)"
    rf"=(?P<quote>[\"'])(?P<value>(?:{_TEMPLATE}|(?!(?P=quote)).)*)(?P=quote)",
    re.DOTALL,
)
WORD = re.compile(r"[^\W\d_]{2,}")
ENTITY = re.compile(r"&#?\w+;")
# Names, and what is the same everywhere.
SAME = {"Leaderboard", "UTC", "CSV", "API", "JSON", "LaTeX", "Markdown"}


@dataclass(frozen=True)
class Piece:
    kind: str
    text: str
    start: int


def pieces(source: str) -> Iterator[Piece]:
    for found in PIECE.finditer(source):
        yield Piece(found.lastgroup if found.lastgroup != "code" else "skip", found.group(), found.start())  # type: ignore[arg-type]


def has_words(text: str) -> bool:
    return any(word not in SAME for word in WORD.findall(ENTITY.sub(" ", text)))


def unmarked(source: str) -> list[str]:
    """Every text and spoken attribute with words of ours that is not marked for translation."""
    found = []
    for piece in pieces(source):
        if piece.kind == "text" and has_words(piece.text):
            found.append(" ".join(piece.text.split()))
        if piece.kind == "tag":
            for spoken in SPOKEN.finditer(piece.text):
                left = "".join(part.text for part in pieces(spoken["value"]) if part.kind == "text")
                if has_words(left):
                    found.append(f"{spoken['name']}: {left.strip()}")
    return found
