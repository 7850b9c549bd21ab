"""Private files: written once, hashed while written, never under a public URL.

A key names one file forever. Files are kept below `settings.FILES_DIR`, or in an S3-compatible bucket if `STORAGE_URL`
is set; `path_of` returns a path on this machine either way. Files appear whole or not at all.
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
from io import FileIO
from pathlib import Path
from types import ModuleType

from django.conf import settings

from . import bucket, folder
from .bucket import StorageUnreachable as StorageUnreachable
from .folder import CHUNK

log = logging.getLogger(__name__)

KILOBYTE = 1024
# For storing one file in a bucket, with all tries: a person waits for the response to an upload.
MAX_STORE_SECONDS = 20.0


class TooLarge(Exception):
    """The file has more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The file is larger than {size_text(limit)}, the most that is taken here.")
        self.limit = limit


def size_text(size: int) -> str:
    """A limit in readable units, rounded down: 2,000 bytes, 512 KB, 1.5 MB."""
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


def _backend_module() -> ModuleType:
    """The module that stores files; both have the same functions."""
    return bucket if settings.STORAGE_URL else folder


def path_of(key: str, sha256: str = "") -> Path:
    """The path of a file on this machine. Keys are made only by `store_file`, never from a user's text.

    A file in a bucket is fetched first and compared with `sha256`, if given; then the copy stays for at least some
    minutes. Raises `FileNotFoundError` if the bucket does not have it, and `StorageUnreachable`. In a folder the path
    is not checked: opening it may raise `FileNotFoundError`.
    """
    path: Path = _backend_module().path_of(key, sha256)
    return path


def store_file(
    chunks: Iterable[bytes], folder: str, *, limit: int | None = None, max_seconds: float | None = None
) -> StoredFile:
    """Write `chunks` durably under a new key in `folder`. Raises `TooLarge`, or `StorageUnreachable` after
    `max_seconds` (default `MAX_STORE_SECONDS`); then nothing is left behind."""
    limit = settings.MAX_UPLOAD_BYTES if limit is None else limit
    name = uuid.uuid4().hex
    key = f"{folder}/{name[:2]}/{name}"
    digest, size = hashlib.sha256(), 0
    with _backend_module().write_file(
        key, max_seconds=MAX_STORE_SECONDS if max_seconds is None else max_seconds
    ) as file:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise TooLarge(limit)
            digest.update(chunk)
            file.write(chunk)
    return StoredFile(key, digest.hexdigest(), size)


def store_as(key: str, source: Path) -> None:
    """Store a copy of a local file under a given key; storing the same file again replaces it."""
    with source.open("rb") as file, _backend_module().write_file(key) as copy:
        shutil.copyfileobj(file, copy, CHUNK)


@contextmanager
def open_stored(key: str, sha256: str = "") -> Iterator[FileIO]:
    """Open a file for reading without keeping a local copy, for callers that read very many. Raises as `path_of`
    does."""
    with _backend_module().open_file(key, sha256) as file:
        yield file


def remove_file(key: str) -> None:
    """Delete a file that no database row refers to."""
    _backend_module().remove_file(key)


def list_stored() -> Iterator[tuple[str, float]]:
    """Every stored key, unfinished files included, with its time of writing in seconds since 1970."""
    found: Iterator[tuple[str, float]] = _backend_module().list_files()
    return found


def can_write() -> bool:
    """Whether a file can be stored and removed; the reason for a failure is logged."""
    try:
        remove_file(store_file([b"probe"], "checks").key)
    except (OSError, StorageUnreachable) as error:
        log.error("the storage cannot be written: %s", error)
        return False
    return True


def sha256_of(chunks: Iterable[bytes]) -> str:
    """The SHA-256 of a file in hexadecimal."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def file_chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file on this machine in pieces, as `store_file` takes them."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def scratch_folder() -> Path:
    """A local folder for files that are assembled piece by piece and then sent."""
    folder = Path(settings.CACHE_DIR if settings.STORAGE_URL else settings.FILES_DIR)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def clean_name(name: str) -> str:
    """A file name that is safe to show: no folders, no control or direction characters, at most 120 characters."""
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    visible = "".join(c for c in unicodedata.normalize("NFC", name) if unicodedata.category(c)[0] != "C")
    return visible.strip()[:120] or "unnamed.csv"
