"""Column names of a file, and the problems that the first megabyte of an upload shows. Needs no CSV library and no
pyarrow."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core.errors import Problem, Refused, shown
from ..core.messages import EXAMPLES, Message, listed
from .archives import check_zip, peek
from .column_names import MAX_CHARACTERS, clean_name, first_lines, header_place, matched_names
from .formats import PACKED, TABLES, container_of, refuse_container
from .header_problems import check_header, check_separator, problems_of_truth, spaces_between_quotes
from .text import LONGEST_LINE, check_encoding, checked_text, no_rows, plain_lines

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
    return Header(names, line, min(end + 1, len(data)), _place_notes(line) if place else ())


def _place_notes(line: int) -> tuple[Problem, ...]:
    message = Message("The header was found in row {line}; what is above it was not read.", line=line)
    return (Problem("read_header", message, line=line),)


def _names_in(raw: str, line: int) -> list[str]:
    """The cleaned names in the text of a header. Raises ``Refused``."""
    if '"' in raw:
        try:
            names = next(csv.reader([raw], strict=True))
        except csv.Error:
            bare = raw.replace('"', "")
            if problems := check_separator([bare] if "," not in bare else [], line) or spaces_between_quotes(raw, line):
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
        if problems := problems_of_truth(found.names, found.line):
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
        end = data.find(b"\n")
        if end > 0 and data[:end] == self.first_line:  # as in nearly all files
            return Header(list(self.columns), 1, end + 1)
        return self.accepted(header_of(data, self.located_by))

    @property
    def first_line(self) -> bytes | None:
        """The first line of a file with these names and nothing else; None if some of them need quotes."""
        line = ",".join(self.columns)
        return line.encode() if '"' not in line and line.count(",") == len(self.columns) - 1 else None

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
    if kind in TABLES:
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
    problems = [] if columns else check_separator(found.names, found.line)
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
