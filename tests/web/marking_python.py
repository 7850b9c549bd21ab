"""Reads Python for texts to people that nobody could translate.

Two nets: whatever is handed to what speaks to people, if it has words at all, and every whole sentence wherever it
stands. What is marked, logged, asserted or a docstring goes through both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tests.web.marking import has_words

MARKS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "pgettext", "format_lazy"}
MARKS |= {"said", "counted", "forms", "later"}  # of the library of metrics
LOGS = {"debug", "info", "warning", "error", "exception", "critical"}
# Which argument of a call is read by people.
SPEAKS = {"Http404": 0, "PermissionDenied": 0, "ValidationError": 0, "add_error": 1}
SPOKEN = {"label", "help_text", "empty_label", "title", "text", "violation_error_message"}
SPOKEN_KEYS = {"placeholder", "required", "empty", "missing", "invalid", "label", "title"}
# What programmers and operators read: a mistake in the code, not something that a visitor did.
BUGS = {"AssertionError", "KeyError", "LookupError", "NotImplementedError", "OSError", "RuntimeError", "TypeError"}
BUGS |= {
    "ValueError",
    "ChildFailed",
    "TookTooLong",
    "NoSlowPlace",
    "Immutable",
    "ImproperlyConfigured",
    "MultiPartParserError",
}
SENTENCE = re.compile(r"(?=[“(]?[A-Z%{])[^<>]*\s[^<>]*[.!?…:]”?\s*", re.DOTALL)


def unmarked_in_python(source: str) -> list[str]:
    """Every text for people that is not marked for translation, in the order of the lines."""
    nodes = list(ast.walk(ast.parse(source)))
    skipped = {id(node) for part in _no_speech(nodes) for node in ast.walk(part)}
    found = {}
    for node in [*_spoken(nodes), *_sentences(nodes)]:
        for literal in _literals(node):
            if id(literal) not in skipped and has_words(text_of(literal)):
                found[literal.lineno, literal.col_offset] = text_of(literal)
    for literal in _out_of_reach(nodes):
        found[literal.lineno, literal.col_offset] = text_of(literal)
    return [f"{line}: {' '.join(text.split())}" for (line, _), text in sorted(found.items())]


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _name(call: ast.expr) -> str:
    function = call.func if isinstance(call, ast.Call) else call
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _no_speech(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Marked texts, docstrings, logs, assertions, and the parts of f-strings, which are read as a whole."""
    for node in nodes:
        if isinstance(node, ast.Call) and _name(node) in MARKS:
            yield from node.args
        if isinstance(node, ast.Call) and _name(node) in LOGS and _name(getattr(node.func, "value", node)) == "log":
            yield node
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _name(node.exc) in BUGS:
            yield node
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield node
        if isinstance(node, ast.JoinedStr):
            yield from (part for part in node.values if isinstance(part, ast.Constant))
        if isinstance(node, ast.FunctionDef) and node.name in ("__str__", "__repr__"):
            yield node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


# Of which parts what an expression comes to is made.
PARTS: dict[type[ast.expr], tuple[str, ...]] = {
    ast.IfExp: ("body", "orelse"),
    ast.BoolOp: ("values",),
    ast.BinOp: ("left", "right"),
    ast.List: ("elts",),
    ast.Tuple: ("elts",),
    ast.Lambda: ("body",),
    ast.Call: ("func",),
    ast.Attribute: ("value",),
}


def _out_of_reach(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """What is marked within an f-string, where gettext's tools do not look."""
    for text in nodes:
        if isinstance(text, ast.JoinedStr):
            for call in ast.walk(text):
                if isinstance(call, ast.Call) and _name(call) in MARKS:
                    yield from call.args[:1]


def _literals(node: ast.expr) -> Iterator[ast.expr]:
    """The texts that an expression may come to; `"{}".format(x)` comes to its first part."""
    if _is_text(node):
        yield node
    for name in PARTS.get(type(node), ()):
        part = getattr(node, name)
        for one in part if isinstance(part, list) else [part]:
            yield from _literals(one)


def _spoken(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """What is said, and where a variable is said, whatever a variable of this name is set to in the file."""
    known: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    known.setdefault(target.id, []).append(node.value)
    for said in _said_in(nodes):
        yield said
        if isinstance(said, ast.Name):
            yield from known.get(said.id, [])


def _said_in(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from _arguments(node)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _name(node.exc) not in BUGS:
            # A first word that is a code for programs has no space in it.
            yield from (a for a in node.exc.args if not isinstance(a, ast.Constant) or " " in text_of(a))
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for key, value in pairs if key is not None and text_of(key) in SPOKEN_KEYS)
        if isinstance(node, ast.ClassDef) and any(_name(base).endswith("Choices") for base in node.bases):
            for line in node.body:
                if isinstance(line, ast.Assign) and isinstance(line.value, ast.Tuple):
                    yield line.value.elts[1]


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    name, function = _name(call), call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "messages":
        yield from call.args[1:2]
    if name in SPEAKS:
        yield from call.args[SPEAKS[name] : SPEAKS[name] + 1]
    yield from (keyword.value for keyword in call.keywords if keyword.arg in SPOKEN)


def _sentences(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.expr) and _is_text(node) and SENTENCE.fullmatch(text_of(node)):
            yield node
