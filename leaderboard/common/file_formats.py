"""Tables and zip archives: cells that are safe to open in a spreadsheet, errors when reading foreign archives, and
archives that are made while they are sent."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

# The wide forms count where a spreadsheet speaks Chinese, Japanese or Korean.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")


def safe_cell(text: str) -> str:
    """The text with `'` before it where a spreadsheet would take it for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text


BROKEN_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)
"""Exceptions from reading an archive that is damaged, encrypted, or uses an unknown compression. For a gzip file it may
also be `OSError`, but that is raised for a full disk, too."""

CHUNK = 1 << 16


class StreamingBuffer(io.RawIOBase):
    """A buffer for the archive's bytes until they are sent. It cannot seek, so sizes are written after each file's
    data."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._held.append(piece)
        return len(piece)

    def drain(self) -> bytes:
        piece = b"".join(self._held)
        self._held.clear()
        return piece

    def copied(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: IO[bytes]) -> Iterator[bytes]:
        """Write an entry of the archive, and yield the bytes to send, piece by piece."""
        entry.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(entry, "w", force_zip64=True) as copy:
            while piece := source.read(CHUNK):
                copy.write(piece)
                yield self.drain()
