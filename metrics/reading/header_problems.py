"""The problems of a file's column names."""

import re
from collections import Counter
from collections.abc import Sequence

from ..core.errors import Problem, shown
from ..core.messages import EXAMPLES, Message, listed
from .column_names import NUMBER, SEPARATORS, cells_of, equal_names, matched_names, name_key


def check_separator(names: Sequence[str], line: int) -> list[Problem]:
    """A problem if the header is a single name that contains another separator."""
    if len(names) > 1 or not names:
        return []
    for separator in SEPARATORS:
        if separator in names[0]:
            return [_separator_problem(names[0], separator, line)]
    if "," in names[0]:
        message = Message(_ROWS_IN_QUOTES, line=line, header=shown(names[0]))
        return [Problem("separator", message, line=line)]
    return []


_ROWS_IN_QUOTES = Message(
    "Each row is one cell in quotes: line {line} is {header}. Save the file without quotes around whole rows."
)
_SAVE_WITH_COMMAS = Message(
    "The columns are separated by {separators}: line {line} is {header}. Save the file with commas (in pandas without "
    '"sep").'
)
_SPACES = Message(
    "The columns are separated by spaces: line {line} is {header}. Save the file with commas (in R with "
    '"write.csv" and "row.names = FALSE").'
)
_QUOTED_AND_SPACES = re.compile(r'\s*"[^"]*"(?: +"[^"]*")+\s*')
_SAVE_WITH_COMMAS_AND_POINTS = Message(
    "The columns are separated by {separators}: line {line} is {header}. Save the file with commas and decimal points "
    '(0.5, not 0,5); in pandas without "sep" and "decimal".'
)


def _separator_problem(header: str, separator: str, line: int) -> Problem:
    """The problem of another separator. With semicolons the message mentions decimal commas, too: such files often have
    them, and they would be refused next."""
    form = _SAVE_WITH_COMMAS_AND_POINTS if separator == ";" else _SAVE_WITH_COMMAS
    message = Message(form, separators=SEPARATORS[separator], line=line, header=shown(header))
    return Problem("separator", message, line=line)


def spaces_between_quotes(header: str, line: int) -> list[Problem]:
    """A problem if names in quotes are separated by spaces, as R writes them."""
    return [_spaces_problem(header, line)] if _QUOTED_AND_SPACES.fullmatch(header) else []


def _check_spaces(names: Sequence[str], expected: Sequence[str], line: int) -> list[Problem]:
    """A problem if the header is a single name made of expected ones with spaces between them."""
    if len(names) != 1 or names[0] in expected:
        return []
    pieces = matched_names(cells_of(names[0], " "), expected)
    return [_spaces_problem(names[0], line)] if len(pieces) > 1 and expected[0] in pieces else []


def _spaces_problem(header: str, line: int) -> Problem:
    return Problem("separator", Message(_SPACES, line=line, header=shown(header)), line=line)


def first_cell(text: str) -> str:
    """The text before the first separator other than a comma."""
    return re.split(f"[{re.escape(''.join(SEPARATORS))}]", text, maxsplit=1)[0]


def other_separator(text: str) -> Message | None:
    """A message if rows like this have another separator than the header's commas; else None."""
    for separator, word in SEPARATORS.items():
        if separator in text:
            return Message(
                "The rows are separated by {separators} and the header by commas: save the whole file with commas.",
                separators=word,
            )
    return None


def _check_comment(names: Sequence[str], line: int, expected: Sequence[str] = ()) -> list[Problem]:
    """A problem if a comment is in place of the header."""
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
    """All problems of a submission's header, given the exact names it needs.

    >>> [problem.message for problem in check_header(["id", "house_price"], ["id", "house price"])]
    ['The column "house price" is missing; the header has "house_price" instead.']
    """
    if separator := check_separator(names, line) or _check_spaces(names, expected, line):
        return separator
    found, wanted = set(names), set(map(name_key, expected))
    if not found & set(expected) and {name_key(piece) for name in names for piece in name.split(";")} & wanted:
        return [_separator_problem(",".join(names), ";", line)]
    if comment := _check_comment(names, line, expected):
        return comment
    if len(names) == 1 < len(expected) and NUMBER.fullmatch(names[0]):
        message = Message(
            "The column {column} is missing: line {line} has one value, {found}. The columns must be: {expected}",
            column=shown(expected[0]),
            line=line,
            found=shown(names[0]),
            expected=",".join(expected),
        )
        return [Problem("column_missing", message, column=expected[0], line=line)]
    if not found & set(expected) and any(NUMBER.fullmatch(name) for name in names):
        message = Message("The header is missing. The first line must be: {expected}", expected=",".join(expected))
        return [Problem("header_missing", message, line=line)]
    problems = _repeated_names(names, line) + _unnamed_column_problems(names, line)
    repeated = {problem.column for problem in problems}
    extra = [name for name in names if name and name not in expected and name not in repeated]
    missing = [name for name in expected if name not in found]
    twins = {letters_of(name): name for name in reversed(extra)}
    is_renamed = len(extra) == len(missing) and not any(map(is_index, extra))
    others = iter([name for name in extra if is_renamed and letters_of(name) not in map(letters_of, missing)])
    for name in missing:
        message = Message("The column {column} is missing. Add it as in sample_submission.csv.", column=shown(name))
        if twin := twins.pop(letters_of(name), "") or next(others, ""):
            extra.remove(twin)
            message = Message(
                "The column {column} is missing; the header has {twin} instead.",
                column=shown(name),
                twin=shown(twin),
            )
        problems.append(Problem("column_missing", message, column=name, line=line))
    if extra:
        problems.append(_unexpected_column_problem(extra, expected, line))
    return problems


def letters_of(name: str) -> str:
    """The name without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _unexpected_column_problem(extra: Sequence[str], expected: Sequence[str], line: int) -> Problem:
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
    """Whether a column has a name that pandas gives to an exported index."""
    return name in ("index", "level_0") or name.startswith("Unnamed: ")


def looks_like_index(name: str) -> Message:
    """The advice about a column that looks like an exported index."""
    return Message('The column {column} looks like an exported index: write with "index=False".', column=shown(name))


def _repeated_names(names: Sequence[str], line: int) -> list[Problem]:
    """One problem for each name that occurs several times, or in several writings."""
    found: list[Problem] = []
    for name, times in Counter(names).items():
        if name and times > 1:
            message = Message("The column {column} is there {times} times.", column=shown(name), times=times)
            found.append(Problem("column_repeated", message, column=name, line=line, count=times))
    for first, name in equal_names(names):
        message = Message("The columns {first} and {name} have the same name.", first=shown(first), name=shown(name))
        found.append(Problem("column_repeated", message, column=name, line=line, count=2))
    return found[:EXAMPLES]


def _unnamed_column_problems(names: Sequence[str], line: int) -> list[Problem]:
    """A problem if columns have no name."""
    if "" not in names:
        return []
    place = list(names).index("")
    if place == 0:
        message = Message(
            'The first column has no name. If it counts the rows, write without it: in pandas with "index=False", in R '
            'with "row.names = FALSE".'
        )
    elif place == len(names) - 1:
        message = Message("The last column has no name: the header ends with a comma or an empty cell.")
    else:
        message = Message("Column {place} of the header has no name.", place=place + 1)
    return [Problem("column_unnamed", message, line=line, count=list(names).count(""))]


def problems_of_truth(names: Sequence[str], line: int) -> list[Problem]:
    if other := check_separator(names, line) or _check_comment(names, line):
        return other
    if all(NUMBER.fullmatch(name) for name in names):
        message = Message(
            "The header is missing: the first line, {found}, must name the columns.", found=shown(",".join(names))
        )
        return [Problem("header_missing", message, line=line)]
    return _repeated_names(names, line) + _unnamed_column_problems(names, line)
