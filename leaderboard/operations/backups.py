"""`backup`: the database at one moment, then every file it speaks of, then the manifest.

A file is stored before a row speaks of it, so the files of a snapshot are all there when it is taken. They are never
edited; but a baseline may be replaced or a competition deleted while the files are copied. Then a file is gone that
the snapshot still names, and the backup takes a newer snapshot, which no longer does.

What a backup holds, with the hash of every part. It is written last: a folder without it is no backup.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from leaderboard import __version__
from leaderboard.common.storage import StorageUnreachable, open_stored
from metrics.sandbox.packages import outside_packages

from . import database_dumps

NAME = "manifest.json"
FORMAT = 1
SECRET_KEY = "secret_key"
FILES = "files"
# Metric files from outside, and what is known of their earlier versions: part of the name → variable of the folder.
METRICS = {"metrics": "METRICS_DIR", "metrics_cache": "METRICS_CACHE"}
CHUNK = 1 << 20


class BackupError(Exception):
    """Why no backup was made, or none restored; `details` are further lines for the operator."""

    def __init__(self, message: str, details: list[str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or []


@dataclass
class Manifest:
    """`parts` maps paths inside the folder to (SHA-256, bytes). `lost` are files that the site itself had no more."""

    vendor: str
    database: str
    version: str
    made_at: str
    migrations: list[str]
    rows: dict[str, int]
    last_audit_entry: list[Any]
    """Number and digest of the audit log's last entry."""
    parts: dict[str, tuple[str, int]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    @property
    def keys(self) -> Iterator[str]:
        """The stored files, by their keys."""
        return (name.removeprefix(f"{FILES}/") for name in self.parts if name.startswith(f"{FILES}/"))

    @property
    def size(self) -> int:
        return sum(size for _, size in self.parts.values())

    def write(self, folder: Path) -> None:
        """Whole or not at all, and after everything else has reached the disk."""
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
        """Raises `BackupError` for what is no backup, or none that this version understands."""
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
    """Copy for the owner's eyes alone; gives the SHA-256 and size of what was copied."""
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
    """A path that stays in its folder, whoever wrote the manifest."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name:
        raise ValueError(f"“{name}” does not lie in the backup")
    return name


MOST_SNAPSHOTS = 5


def write_backup(folder: Path) -> Manifest:
    """Write a backup of the running site into a new or empty folder; raises `BackupError` and then leaves none.

    Files that the site itself had lost or whose bytes had changed are named in the manifest's `lost`.
    """
    _check_target_folder(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    try:
        manifest = _write_parts(folder)
    except BaseException as error:
        _remove_partial_backup(folder)
        if isinstance(error, (OSError, StorageUnreachable)):
            raise BackupError(f"The backup could not be written: {error}") from error
        raise
    return manifest


def _check_target_folder(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is not an empty folder. A backup goes into a folder of its own.")
    if folder.resolve().is_relative_to(Path(settings.FILES_DIR).resolve()):
        raise BackupError(f"{folder} lies among the site's own files.")


def _write_parts(folder: Path) -> Manifest:
    database = folder / database_dumps.dump_file_name()
    copied: dict[str, tuple[str, int]] = {}
    for _ in range(MOST_SNAPSHOTS):
        made_at = timezone.now().isoformat(timespec="seconds")
        with database_dumps.database_snapshot(database) as read:
            named, facts = database_dumps.named_files(read), database_dumps.database_facts(read)
        gone = _copy_new(named, copied, folder)
        if not gone or gone <= database_dumps.named_files(database_dumps.read_live).keys():
            break
    else:
        raise BackupError("Files are being deleted faster than they can be copied. Try it again in a moment.")
    for key in copied.keys() - named.keys():
        (folder / FILES / key).unlink()
        del copied[key]
    parts = {f"{FILES}/{key}": copied[key] for key in sorted(copied)}
    parts[database.name] = fingerprint(database)
    if (key_file := Path(settings.VAR_DIR) / SECRET_KEY).exists():
        parts[SECRET_KEY] = copy_file(key_file, folder / SECRET_KEY)
    parts |= _copy_metrics(folder)
    changed = {key for key, sha256 in named.items() if sha256 and key in copied and copied[key][0] != sha256}
    manifest = Manifest(
        vendor=connection.vendor,
        database=database.name,
        version=__version__,
        made_at=made_at,
        parts=parts,
        lost=sorted(gone | changed),
        **facts,
    )
    manifest.write(folder)
    return manifest


def _copy_new(named: Iterable[str], copied: dict[str, tuple[str, int]], folder: Path) -> set[str]:
    """Copy what was not copied before; gives the keys whose file is not there."""
    gone = set()
    for key in named:
        if key not in copied:
            try:
                with open_stored(key) as file:
                    copied[key] = copy_stream(file, folder / FILES / key)
            except FileNotFoundError:
                gone.add(key)
    return gone


def _copy_metrics(folder: Path) -> dict[str, tuple[str, int]]:
    """The operator's metric files: without them scores could not be computed again. Their libraries can be installed
    again, and are made for one machine."""
    copied = {}
    libraries = outside_packages()
    for name, variable in METRICS.items():
        root = Path(os.environ.get(variable) or os.devnull)
        found = (path for path in root.rglob("*") if path.is_file() and libraries not in path.parents)
        for path in sorted(found):
            part = f"{name}/{path.relative_to(root).as_posix()}"
            copied[part] = copy_file(path, folder / part)
    return copied


def _remove_partial_backup(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
