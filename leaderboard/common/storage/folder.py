"""Files below `settings.FILES_DIR`, written by temporary name, fsync and rename."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import IO

from django.conf import settings

CHUNK = 1_048_576


def path_of(key: str, sha256: str = "") -> Path:
    return Path(settings.FILES_DIR) / key


@contextmanager
def write_file(key: str, *, max_seconds: float = 0) -> Iterator[IO[bytes]]:
    """A new file that gets its name when the block ends without an error, and is removed otherwise. `max_seconds` is
    only for buckets."""
    target = path_of(key)
    with partial_of(target) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        Path(file.name).rename(target)
    try:
        _sync_folder(target.parent)
    except OSError:
        target.unlink(missing_ok=True)
        raise


@contextmanager
def partial_of(target: Path) -> Iterator[IO[bytes]]:
    """A temporary file next to `target`, removed at the end unless it was renamed."""
    _make_folder(target.parent)
    partial = target.with_name(f"{target.name}.{uuid.uuid4().hex}.partial")
    try:
        with partial.open("xb") as file:
            os.chmod(partial, 0o600)
            yield file
    finally:
        partial.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Create a folder with all its parents, durably."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable (fsync of the folder), which a file's own fsync does not do."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def open_file(key: str, sha256: str = "") -> Iterator[FileIO]:
    with path_of(key).open("rb", buffering=0) as file:
        yield file


def remove_file(key: str) -> None:
    path_of(key).unlink(missing_ok=True)


def list_files() -> Iterator[tuple[str, float]]:
    root = Path(settings.FILES_DIR)
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                yield path.relative_to(root).as_posix(), path.lstat().st_mtime
            except FileNotFoundError:  # another process removed it meanwhile
                continue
