"""The first line of a CSV: which columns it names and what is wrong with them. Needs no CSV library."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

from ..core.errors import Problem, Refused, shown
from ..core.messages import EXAMPLES, Message, listed

TRIMMED = (
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""White space around an id, a label or a name: what Python's ``str.strip`` removes."""

_INVISIBLE = TRIMMED + "\u200b\u200c\u200d\u2060\ufeff"
_MOST_COLUMNS = 2_000
SEPARATORS = {";": Message("semicolons"), "\t": Message("tabs"), "|": Message("vertical bars")}
NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?")


def header_of(data: bytes) -> tuple[list[str], int, int]:
    """Trimmed names, the header's line and the offset behind it. Raises ``Refused`` if it cannot be read.

    ``data`` has ``\\n`` line ends; lines of blanks before the header are skipped.
    """
    skipped = data[: len(data) - len(data.lstrip(b" \t\n"))]
    start = skipped.rfind(b"\n") + 1
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    raw = data[start:end].decode("utf-8", "replace")
    line = skipped.count(b"\n") + 1
    if '"' in raw:
        try:
            names = next(csv.reader([raw], strict=True))
        except csv.Error:
            bare = raw.replace('"', "")
            if problems := check_separator([bare] if "," not in bare else [], line):
                raise Refused(*problems) from None
            message = Message("Line {line}: the quotes of the header are broken.", line=line)
            raise Refused(Problem("quote", message, line=line)) from None
    else:
        names = raw.split(",")
    if len(names) > _MOST_COLUMNS:
        many = len(names)
        message = Message("The header names {names} columns; at most {most} are read.", names=many, most=_MOST_COLUMNS)
        raise Refused(Problem("too_many_columns", message, line=line, count=len(names)))
    return [name.strip(_INVISIBLE) for name in names], line, min(end + 1, len(data))


def check_separator(names: Sequence[str], line: int) -> list[Problem]:
    """A header in one piece that another separator would cut."""
    if len(names) > 1 or not names:
        return []
    for separator in SEPARATORS:
        if separator in names[0]:
            return [_separated(names[0], separator, line)]
    return []


_SAVE_WITH_COMMAS = Message(
    "The columns are separated by {separators}: line {line} is {header}. Save the file with commas: in pandas write it "
    'without "sep" and "decimal", in a spreadsheet choose a comma as the separator.'
)
_SAVE_WITH_COMMAS_AND_POINTS = Message(
    "The columns are separated by {separators}: line {line} is {header}. Save the file with commas between the columns "
    'and points in numbers (0.5, not 0,5): in pandas write it without "sep" and "decimal", in a spreadsheet choose a '
    "comma as the separator."
)


def _separated(header: str, separator: str, line: int) -> Problem:
    """Who cuts by semicolons often has decimal commas too, and would meet them at the next try."""
    form = _SAVE_WITH_COMMAS_AND_POINTS if separator == ";" else _SAVE_WITH_COMMAS
    message = Message(form, separators=SEPARATORS[separator], line=line, header=shown(header))
    return Problem("separator", message, line=line)


def first_cell(text: str) -> str:
    """What stands before the first separator other than a comma."""
    return re.split(f"[{re.escape(''.join(SEPARATORS))}]", text, maxsplit=1)[0]


def other_separator(text: str) -> Message | None:
    """Which separator rows like this have in place of the header's commas, if any."""
    for separator, word in SEPARATORS.items():
        if separator in text:
            return Message(
                "The rows are separated by {separators} and the header by commas: save the whole file with commas.",
                separators=word,
            )
    return None


def check_comment(names: Sequence[str], line: int, expected: Sequence[str] = ()) -> list[Problem]:
    """A remark where the header belongs."""
    if not names[0].startswith("#"):
        return []
    found = shown(",".join(names))
    if expected:
        message = Message(
            "Line {line} is a comment, {found}. The first line must be: {expected}",
            line=line,
            found=found,
            expected=",".join(expected),
        )
    else:
        message = Message(
            "Line {line} is a comment, {found}. The first line must name the columns.", line=line, found=found
        )
    return [Problem("comment", message, line=line)]


def check_header(names: Sequence[str], expected: Sequence[str], line: int = 1) -> list[Problem]:
    """All that is wrong with a submission's header, given the exact names it needs.

    >>> [problem.message for problem in check_header(["id", "Y"], ["id", "y"])]
    ['The column "y" is missing; the header has "Y" instead. Names are compared exactly.']
    """
    if separator := check_separator(names, line):
        return separator
    found = set(names)
    if not found & set(expected) and {piece.strip() for name in names for piece in name.split(";")} & set(expected):
        return [_separated(",".join(names), ";", line)]
    if comment := check_comment(names, line, expected):
        return comment
    if not found & set(expected) and any(NUMBER.fullmatch(name) for name in names):
        message = Message("The header is missing. The first line must be: {expected}", expected=",".join(expected))
        return [Problem("header_missing", message, line=line)]
    problems = repeated_names(names, line)
    extra = [name for name in names if name and name not in expected]
    missing = [name for name in expected if name not in found]
    problems += unnamed(names, line)
    twins = {_plain(name): name for name in reversed(extra)}
    for name in missing:
        twin = twins.pop(_plain(name), None)
        if twin is not None:
            extra.remove(twin)
        problems.append(_missing(name, twin, line))
    if extra:
        problems.append(_extra(extra, expected, line))
    return problems


def _plain(name: str) -> str:
    """What is left of a name without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _missing(name: str, twin: str | None, line: int) -> Problem:
    if twin is not None:
        message = Message(
            "The column {column} is missing; the header has {twin} instead. Names are compared exactly.",
            column=shown(name),
            twin=shown(twin),
        )
    else:
        message = Message("The column {column} is missing.", column=shown(name))
    return Problem("column_missing", message, column=name, line=line)


def _extra(extra: Sequence[str], expected: Sequence[str], line: int) -> Problem:
    if is_index(extra[0]):
        message = looks_like_index(extra[0])
    else:
        message = Message.counted(
            len(extra),
            "{count} column is not expected: {columns}. Expected: {expected}",
            "{count} columns are not expected: {columns}. Expected: {expected}",
            columns=listed([shown(name) for name in extra[:EXAMPLES]], len(extra)),
            expected=",".join(expected),
        )
    return Problem("column_extra", message, column=extra[0][:200], line=line, count=len(extra))


def is_index(name: str) -> bool:
    """Whether a column is called as pandas calls an index that was written along."""
    return name in ("index", "level_0") or name.startswith("Unnamed: ")


def looks_like_index(name: str) -> Message:
    """What to do about such a column."""
    return Message('The column {column} looks like an exported index: write with "index=False".', column=shown(name))


def repeated_names(names: Sequence[str], line: int) -> list[Problem]:
    """One problem for each name that the header holds more than once."""
    found: list[Problem] = []
    for name, times in Counter(names).items():
        if name and times > 1:
            message = Message("The column {column} is there {times} times.", column=shown(name), times=times)
            found.append(Problem("column_repeated", message, column=name, line=line, count=times))
            if len(found) == EXAMPLES:
                break
    return found


def unnamed(names: Sequence[str], line: int) -> list[Problem]:
    """Columns without a name."""
    if "" not in names:
        return []
    place = list(names).index("")
    if place == 0:
        message = Message('The first column has no name. If it is the index of pandas, write with "index=False".')
    elif place == len(names) - 1:
        message = Message("The header ends with a comma: its last column has no name.")
    else:
        message = Message("Column {place} of the header has no name.", place=place + 1)
    return [Problem("column_unnamed", message, line=line, count=list(names).count(""))]
