"""Private files: written once, hashed while written, never under a public URL.

A key is a path below `settings.FILES_DIR`. Files appear whole or not at all (temporary name, fsync, rename).
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload


class TooLarge(Exception):
    """The file has more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The file is larger than {limit / 1_048_576:.0f} MB, the most that is taken here.")
        self.limit = limit


@dataclass(frozen=True)
class StoredFile:
    """`key` below the files' folder, `sha256` as hex, `size` in bytes."""

    key: str
    sha256: str
    size: int


def path_of(key: str) -> Path:
    """Where the file of a key lies; keys are made by `store` alone, never from a user's text."""
    return Path(settings.FILES_DIR) / key


def store(chunks: Iterable[bytes], folder: str, *, limit: int | None = None) -> StoredFile:
    """Write `chunks` durably under a new key in `folder`; raises `TooLarge` and leaves nothing behind."""
    limit = settings.MAX_UPLOAD_BYTES if limit is None else limit
    name = uuid.uuid4().hex
    target = path_of(f"{folder}/{name[:2]}/{name}")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    digest, size = hashlib.sha256(), 0
    try:
        with partial.open("xb") as file:
            os.chmod(partial, 0o600)
            for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise TooLarge(limit)
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)
    return StoredFile(str(target.relative_to(settings.FILES_DIR)), digest.hexdigest(), size)


def clean_name(name: str) -> str:
    """A file name fit to be shown: no folders, no control or direction characters, at most 120 characters."""
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(c for c in unicodedata.normalize("NFC", name) if unicodedata.category(c)[0] != "C")
    return kept.strip()[:120] or "unnamed.csv"


def remove(key: str) -> None:
    """Delete a file that no row speaks of."""
    path_of(key).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class LimitedUploadHandler(FileUploadHandler):
    """Stops a request as soon as its files together exceed the site's limit, whatever its headers claim."""

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.received > settings.MAX_UPLOAD_BYTES:
            if self.request is not None:
                self.request.META["leaderboard.too_large"] = True
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None
