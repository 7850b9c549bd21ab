"""The law of sentences: whatever the library says knows its form, and nothing in its facts waits to be translated."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import metrics
from leaderboard.sentences import KEYWORDS, own_texts
from metrics._registry import built_in
from metrics._sentences import Sentence

ROOT = Path(__file__).resolve().parents[2]
PLACES = {name: [int(place) - 1 for place in places.split(",")] for name, places in (k.split(":") for k in KEYWORDS)}
# What files and metrics call their own: headers, parameters with their choices, what an operator added.
NAMES = {"expected", "metric", "role", "names", "parameter", "parameters", "choices", "columns", "read"}
QUOTED = re.compile(r'"[^"]*"|“[^”]*”|\b0x[0-9A-F]+\b|\b(?:inf|nan|empty)\b')
WORDS = re.compile(r"[^\W\d_]{2,}")


def forms_in(source: str) -> Iterator[str]:
    """Every text of a Python file that a tool for translators finds."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            for place in PLACES.get(name, ()):
                argument = node.args[place] if place < len(node.args) else None
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


@cache
def all_forms() -> frozenset[str]:
    """Those of the library's files, and what its metrics say of themselves."""
    found = {form for path in (ROOT / "metrics").glob("*.py") for form in forms_in(path.read_text())}
    return frozenset(found | {text for metric in built_in().values() for _what, text in own_texts(metric)})


def breaches(message: str) -> list[str]:
    """In which ways a text breaks the law."""
    if not isinstance(message, Sentence):
        return [f"without a form: {message!r}"] if WORDS.search(QUOTED.sub("", message)) else []
    again = metrics.restored(str(message), json.loads(json.dumps(message.as_json())))
    found = [] if isinstance(again, Sentence) and again == message else [f"not restored: {message!r}"]
    return found + list(_of(message.as_json(), ""))


def _of(told: Any, name: str) -> Iterator[str]:
    if not isinstance(told, dict):
        if name not in NAMES and WORDS.search(QUOTED.sub("", str(told))):
            yield f"words that nobody can translate, in {{{name}}}: {told!r}"
        return
    for form in (told.get("form"), told.get("many")):
        if form is not None and form not in all_forms():
            yield f"a form that translators never see: {form!r}"
    for fact, one in [*((name, part) for part in told.get("parts", ())), *told.get("facts", {}).items()]:
        yield from _of(one, fact)
