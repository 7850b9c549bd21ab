"""Reads pages in the language of brackets for words that went through no translation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser

from tests.web.marking import has_words

# Code, Markdown of people, moments (the script writes them anew), and what is chosen from lists of the world.
SILENT = {"script", "style", "pre", "code", "kbd", "samp", "time", "textarea"}
EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
SPOKEN = {"placeholder", "title", "aria-label", "aria-description", "alt", "label", "data-label", "data-confirm"}
MARKED = re.compile("⟦[^⟦⟧]*⟧")
PARTED = re.compile(r"[,;:·|/()“”\"=→]|\b[0-9a-f-]{12,}\b")


def unbracketed(page: str, *, own: Iterable[str] = (), silent: Iterable[str] = ()) -> list[str]:
    """Texts and spoken attributes of a page with words outside of brackets; `own` are people's own words, and the
    insides of elements with a class, id or name of `silent` are not read."""
    reader = _Reader(frozenset(silent))
    reader.feed(page)
    texts, ours = ["".join(reader.texts), *reader.attributes], frozenset(own)
    return [piece for text in texts for piece in _pieces(text) if not _is_own(piece, ours)]


def _pieces(text: str) -> list[str]:
    """What stands outside of brackets, each element for itself."""
    while (shorter := MARKED.sub("", text)) != text:
        text = shorter
    return [" ".join(piece.split()) for piece in text.split(_Reader.BREAK)]


def _is_own(text: str, own: frozenset[str]) -> bool:
    """Own words, or a list of them."""
    parts = [part.strip() for part in PARTED.split(text)]
    return text.strip(" :") in own or all(part in own or not has_words(part) for part in parts)


class _Reader(HTMLParser):
    BREAK = "\0"

    def __init__(self, silent: frozenset[str]) -> None:
        super().__init__()
        self.silent, self.texts, self.attributes = silent, list[str](), list[str]()
        self.closed_to: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        names = {tag, given.get("id", ""), given.get("name", ""), *given.get("class", "").split()}
        if self.closed_to or names & SILENT or names & self.silent:
            self.closed_to += [] if tag in EMPTY else [tag]
            return
        self.texts.append(self.BREAK)
        self.attributes += [value for name, value in given.items() if name in SPOKEN]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.closed_to:
            while self.closed_to.pop() != tag:
                pass
        self.texts.append(self.BREAK)

    def handle_data(self, data: str) -> None:
        if not self.closed_to:
            self.texts.append(data)
