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
FILES = "files"
CHUNK_BYTES = 1 << 20


class BackupError(Exception):
    """The reason why no backup was made, or none restored; it may have several lines."""


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

    def below(self, folder: str) -> Iterator[str]:
        """The paths of the parts in a folder of the backup, relative to it; those in `files` are keys."""
        return (name.removeprefix(f"{folder}/") for name in self.parts if name.startswith(f"{folder}/"))

    @property
    def size(self) -> int:
        return sum(size for _, size in self.parts.values())

    def write(self, folder: Path) -> None:
        """Write the manifest whole or not at all, after everything else has reached the disk."""
        os.sync()
        partial = folder / f"{NAME}.partial"
        partial.touch(mode=0o600)
        partial.write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=1, sort_keys=True), encoding="utf-8")
        os.sync()
        partial.rename(folder / NAME)
        os.sync()

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder. Raises `BackupError` if there is none, or none that this version understands."""
        try:
            values = json.loads((folder / NAME).read_text(encoding="utf-8"))
            if values.pop("format") != FORMAT:
                raise BackupError(f"{folder} was made by another version of this program, which must restore it.")
            values["parts"] = {
                _safe_relative_path(name): (str(sha256), int(size)) for name, (sha256, size) in values["parts"].items()
            }
            return cls(**values)
        except FileNotFoundError:
            raise BackupError(f"{folder} has no {NAME}: it is no backup, or one that was never finished.") from None
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BackupError(f"The {NAME} of {folder} is damaged: {error}") from error


def copy_file(source: Path, target: Path) -> tuple[str, int]:
    with source.open("rb") as file:
        return copy_stream(file, target)


def copy_stream(file: IO[bytes], target: Path) -> tuple[str, int]:
    """Copy into a new file that only its owner can read; returns the SHA-256 and size of the bytes copied."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copied:
        digest, size = hashlib.sha256(), 0
        while chunk := file.read(CHUNK_BYTES):
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
        raise ValueError(f"“{name}” is outside of the backup")
    return name
