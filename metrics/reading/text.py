"""CSV bytes → clean UTF-8 text with known lines, without any CSV library.

Everything that a table reader might silently misread is found here first: other encodings, control characters, absurdly
long lines, misplaced quotes.
"""

import re

import numpy as np

from ..core.errors import Problem, Refused
from ..core.messages import Message
from .formats import container_of, refuse_container

LONGEST_LINE = 65_536
LONGEST_MASK_LINE = 8_388_608
"""The limit for masks and boxes: 1024 × 1024 pixels with every other one set, the worst mask, take 5 MB."""

_CONTROL = bytes(set(range(32)) - {9, 10, 13}) + b"\x7f"
_BLOCK = 1 << 18
HIGH_CONTROL = re.compile(b"\xc2[\x80-\x84\x86-\x9f]")  # U+0085, "next line", is white space


def checked_text(data: bytes, longest_line: int = LONGEST_LINE, *, is_cut: bool = False) -> bytes:
    """The text without byte-order mark, every line end as ``\\n``. With ``is_cut`` more of the file follows. Raises
    ``Refused`` for another encoding, control characters, long lines, or no text."""
    if not data:
        raise Refused(Problem("empty_file", Message("The file is empty (0 bytes).")))
    check_encoding(data, is_cut=is_cut)
    clean = plain_lines(data)
    if not clean or clean.isspace():
        if is_cut:
            return b""
        raise Refused(Problem("no_rows", Message("The file has no rows: it holds only blank lines.")))
    _check_characters(clean)
    _check_line_lengths(clean, longest_line)
    return clean


def record_lines(data: bytes, start: int) -> np.ndarray:
    """The line numbers of the non-blank records from ``start`` on; a quoted cell may span lines."""
    ends = _places_of(10, data, start)
    is_outside = np.searchsorted(_places_of(34, data, start), ends) % 2 == 0
    closing = np.flatnonzero(is_outside)
    ends = ends[closing]
    starts = np.concatenate(([start], ends + 1))
    stops = np.concatenate((ends, [len(data)]))
    lines = np.concatenate(([0], closing + 1)) + data.count(b"\n", 0, start) + 1
    found: np.ndarray = lines[stops > starts]
    return found


def _places_of(byte: int, data: bytes, start: int) -> np.ndarray:
    """The offsets of a byte from ``start`` on; searched in blocks, because a mask of all bytes is as large as the
    file."""
    buffer = np.frombuffer(data, np.uint8)
    found = (np.flatnonzero(buffer[at : at + _BLOCK] == byte) + at for at in range(start, len(buffer), _BLOCK))
    return np.concatenate([np.zeros(0, np.int64), *found])


def plain_lines(data: bytes) -> bytes:
    """The bytes without byte-order mark, every line end as ``\\n``."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def no_rows(expected: int | None) -> Message:
    """The message about a file that ends after its header."""
    if expected:
        return Message("The file has a header but no rows; {expected} expected.", expected=expected)
    return Message("The file has a header but no rows.")


def check_encoding(data: bytes, *, is_cut: bool = False) -> None:
    """Refuse other file formats, UTF-16 and invalid UTF-8; with ``is_cut`` the last character may be incomplete."""
    name = container_of(data[:4096])
    if name is not None:
        raise Refused(refuse_container(name))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = Message('The file is UTF-16 text (Excel\'s "Unicode text"). Save it as "CSV UTF-8".')
        raise Refused(Problem("encoding", message, line=1))
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not (is_cut and error.start >= len(data) - 3):
            raise Refused(_not_utf8(data, error)) from None


def _not_utf8(data: bytes, error: UnicodeDecodeError) -> Problem:
    line = plain_lines(data[: error.start]).count(b"\n") + 1
    where = error.start - max(data.rfind(b"\n", 0, error.start), data.rfind(b"\r", 0, error.start))
    if b"\x00" in data[:4096]:
        message = Message('The file holds NUL bytes, probably because it is UTF-16. Save it as "CSV UTF-8".')
    elif data[error.start] == 0xED and error.reason == "invalid continuation byte":
        message = Message(
            'Line {line}, byte {place}: half of a surrogate pair is not UTF-8. Save the file as "CSV UTF-8".',
            line=line,
            place=f"{where}",
        )
    else:
        message = Message(
            'Line {line}, byte {place}: byte {byte} is not UTF-8. Save the file as "CSV UTF-8".',
            line=line,
            place=f"{where}",
            byte=f"0x{data[error.start]:02X}",
        )
    return Problem("encoding", message, line=line)


def _check_characters(data: bytes) -> None:
    """Refuse NUL and other control characters except tab and line ends."""
    has_control = len(data.translate(None, _CONTROL)) < len(data)
    if not (has_control or (not data.isascii() and HIGH_CONTROL.search(data))):
        return
    found = [match.start() for match in re.finditer(b"[" + re.escape(_CONTROL) + b"]", data)]
    found = found or [match.start() for match in HIGH_CONTROL.finditer(data)]
    first = found[0]
    line, place = data.count(b"\n", 0, first) + 1, first - data.rfind(b"\n", 0, first)
    number = data[first] if data[first] < 128 else data[first + 1]
    if number == 0:
        message = Message(
            "Line {line}, byte {place}: NUL byte. Is the file UTF-16 or damaged? Save it as CSV UTF-8.",
            line=line,
            place=f"{place}",
        )
    elif number == 0x1A and not data[first + 1 :].strip():
        message = Message(
            "Line {line}: the file ends with Ctrl-Z (0x1A), an old end-of-file mark. Remove it.", line=line
        )
    else:
        message = Message(
            "Line {line}, byte {place}: control character {character}. Remove it.",
            line=line,
            place=f"{place}",
            character=f"0x{number:02X}",
        )
    raise Refused(Problem("control_character", message, line=line, count=len(found)))


def _check_line_lengths(data: bytes, longest: int = LONGEST_LINE) -> None:
    """Refuse lines longer than ``longest`` bytes; hops from line end to line end, so it is cheap."""
    start, size = 0, len(data)
    while size - start > longest:
        end = data.rfind(b"\n", start, start + longest + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1
            message = Message("Line {line} is longer than {most} bytes.", line=line, most=longest)
            raise Refused(Problem("long_line", message, line=line))
        start = end + 1


def quotes_are_regular(data: bytes, start: int = 0) -> bool:
    """Whether each quote from ``start`` on opens a cell, closes one or is doubled inside one, and none stays open.

    Readers guess about other quotes, each in a different way.
    """
    places = _places_of(34, data, start)
    if len(places) % 2:
        return False
    buffer = np.frombuffer(data, np.uint8)
    opening, closing = places[::2], places[1::2]
    before = np.where(opening > start, buffer[opening - 1], 10)
    after = np.where(closing + 1 < len(buffer), buffer[np.minimum(closing + 1, len(buffer) - 1)], 10)
    opens_well = (before == 44) | (before == 10)
    closes_well = (after == 44) | (after == 10)
    doubled = np.zeros(len(opening), bool)
    doubled[1:] = opening[1:] == closing[:-1] + 1
    doubled_after = np.zeros(len(closing), bool)
    doubled_after[:-1] = doubled[1:]
    return bool((opens_well | doubled).all() and (closes_well | doubled_after).all())
