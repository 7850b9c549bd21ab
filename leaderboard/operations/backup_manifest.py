"""The manifest of a backup: its parts with their hashes. It is written last, so a folder without it is an incomplete
backup."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

NAME = "manifest.json"
FORMAT = 1
SECRET_KEY = "secret_key"
FILES = "files"
# Custom metric files, and the cache of inspections of all their versions: name in the backup → variable of the folder.
METRICS = {"metrics": "METRICS_DIR", "metrics_cache": "METRICS_CACHE"}
CHUNK = 1 << 20


class BackupError(Exception):
    """The reason why no backup was made, or none restored; `details` are further lines for the operator."""

    def __init__(self, message: str, details: list[str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or []


@dataclass
class Manifest:
    """`parts` maps paths inside the folder to (SHA-256, bytes). `lost` are keys of files that the site had already
    lost."""

    vendor: str
    database: str
    version: str
    made_at: str
    migrations: list[str]
    rows: dict[str, int]
    parts: dict[str, tuple[str, int]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    @property
    def keys(self) -> Iterator[str]:
        """The keys of the stored files in the backup."""
        return (name.removeprefix(f"{FILES}/") for name in self.parts if name.startswith(f"{FILES}/"))

    @property
    def size(self) -> int:
        return sum(size for _, size in self.parts.values())

    def write(self, folder: Path) -> None:
        """Write the manifest whole or not at all, after everything else has reached the disk."""
        os.sync()
        partial = folder / f"{NAME}.partial"
        with partial.open("x", encoding="utf-8") as file:
            partial.chmod(0o600)
            json.dump({"format": FORMAT, **asdict(self)}, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(folder / NAME)
        os.sync()

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder. Raises `BackupError` if there is none, or none that this version understands."""
        if not folder.is_dir():
            raise BackupError(f"There is no folder {folder}.")
        try:
            found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BackupError(f"{folder} has no {NAME}: it is no backup, or one that was never finished.") from None
        except (ValueError, OSError) as error:
            raise BackupError(f"The {NAME} of {folder} cannot be read: {error}") from error
        if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
            raise BackupError(f"{folder} was made by another version of this program, which it needs to be restored.")
        try:
            found["parts"] = {
                _safe_relative_path(name): (str(sha256), int(size)) for name, (sha256, size) in found["parts"].items()
            }
            return cls(**found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BackupError(f"The {NAME} of {folder} is damaged: {error}") from error


def copy_file(source: Path, target: Path) -> tuple[str, int]:
    with source.open("rb") as file:
        return copy_stream(file, target)


def copy_stream(file: IO[bytes], target: Path) -> tuple[str, int]:
    """Copy into a new file that only its owner can read; returns the SHA-256 and size of the bytes copied."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copied:
        digest, size = hashlib.sha256(), 0
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += copied.write(chunk)
    return digest.hexdigest(), size


def fingerprint(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size


def _safe_relative_path(name: str) -> str:
    """The path, checked to stay inside the backup, because a manifest may be forged. Raises `ValueError`."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name:
        raise ValueError(f"“{name}” does not lie in the backup")
    return name
