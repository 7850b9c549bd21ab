"""What the first megabyte of an upload already tells, without reading the table and without pyarrow."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import Problem, Refused
from .containers import check_zip, container_of, peek, refuse_container
from .headers import check_header, check_separator, header_of
from .text import (
    LONGEST_LINE,
    check_characters,
    check_encoding,
    check_line_lengths,
    empty_file,
    no_rows,
    only_blanks,
    plain_lines,
)


def sniff(
    head: bytes,
    size: int,
    columns: Sequence[str] | None,
    *,
    expected_rows: int | None = None,
    may_be_empty: bool = False,
    longest_line: int = LONGEST_LINE,
) -> list[Problem]:
    """Problems visible in ``head``, the first bytes of a file of ``size`` bytes; an empty list promises nothing.

    ``columns`` is the exact header that the competition needs, or ``None`` if it is not known yet, ``expected_rows``
    is for the words about missing ones; ``may_be_empty`` where the metric does without any row, ``longest_line`` what
    it allows. Gzip and zip are peeked into within limits; every other container is named and left closed.
    """
    if not size or not head:
        return [empty_file()]
    try:
        problems, line = _look(head, size, columns, longest_line)
    except Refused as refused:
        return refused.problems
    if line and not problems and not may_be_empty:
        problems.append(Problem("no_rows", no_rows(expected_rows), line=line))
    return problems


def read_header(head: bytes) -> list[str]:
    """The column names of a CSV of which ``head`` are the first bytes; empty where they cannot be read.

    >>> read_header(b"id, y \\n1,2\\n")
    ['id', 'y']
    """
    kind = container_of(head[:4096])
    data = peek(head) if kind in ("gzip", "zip") else head
    try:
        check_encoding(data, is_cut=True)
        names = header_of(plain_lines(data))[0]
    except Refused:
        return []
    return names if any(names) else []


def _look(head: bytes, size: int, columns: Sequence[str] | None, longest_line: int) -> tuple[list[Problem], int]:
    """What is wrong, and the line of a header that stands alone."""
    kind = container_of(head[:4096])
    is_packed = kind in ("gzip", "zip")
    if kind is not None and not is_packed:
        return [refuse_container(kind)], 0
    if kind == "zip" and len(head) == size:
        check_zip(head)
    data = peek(head) if is_packed else head
    if is_packed and not data:
        return [], 0  # the scorer unpacks it and says what is wrong
    is_cut = is_packed or len(head) < size
    check_encoding(data, is_cut=is_cut)
    clean = plain_lines(data)
    if not clean.strip():
        return [] if is_cut else [only_blanks()], 0
    check_characters(clean)
    check_line_lengths(clean, longest_line)
    names, line, body = header_of(clean)
    problems = check_header(names, columns, line) if columns else check_separator(names, line)
    return problems, 0 if is_cut or clean[body:].strip() else line
