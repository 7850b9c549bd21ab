"""Column names of a file and their problems; and the problems that the first megabyte of an upload shows.
Needs no CSV library and no pyarrow."""

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ..core.errors import Problem, Refused, shown
from ..core.messages import EXAMPLES, Message, listed
from .column_names import (
    MAX_CHARACTERS,
    NUMBER,
    SEPARATORS,
    clean_name,
    equal_names,
    first_lines,
    header_place,
    matched_names,
    name_key,
    without_accents,
)
from .containers import PACKED, READERS, check_zip, container_of, peek, refuse_container
from .text import LONGEST_LINE, check_encoding, checked_text, no_rows, plain_lines

USAGE = "Usage"
SPLITS = ("public", "private", "ignored")

_MOST_COLUMNS = 2_000


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a text: the names of its columns, the line number, and the offset after it; ``notes`` say where it
    was found and which names were read otherwise than they are written."""

    names: list[str]
    line: int
    body: int
    notes: tuple[Problem, ...] = ()


def header_of(data: bytes, expected: Sequence[str] = ()) -> Header:
    """The header of a text with ``\\n`` line ends, below blank lines and titles. Raises ``Refused``."""
    lines = first_lines(data[: 4 * MAX_CHARACTERS].decode("utf-8", "replace"))
    place = header_place(lines, expected)
    line = lines[place][0] if lines else 1
    start = 0
    for _ in range(line - 1):
        start = data.find(b"\n", start) + 1
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    names = _names_in(data[start:end].decode("utf-8", "replace"), line)
    message = Message("The header was found in row {line}; what is above it was not read.", line=line)
    notes = (Problem("read_header", message, line=line),) if place else ()
    return Header(names, line, min(end + 1, len(data)), notes)


def _names_in(raw: str, line: int) -> list[str]:
    """The cleaned names in the text of a header. Raises ``Refused``."""
    if '"' in raw:
        try:
            names = next(csv.reader([raw], strict=True))
        except csv.Error:
            bare = raw.replace('"', "")
            if problems := _check_separator([bare] if "," not in bare else [], line):
                raise Refused(*problems) from None
            message = Message("Line {line}: the quotes of the header are broken.", line=line)
            raise Refused(Problem("quote", message, line=line)) from None
    else:
        names = raw.split(",")
    if len(names) > _MOST_COLUMNS:
        many = len(names)
        message = Message("The header names {names} columns; at most {most} are read.", names=many, most=_MOST_COLUMNS)
        raise Refused(Problem("too_many_columns", message, line=line, count=len(names)))
    return list(map(clean_name, names))


class HeaderRule:
    """A rule for the header of a table; this one accepts any."""

    def read(self, data: bytes) -> Header:
        """The accepted header of a text. Raises ``Refused``."""
        return self.accepted(header_of(data))

    def accepted(self, found: Header) -> Header:
        """The header with the names under which its columns are read. Raises ``Refused`` with all its problems."""
        return found


class _TruthHeader(HeaderRule):
    """The header of a truth, whatever its metric."""

    def accepted(self, found: Header) -> Header:
        if problems := _problems_of_truth(found.names, found.line):
            raise Refused(*problems)
        return found


@dataclass(frozen=True, slots=True)
class ExpectedHeader(HeaderRule):
    """The columns of a submission; one of the ``aliases`` may be the name of the last."""

    columns: tuple[str, ...]
    aliases: tuple[str, ...] = ()

    @property
    def located_by(self) -> tuple[str, ...]:
        """The names by which the line of the header is found."""
        return self.columns[:-1] if self.aliases else self.columns

    def read(self, data: bytes) -> Header:
        return self.accepted(header_of(data, self.located_by))

    def accepted(self, found: Header) -> Header:
        names = matched_names(found.names, self.columns)
        expected = self.columns
        if self.aliases and expected[-1] not in names:
            with_alias = matched_names(names, self.aliases)
            if alias := next((name for name in self.aliases if name in with_alias), ""):
                names, expected = with_alias, (*expected[:-1], alias)
        if problems := check_header(names, expected, found.line):
            raise Refused(*problems)
        return replace(found, names=names, notes=found.notes + _renaming_notes(found, names))


ANY_HEADER = HeaderRule()
TRUTH_HEADER = _TruthHeader()


def _renaming_notes(header: Header, names: Sequence[str]) -> tuple[Problem, ...]:
    """A note about columns that are read under another name."""
    pairs = [(old, new) for old, new in zip(header.names, names, strict=True) if old != new]
    if not pairs:
        return ()
    # Translators: a column of a file and the one as which it is read: "Y" as "y"
    texts = [Message("{old} as {new}", old=shown(old), new=shown(new)) for old, new in pairs[:EXAMPLES]]
    listing = listed(texts, len(pairs))
    message = Message("Names of columns were read without case, spaces and brackets: {names}.", names=listing)
    return (Problem("read_names", message, column=pairs[0][1], line=header.line, count=len(pairs)),)


def _check_separator(names: Sequence[str], line: int) -> list[Problem]:
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
    if separator := _check_separator(names, line):
        return separator
    found, wanted = set(names), set(map(name_key, expected))
    if not found & set(expected) and {name_key(piece) for name in names for piece in name.split(";")} & wanted:
        return [_separator_problem(",".join(names), ";", line)]
    if comment := _check_comment(names, line, expected):
        return comment
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
        message = Message('The first column has no name. If it is the index of pandas, write with "index=False".')
    elif place == len(names) - 1:
        message = Message("The last column has no name: the header ends with a comma or an empty cell.")
    else:
        message = Message("Column {place} of the header has no name.", place=place + 1)
    return [Problem("column_unnamed", message, line=line, count=list(names).count(""))]


def _problems_of_truth(names: Sequence[str], line: int) -> list[Problem]:
    if other := _check_separator(names, line) or _check_comment(names, line):
        return other
    if all(NUMBER.fullmatch(name) for name in names):
        message = Message(
            "The header is missing: the first line, {found}, must name the columns.", found=shown(",".join(names))
        )
        return [Problem("header_missing", message, line=line)]
    return _repeated_names(names, line) + _unnamed_column_problems(names, line)


def are_parts(cells: Iterable[str]) -> bool:
    """Whether these cells are only names of splits."""
    return {cell.casefold() for cell in cells} <= {*SPLITS, ""}


def sniff(
    head: bytes,
    size: int,
    columns: Sequence[str] | None,
    *,
    expected_rows: int | None = None,
    aliases: Sequence[str] = (),
    may_be_empty: bool = False,
    longest_line: int = LONGEST_LINE,
) -> list[Problem]:
    """Problems visible in ``head``, the first bytes of a file of ``size`` bytes; an empty list does not mean a valid
    file.

    ``columns`` are those that the competition needs, or ``None`` if they are not known yet; the last may have one of
    the ``aliases`` as its name. ``expected_rows`` is for the message about missing rows; ``may_be_empty`` for metrics
    that need no row; ``longest_line`` is the metric's limit. Gzip and zip are unpacked within limits. Excel and Parquet
    files are left to the reader; other formats are named but not opened.
    """
    kind = container_of(head[:4096])
    is_packed = kind in PACKED
    if kind in READERS:
        return []  # the scorer reads it and says what is wrong
    if kind is not None and not is_packed:
        return [refuse_container(kind)]
    is_cut = is_packed or len(head) < size
    try:
        if kind == "zip" and len(head) == size:
            check_zip(head)
        data = peek(head) if is_packed else head
        if is_packed and not data:
            return []  # the scorer unpacks it and says what is wrong
        clean = checked_text(data, longest_line, is_cut=is_cut)
        if not clean:
            return []
        found = ExpectedHeader(tuple(columns), tuple(aliases)).read(clean) if columns else header_of(clean)
    except Refused as refused:
        return refused.problems
    problems = [] if columns else _check_separator(found.names, found.line)
    if not (problems or is_cut or may_be_empty or clean[found.body :].strip()):
        problems.append(Problem("no_rows", no_rows(expected_rows), line=found.line))
    return problems


def read_header(head: bytes) -> list[str]:
    """The column names of a CSV whose first bytes are ``head``; empty if they cannot be read.

    >>> read_header(b"id, y \\n1,2\\n")
    ['id', 'y']
    """
    found = _header_at(head)
    return found.names if found is not None and any(found.names) else []


def header_notes(head: bytes) -> tuple[Problem, ...]:
    """Where the header of a CSV was found, if not in its first row; ``head`` are its first bytes."""
    found = _header_at(head)
    return () if found is None else found.notes


def _header_at(head: bytes) -> Header | None:
    kind = container_of(head[:4096])
    data = peek(head) if kind in PACKED else head
    try:
        check_encoding(data, is_cut=True)
        return header_of(plain_lines(data))
    except Refused:
        return None


_WORDS = {
    "Public": (
        "public pub pb publique publico publica pubblico pubblica oeffentlich offentlich publiczny publiczna"
        " publiek openbaar veřejný veřejná offentlig açık публичный публичная открытый открытая 公开 公開 パブリック"
    ),
    "Private": (
        "private priv prv pv privat prive privee privado privada privato privata prywatny prywatna hidden versteckt"
        " geheim verborgen soukromý soukromá dold skjult gizli özel приватный приватная закрытый закрытая скрытый"
        " скрытая 私有 非公开 非公開 プライベート"
    ),
    "Ignored": "ignored ignore ignoriert ignorieren ignoree ignorado ignorada ignorato unused",
}
_MOST_WORDS = 6
_OTHER = {"Public": "Private", "Private": "Public"}
_TRUTH_VALUES = dict.fromkeys(("1", "true", "yes", "ja", "oui", "si", "x"), True)
_TRUTH_VALUES |= dict.fromkeys(("0", "false", "no", "nein", "non"), False)
_FILLERS = ("is", "test", "part", "lb", "leaderboard", "set", "board", "score")


def _plain_words(text: str) -> list[str]:
    """The words of a text without case, accents and signs."""
    return "".join(letter for letter in without_accents(text).casefold() if letter.isalnum() or letter == " ").split()


_PARTS = {word: part for part, words in _WORDS.items() for word in _plain_words(words)}


def part_named(word: str) -> str:
    """``Public``, ``Private`` or ``Ignored`` for a word that means it; ``""`` for others.

    >>> part_named("öffentlich"), part_named("PRIVATE test"), part_named("cat")
    ('Public', 'Private', '')
    """
    named = [piece for piece in _plain_words(word) if piece not in _FILLERS]
    return _PARTS.get(named[0], "") if len(named) == 1 else ""


def known_part(cell: str, column: str = "") -> str:
    """The cell of this column as the readers know it: itself, or the part that it means.

    >>> known_part("privat"), known_part("0", "is_public"), known_part("?", "split")
    ('Private', 'Private', '?')
    """
    return cell if are_parts([cell]) else part_named(cell) or _part_by_truth(cell, column) or cell


def _part_by_truth(cell: str, column: str) -> str:
    """The part of a truth value in a column that is called like a part: 1 of `is_public`."""
    named, value = part_named(column.replace("_", " ")), _TRUTH_VALUES.get(cell.casefold())
    if named not in _OTHER or value is None:
        return ""
    return named if value else _OTHER[named]


def are_split_words(cells: Collection[str], column: str = "") -> bool:
    """Whether distinct cells of this column are words for parts, and both the public and the private one are there."""
    if not 2 <= len(cells) <= _MOST_WORDS:
        return False
    parts = {known_part(cell, column).capitalize() for cell in cells}
    return {"Public", "Private"} <= parts <= {"Public", "Private", "Ignored"}
