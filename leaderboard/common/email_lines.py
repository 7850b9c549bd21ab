"""Line breaks of e-mails: lines short enough for every mail program, and no link broken."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 72
_LINK = re.compile(r"[(<“\"]?https?://")
# A Markdown link is one word, whatever is between its brackets.
_WORD = re.compile(r"\[[^\]\n]*\]\([^)\s]*\)[^ \t]*|[^ \t]+")
# The start of a quotation or list item; its further lines are indented below its text.
_START = re.compile(r"[ \t]*(?:>[> ]*|[-*+][ \t]+|\d{1,3}[.)][ \t]+)?")
# Code and tables would change their meaning if they were wrapped.
_FENCE, _FIXED = re.compile(r" {0,3}(?:```|~~~)"), re.compile(r" {4}|\t|[ \t]*\|")


def wrap_email_text(text: str) -> str:
    """Wrap a plain text at 72 characters, with each link on a separate line, however long. Lines that fit, code and
    Markdown tables stay as they are, so wrapping twice changes nothing."""
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_fence = bool(_FENCE.match(line))
        lines += [line] if is_code or is_fence or _FIXED.match(line) else _wrap_line(line)
        is_code ^= is_fence
    return "\n".join(lines)


def _wrap_line(line: str) -> Iterator[str]:
    found = _START.match(line)
    start = found[0] if found else ""
    words = _WORD.findall(line[len(start) :])
    if len(line) <= WIDTH and (len(words) < 2 or not any(map(_LINK.match, words))):
        yield line
        return
    below = start if ">" in start else " " * len(start)
    now: list[str] = []
    for word in words:
        is_alone = bool(_LINK.match(word)) or bool(now and _LINK.match(now[-1]))
        if now and (is_alone or len(" ".join([start, *now, word])) - 1 > WIDTH):
            yield start + " ".join(now)
            start, now = below, []
        now.append(word)
    yield start + " ".join(now)
