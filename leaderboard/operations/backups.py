"""Backup: the database at one moment, then every file that it names, then the manifest. Restore: the reverse.

A file is stored before a row names it, so all files of a snapshot exist when the snapshot is taken. They are never
edited, but a baseline may be replaced or a competition deleted while files are copied. Then the snapshot names a file
that is gone, and the backup takes a newer snapshot.

A restore reads everything, copies it to a staging folder and compares it with the manifest before anything is replaced.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from leaderboard import __version__
from leaderboard.boards import standings
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.storage import StorageUnreachable, list_stored, open_stored, store_as
from leaderboard.competitions.models import Competition
from metrics.core.custom_packages import custom_packages

from .database_dumps import (
    BackupError,
    database_facts,
    database_snapshot,
    has_database_rows,
    named_files,
    read_live,
    replace_postgres,
)

MAX_SNAPSHOTS = 5
NAME = "manifest.json"
FORMAT = 1
FILES = "files"
CHUNK_BYTES = 1 << 20
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.sql"}
KEYS = ("secret_key", "lti_key")
"""Files with the keys of the installation, next to its database."""
METRICS = {"metrics": "METRICS_DIR", "metrics_cache": "METRICS_CACHE"}
"""Custom metric files, and the cache of inspections of all their versions: name in the backup → variable of the
folder."""


# --- the manifest ----------------------------------------------------------------------------------------------------


@dataclass
class Manifest:
    """The parts of a backup with their hashes. Written last, so a folder without it is an incomplete backup.

    `parts` maps paths inside the folder to (SHA-256, bytes). `lost` are keys of files that the site had already
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


# --- backup ----------------------------------------------------------------------------------------------------------


def write_backup(folder: Path) -> Manifest:
    """Write a backup of the running site into a new or empty folder. Raises `BackupError`, and then leaves nothing.

    The manifest's `lost` names files that the site had lost or whose bytes had changed.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is not an empty folder. A backup goes into a folder of its own.")
    if folder.resolve().is_relative_to(Path(settings.FILES_DIR).resolve()):
        raise BackupError(f"{folder} lies among the site's own files.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    try:
        return _write_parts(folder)
    except BaseException as error:
        for path in folder.iterdir():  # the folder itself may be the operator's, with rights of its own
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        if isinstance(error, (OSError, StorageUnreachable)):
            raise BackupError(f"The backup could not be written: {error}") from error
        raise


def _write_parts(folder: Path) -> Manifest:
    database = folder / DATABASES[connection.vendor]
    copied: dict[str, tuple[str, int]] = {}
    for _ in range(MAX_SNAPSHOTS):
        made_at = timezone.now().isoformat(timespec="seconds")
        with database_snapshot(database) as read:
            named, facts = named_files(read), database_facts(read)
        gone = _copy_new(named, copied, folder)
        if gone <= named_files(read_live).keys():
            break
    else:
        raise BackupError("Files are being deleted faster than they can be copied. Try it again in a moment.")
    for key in copied.keys() - named.keys():
        (folder / FILES / key).unlink()
        del copied[key]
    parts = {f"{FILES}/{key}": copied[key] for key in sorted(copied)}
    parts[database.name] = fingerprint(database)
    for name in KEYS:
        if (key_file := Path(settings.VAR_DIR) / name).exists():
            parts[name] = copy_file(key_file, folder / name)
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
    """Copy the files that were not copied before; returns the keys whose file is missing."""
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
    """Copy the operator's metric files, because scores could not be recomputed without them. Their Python packages are
    left out: they can be installed again and fit only one machine."""
    copied = {}
    for name, variable in METRICS.items():
        root = Path(os.environ.get(variable) or os.devnull)
        for path in sorted(root.rglob("*")):
            if path.is_file() and custom_packages() not in path.parents:
                part = f"{name}/{path.relative_to(root).as_posix()}"
                copied[part] = copy_file(path, folder / part)
    return copied


# --- restore ---------------------------------------------------------------------------------------------------------


def restore_backup(folder: Path, *, force: bool = False, report: Callable[[str], object] = lambda _: None) -> list[str]:
    """Restore the site from a backup; the site must not be running. Raises `BackupError` before anything is changed.

    With `force` present data is moved to another folder (a PostgreSQL database is replaced). Returns a sentence for
    each file or board that is wrong afterwards; empty if all are right.
    """
    manifest = Manifest.read(folder)
    _check_fits(manifest)
    was_empty = not has_database_rows() and next(list_stored(), None) is None
    if not force and not was_empty:
        raise BackupError(
            "This site is not empty. Nothing was changed.\n"
            "To replace what is there, give --force; it is moved aside, and a PostgreSQL database is overwritten."
        )
    report(
        f"Made {manifest.made_at}, version {manifest.version}: {len(manifest.parts):,} parts, {manifest.size:,} bytes."
    )
    with _staged_parts(folder, manifest) as staged:
        report("Every part has the hash of the manifest.")
        for line in _put_back_metrics(staged, manifest):
            report(line.format(folder=folder))
        replaced = _put_in_place(staged, manifest)
    if was_empty:
        shutil.rmtree(replaced)
    else:
        report(f"What was here before lies in {replaced} now.")
    call_command("migrate", interactive=False, verbosity=0)
    report("The database is up to date.")
    wrong = check_restored(manifest)
    for slug in hold_private_boards():
        report(f"{slug}: its deadline has passed, so its private board stays closed until a host opens it.")
    return wrong


def _check_fits(manifest: Manifest) -> None:
    """Raise `BackupError` for a backup of another kind of database or of a newer version."""
    if manifest.vendor != connection.vendor:
        raise BackupError(
            f"This is a backup of a {manifest.vendor} database, and the site uses {connection.vendor}.\n"
            "Set DATABASE_URL as it was when the backup was made (unset for SQLite)."
        )
    if manifest.database not in manifest.parts:
        raise BackupError("The backup's manifest names no database.")
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if unknown := sorted(set(manifest.migrations) - known):
        raise BackupError(
            "The backup was made by a newer version of this program; install that version first.\n"
            f"Not known here: {', '.join(unknown)}"
        )


@contextmanager
def _staged_parts(folder: Path, manifest: Manifest) -> Iterator[Path]:
    """A folder beside the site with all parts, hashed while they were copied. Raises `BackupError` at the first part
    that is missing or damaged."""
    staged = Path(settings.VAR_DIR) / ".restoring"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(mode=0o700, parents=True)
    (staged / FILES).mkdir(mode=0o700)
    try:
        for name, expected in manifest.parts.items():
            try:
                copied = copy_file(folder / name, staged / name)
            except OSError as error:
                raise BackupError(f"The backup is not complete, or cannot be copied: {error}") from error
            if copied != expected:
                raise BackupError(f"{name} of the backup is damaged: it has not the hash of the manifest.")
        yield staged
    finally:
        shutil.rmtree(staged)


def _put_back_metrics(staged: Path, manifest: Manifest) -> Iterator[str]:
    """Restore metric files that are missing; present files are kept. Yields what the operator has to do by hand."""
    for name, variable in METRICS.items():
        paths, root = list(manifest.below(name)), os.environ.get(variable)
        if paths and not root:
            yield f"{variable} names no folder, so its {len(paths)} files stay in {{folder}}/{name}."
            continue
        for path in paths:
            target = Path(str(root)) / path
            if not target.exists():
                copy_file(staged / name / path, target)


def _put_in_place(staged: Path, manifest: Manifest) -> Path:
    """Move files into place first and the database last, so that no row names a missing file. Returns the folder that
    holds what was replaced."""
    var, files = Path(settings.VAR_DIR), Path(settings.FILES_DIR)
    replaced = var / f"before-restore-{timezone.now():%Y%m%d-%H%M%S-%f}"
    replaced.mkdir(mode=0o700)
    moves = {name: var / name for name in KEYS if name in manifest.parts}
    if settings.STORAGE_URL:
        for key in manifest.below(FILES):  # present files stay: a key never means another file
            store_as(key, staged / FILES / key)
    else:
        moves[FILES] = files
    if manifest.vendor == "sqlite":
        connection.close()
        database = Path(settings.DATABASES["default"]["NAME"])
        moves[manifest.database] = database
        for ending in ("-wal", "-shm", "-journal"):  # an old log would be played into the new database
            log_file = database.with_name(database.name + ending)
            if log_file.exists():
                log_file.rename(replaced / log_file.name)
    for name, target in moves.items():
        if target.exists():
            target.rename(replaced / target.name)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (staged / name).rename(target)
    if manifest.vendor == "postgresql":
        replace_postgres(staged / manifest.database)
    os.sync()
    return replaced


def check_restored(manifest: Manifest) -> list[str]:
    """A sentence for each file that differs from the backup, and each board that differs from its scores."""
    wrong = [f"The file {key} was lost or changed before the backup was made." for key in manifest.lost]
    restored = {key: manifest.parts[f"{FILES}/{key}"][0] for key in manifest.below(FILES)}
    for key, sha256 in named_files(read_live).items():
        if key not in manifest.lost and (key not in restored or (sha256 and restored[key] != sha256)):
            wrong.append(f"The file {key} is not the one that the database speaks of.")
    for competition in Competition.objects.filter(ground_truth__isnull=False).select_related("ground_truth"):
        assert competition.ground_truth is not None
        wrong += [f"{competition.slug}: {line}" for line in standings.standing_differences(competition.ground_truth)]
    return wrong


@transaction.atomic
def hold_private_boards() -> list[str]:
    """Make private boards whose deadline has passed wait for a host, instead of opening by themselves: the deadline may
    have been moved after the backup, and a board that was shown cannot be hidden again. Returns their slugs."""
    due = (
        Competition.objects.select_for_update(of=("self",))
        .order_by("pk")
        .filter(launched_at__isnull=False, revealed_at=None, board__reveals_itself=True, closes_at__lte=database_now())
    )
    for competition in due:
        competition.board.reveals_itself = False
        competition.board.save(update_fields=["reveals_itself"])
        AuditEntry.append(
            AuditEvent.CHANGED,
            user=None,
            competition=competition,
            about="restored from a backup",
            before={"reveals_itself": True},
            after={"reveals_itself": False},
        )
    return [competition.slug for competition in due]
