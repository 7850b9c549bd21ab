"""Private files: written once, hashed while written, never under a public URL.

A key names a file and never another one later. Files lie below `settings.FILES_DIR`, or in an S3-compatible bucket if
`STORAGE_URL` names one; `path_of` gives a path on this machine either way. They appear whole or not at all.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import unicodedata
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import IO

from django.conf import settings

from . import bucket, folder
from .bucket import StorageUnreachable
from .folder import CHUNK

log = logging.getLogger(__name__)

KILOBYTE = 1024
# Storing one file in a bucket, with all tries: somebody waits for the answer to an upload.
MAX_STORE_SECONDS = 20.0

__all__ = [
    "StorageUnreachable",
    "StoredFile",
    "TooLarge",
    "can_write",
    "clean_name",
    "list_stored",
    "open_stored",
    "path_of",
    "remove_file",
    "scratch_folder",
    "size_text",
    "store_as",
    "store_file",
]


class TooLarge(Exception):
    """The file has more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The file is larger than {size_text(limit)}, the most that is taken here.")
        self.limit = limit


def size_text(size: int) -> str:
    """A limit as people write it, rounded down: 2,000 bytes, 512 KB, 1.5 MB."""
    if size < 10 * KILOBYTE:
        return f"{size:,} bytes"
    unit, name = (KILOBYTE, "KB") if size < KILOBYTE**2 else (KILOBYTE**2, "MB")
    tenths = size * 10 // unit
    return f"{tenths // 10:,}{f'.{tenths % 10}' if tenths % 10 else ''} {name}"


@dataclass(frozen=True)
class StoredFile:
    """`key` of the file, `sha256` as hex, `size` in bytes."""

    key: str
    sha256: str
    size: int


def _backend() -> ModuleType:
    """Where files lie: both modules have the same functions."""
    return bucket if settings.STORAGE_URL else folder


def path_of(key: str, sha256: str = "") -> Path:
    """Where the file of a key lies on this machine; keys are made by `store_file` alone, never from a user's text.

    From a bucket it is fetched first and compared with `sha256`, if that is known; then it stays for some minutes at
    least. Raises `FileNotFoundError` for what the bucket does not have, and `StorageUnreachable`. In a folder nothing
    is looked at: whoever opens the path finds out.
    """
    path: Path = _backend().path_of(key, sha256)
    return path


def store_file(
    chunks: Iterable[bytes], folder: str, *, limit: int | None = None, max_seconds: float | None = None
) -> StoredFile:
    """Write `chunks` durably under a new key in `folder`. Raises `TooLarge`, or `StorageUnreachable` after
    `max_seconds` (`MAX_STORE_SECONDS` unless given), and leaves nothing behind."""
    limit = settings.MAX_UPLOAD_BYTES if limit is None else limit
    name = uuid.uuid4().hex
    key = f"{folder}/{name[:2]}/{name}"
    digest, size = hashlib.sha256(), 0
    with _backend().written(key, max_seconds=MAX_STORE_SECONDS if max_seconds is None else max_seconds) as file:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise TooLarge(limit)
            digest.update(chunk)
            file.write(chunk)
    return StoredFile(key, digest.hexdigest(), size)


def store_as(key: str, source: Path) -> None:
    """Store a copy of a file of this machine under a key that is known already; the same again replaces it."""
    with source.open("rb") as file, _backend().written(key) as copy:
        shutil.copyfileobj(file, copy, CHUNK)


@contextmanager
def open_stored(key: str, sha256: str = "") -> Iterator[IO[bytes]]:
    """The bytes of a file, for whoever reads very many: nothing is left on this machine. Raises as `path_of` does."""
    with _backend().opened(key, sha256) as file:
        yield file


def remove_file(key: str) -> None:
    """Delete a file that no row speaks of."""
    _backend().remove(key)


def list_stored() -> Iterator[tuple[str, float]]:
    """Every key that is stored, unfinished files too, with the time of its writing in seconds since 1970."""
    found: Iterator[tuple[str, float]] = _backend().listing()
    return found


def can_write() -> bool:
    """Whether a file can be stored and removed; why not is in the log."""
    try:
        remove_file(store_file([b"probe"], "checks").key)
    except (OSError, StorageUnreachable) as error:
        log.error("the storage cannot be written: %s", error)
        return False
    return True


def scratch_folder() -> Path:
    """A folder of this machine for what is put together piece by piece and then sent."""
    folder = _local_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _local_folder() -> Path:
    return Path(settings.CACHE_DIR if settings.STORAGE_URL else settings.FILES_DIR)


def clean_name(name: str) -> str:
    """A file name fit to be shown: no folders, no control or direction characters, at most 120 characters."""
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    visible = "".join(c for c in unicodedata.normalize("NFC", name) if unicodedata.category(c)[0] != "C")
    return visible.strip()[:120] or "unnamed.csv"
