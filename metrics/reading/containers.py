"""File formats by their first bytes, and the CSV inside of .gz, .zip, Excel and Parquet files.

Nothing is ever unpickled, and no other container is opened. A zip may hold one plain CSV; the path of its member is
never used, because the bytes stay in memory.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..core.errors import Problem, Refused, SubmissionError, shown
from ..core.messages import Message, joined
from .list_cells import UNKNOWN, Wanted
from .workbook_limits import BROKEN_ARCHIVE, broken, check_member_count
from .workbooks import parquet_to_csv, xlsx_to_csv

LIMIT = 500_000_000
"""The default limit of a CSV's bytes after unpacking."""

RATIO = 100
"""The largest factor by which a compressed file may grow."""

_OF_SYSTEMS = {"__macosx", "__pycache__"}
_LEFT_BY_SYSTEMS = (".ds_store", "thumbs.db", "desktop.ini")

_CHUNK = 1 << 20
_SLACK = 1 << 16  # tiny archives may compress better than the ratio

_TAR = Message("a tar archive (.tar, .tar.gz)")
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Message("an old Excel or Word file (.xls, .doc)")),
    (b"BZh", Message("a bzip2 archive")),
    (b"\xfd7zXZ\x00", Message("an xz archive")),
    (b"\x28\xb5\x2f\xfd", Message("a Zstandard archive")),
    (b"7z\xbc\xaf\x27\x1c", Message("a 7-Zip archive")),
    (b"Rar!\x1a\x07", Message("a RAR archive")),
    (b"PAR1", "parquet"),
    (b"ARROW1", Message("an Arrow (Feather) file")),
    (b"FEA1", Message("a Feather file")),
    (b"\x93NUMPY", Message("a NumPy file (.npy)")),
    (b"\x89HDF\r\n\x1a\n", Message("an HDF5 file")),
    (b"SQLite format 3\x00", Message("an SQLite database")),
    (b"%PDF-", Message("a PDF document")),
    (b"\x89PNG\r\n\x1a\n", Message("a PNG image")),
    (b"\xff\xd8\xff", Message("a JPEG image")),
    (b"GIF8", Message("a GIF image")),
    (b"{\\rtf", Message("an RTF document")),
    (b"#!", Message("a script")),
    (b"\x7fELF", Message("a program")),
)
_ARCHIVES = {name for _, name in _MAGIC if "archive" in name} | {_TAR}
READERS: dict[str, Callable[..., bytes]] = {"xlsx": xlsx_to_csv, "parquet": parquet_to_csv}
PACKED = ("gzip", "zip")
_NAMES = {
    "gzip": Message("a gzip file"),
    "zip": Message("a zip archive"),
    "xlsx": Message("an Excel file"),
    "parquet": Message("a Parquet file"),
}
_JSON = re.compile(rb'\{|\[\s*(["\[{\]0-9-]|true|false|null|$)')  # and no [name] in brackets
_MARKUP = (b"<!doctype", b"<html", b"<head", b"<?xml", b"<body")


def container_of(head: bytes) -> str | None:
    """``"gzip"``, ``"zip"``, ``"xlsx"``, ``"parquet"``, ``None`` for plain text, else a readable name of the file's
    format."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if head[30:38] == b"mimetype":
            return Message("an OpenDocument file (.ods, .odt, …)")
        if any(mark in head for mark in (b"word/", b"ppt/")) and b"xl/" not in head:
            return Message("a Word or PowerPoint file")
        return "xlsx" if b"[Content_Types].xml" in head or b"xl/" in head else "zip"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if len(head) > 2 and head[0] == 0x80 and head[1] in (2, 3, 4, 5):
        return Message("a Python pickle")
    return _TAR if head[257:262] == b"ustar" else _format_of_text(head)


def _format_of_text(head: bytes) -> str | None:
    start = head[:512].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.lower().startswith(_MARKUP):
        return Message("a web page (HTML or XML), perhaps a log-in page that was saved in place of the file")
    if _JSON.match(start):
        return Message("a JSON file")
    return None


def format_of(head: bytes) -> str:
    """The readable name of a file's format, by its first bytes; empty for plain text."""
    kind = container_of(head) or ""
    return _NAMES.get(kind, kind)


def refuse_container(name: str) -> Problem:
    """The problem of a file that is not a table; ``name`` is a result of ``container_of``."""
    kind = _NAMES.get(name, name)
    if kind in _ARCHIVES:
        return broken(
            Message("This is {kind}, which isn't unpacked. Send the CSV in it, as it is or as .zip.", kind=kind)
        )
    return broken(
        Message(
            "This is {kind}, not a CSV file. Choose another file, or export this one as CSV (UTF-8, comma).", kind=kind
        )
    )


def read_container(data: bytes, limit: int = LIMIT, notes: list[Problem] | None = None) -> bytes:
    """The CSV bytes of a plain file, a ``.gz`` or a ``.zip`` with one CSV, an Excel workbook or a Parquet file; adds
    ``notes`` on how a workbook was read.

    The result has at most ``limit`` bytes, and a compressed file may grow by a factor of 100 at most. Raises
    ``SubmissionError`` for a file that is too large, broken, or of another format.
    """
    try:
        return unpack(data, limit, notes)
    except Refused as refused:
        raise SubmissionError(refused.problems) from None


def unpack(data: bytes, limit: int = LIMIT, notes: list[Problem] | None = None, wanted: Wanted = UNKNOWN) -> bytes:
    """The same as ``read_container``, but raises ``Refused``; lists in cells are joined as ``wanted``."""
    kind = container_of(data[:4096])
    if kind is None:
        if len(data) > limit:
            raise Refused(_too_large(limit))
        return data
    if kind in READERS:
        return READERS[kind](data, limit, [] if notes is None else notes, wanted)
    if kind not in PACKED:
        raise Refused(refuse_container(kind))
    inner = _unpack_gzip(data, limit) if kind == "gzip" else _unpack_zip(data, limit)
    nested = container_of(inner[:4096])
    if nested in _ARCHIVES:
        raise Refused(refuse_container(nested))
    if nested is not None:
        what = _NAMES.get(nested, nested)
        raise Refused(broken(Message("Inside the archive is {kind}, not a CSV file.", kind=what)))
    return inner


def peek(head: bytes, limit: int = _CHUNK) -> bytes:
    """The first bytes of the CSV in a gzip or zip of which only ``head`` is available; at most ``limit``."""
    kind = container_of(head[:4096])
    if kind == "gzip":
        return _inflate_some(zlib.decompressobj(wbits=31), head, limit)
    if kind != "zip" or len(head) < 30 or head[:4] != b"PK\x03\x04":
        return b""
    flags, method = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    length = int.from_bytes(head[26:28], "little")
    if flags & 1 or is_left_by_system(head[30 : 30 + length].decode(errors="replace")):
        return b""
    start = 30 + length + int.from_bytes(head[28:30], "little")
    if method == 0:
        size = int.from_bytes(head[18:22], "little")
        return head[start : start + min(size, limit)]
    return _inflate_some(zlib.decompressobj(wbits=-15), head[start:], limit) if method == 8 else b""


def _inflate_some(inflater: "zlib._Decompress", data: bytes, limit: int) -> bytes:
    try:
        return inflater.decompress(data, limit)
    except zlib.error:
        return b""


def _unpack_gzip(data: bytes, limit: int) -> bytes:
    parts: list[bytes] = []
    total = place = 0
    inflater = zlib.decompressobj(wbits=31)
    try:
        while place < len(data) and not inflater.eof:
            rest = data[place : place + _CHUNK]
            place += len(rest)
            while rest and not inflater.eof:
                parts.append(inflater.decompress(rest, _CHUNK))
                total += len(parts[-1])
                _check_size(total, len(data), limit)
                rest = inflater.unconsumed_tail
    except zlib.error:
        raise Refused(broken(Message("The gzip file is damaged and cannot be unpacked."))) from None
    if not inflater.eof:
        raise Refused(broken(Message("The gzip file is cut off: its end is missing.")))
    if inflater.unused_data.strip(b"\x00") or data[place:].strip(b"\x00"):
        raise Refused(broken(Message("The gzip file holds more than one member; one CSV is expected.")))
    return b"".join(parts)


@contextmanager
def _opened_zip(data: bytes) -> Iterator[tuple[zipfile.ZipFile, zipfile.ZipInfo]]:
    """A zip archive and its only file. Raises ``Refused``."""
    check_member_count(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive, _only_member(archive.infolist())
    except BROKEN_ARCHIVE:
        raise Refused(broken(Message("The zip archive is damaged or encrypted."))) from None


def _unpack_zip(data: bytes, limit: int) -> bytes:
    parts: list[bytes] = []
    total = 0
    with _opened_zip(data) as (archive, member), archive.open(member) as stream:
        while part := stream.read(_CHUNK):
            total += len(part)
            _check_size(total, len(data), limit)
            parts.append(part)
    return b"".join(parts)


def check_zip(data: bytes) -> None:
    """Raise ``Refused`` unless a whole zip holds exactly one plain file; nothing is unpacked."""
    with _opened_zip(data):
        pass


def is_left_by_system(name: str) -> bool:
    """Whether a system or an editor left this file in the folder, so that it does not count as a second file."""
    *folders, last = name.lower().split("/")
    is_hidden = any(part.startswith(".") and part.strip(".") for part in (*folders, last))
    is_draft = last.startswith("~$") or last.endswith("~")
    return is_hidden or is_draft or last in _LEFT_BY_SYSTEMS or not _OF_SYSTEMS.isdisjoint(folders)


def _only_member(members: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    found = [m for m in members if not m.is_dir() and not is_left_by_system(m.filename)]
    if len(found) != 1:
        message = Message.counted(
            len(found),
            "The zip archive holds {count} file; exactly one CSV is expected.",
            "The zip archive holds {count} files; exactly one CSV is expected.",
        )
        if found:
            names = joined([shown(m.filename) for m in found[:5]], ", ")
            message = joined([message, Message("Found: {names}.", names=names)])
        raise Refused(broken(message))
    if min(m.header_offset for m in members):
        raise Refused(broken(Message("The zip archive has other bytes before its first file: it is damaged.")))
    member = found[0]
    if (member.external_attr >> 16) & 0o170000 == 0o120000:
        raise Refused(broken(Message("The zip archive holds a link instead of a CSV file.")))
    name = member.filename.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or ":" in name:
        raise Refused(
            broken(Message("The path {path} in the zip archive is not allowed.", path=shown(member.filename)))
        )
    if member.flag_bits & 1:
        raise Refused(broken(Message("The zip archive is encrypted; send it without a password.")))
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(broken(Message("The zip archive uses an unusual compression; use plain 'deflate'.")))
    return member


def _check_size(total: int, packed: int, limit: int) -> None:
    if total > limit:
        raise Refused(_too_large(limit))
    if total > packed * RATIO + _SLACK:
        message = Message(
            "The archive unpacks to more than {times} times its size and was not read further.", times=RATIO
        )
        raise Refused(broken(message))


def _too_large(limit: int) -> Problem:
    if limit >= 10**6:
        return Problem("too_large", Message("The file is larger than {size} MB.", size=f"{limit / 1e6:,.0f}"))
    return Problem("too_large", Message("The file is larger than {size} bytes.", size=limit))
