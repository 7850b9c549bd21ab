"""The CSV inside of .gz and .zip files.

A zip may hold one plain CSV; the path of its member is never used, because the bytes stay in memory.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from ..core.errors import Problem, Refused, shown
from ..core.messages import Message, joined
from .formats import container_of
from .workbook_limits import BROKEN_ARCHIVE, broken, check_member_count

LIMIT = 500_000_000
"""The default limit of a CSV's bytes after unpacking."""

RATIO = 100
"""The largest factor by which a compressed file may grow."""

_OF_SYSTEMS = {"__macosx", "__pycache__"}
_LEFT_BY_SYSTEMS = (".ds_store", "thumbs.db", "desktop.ini")

_CHUNK = 1 << 20
_SLACK = 1 << 16  # tiny archives may compress better than the ratio


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


def unpack_gzip(data: bytes, limit: int) -> bytes:
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


def unpack_zip(data: bytes, limit: int) -> bytes:
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
        raise Refused(too_large(limit))
    if total > packed * RATIO + _SLACK:
        message = Message(
            "The archive unpacks to more than {times} times its size and was not read further.", times=RATIO
        )
        raise Refused(broken(message))


def too_large(limit: int) -> Problem:
    if limit >= 10**6:
        return Problem("too_large", Message("The file is larger than {size} MB.", size=f"{limit / 1e6:,.0f}"))
    return Problem("too_large", Message("The file is larger than {size} bytes.", size=limit))
