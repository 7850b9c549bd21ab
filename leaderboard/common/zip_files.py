"""Archives from somewhere else, and archives that are made while they are sent."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

BROKEN_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)
"""What reading one raises that is damaged, locked, or packed in a way that nobody here knows. A gzip file says it with
`OSError` as well, which a full disk does too."""

CHUNK = 1 << 16


class StreamingBuffer(io.RawIOBase):
    """Takes what the archive writes until it is sent. It cannot be wound back, so sizes follow their files."""

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
        """Write an entry; gives what is to be sent, a piece at a time."""
        entry.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(entry, "w", force_zip64=True) as copy:
            while piece := source.read(CHUNK):
                copy.write(piece)
                yield self.drain()
