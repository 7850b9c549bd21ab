"""Tables and zip archives: cells that are safe to open in a spreadsheet, errors when reading foreign archives, and
files added to ours."""

from __future__ import annotations

import shutil
import struct
import zipfile
import zlib
from typing import IO

# The wide forms count where a spreadsheet speaks Chinese, Japanese or Korean.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")


def safe_cell(text: str) -> str:
    """The text with `'` before it where a spreadsheet would take it for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text


BROKEN_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)
"""Exceptions from reading an archive that is damaged, encrypted, or uses an unknown compression. For a gzip file it may
also be `OSError`, but that is raised for a full disk, too."""


def add_to_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: IO[bytes]) -> None:
    """Compress a file into an archive, piece by piece."""
    entry.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(entry, "w", force_zip64=True) as copy:
        shutil.copyfileobj(source, copy)
