"""Backup: the database at one moment, then every file that it names, then the manifest. Restore: the reverse.

A file is stored before a row names it, so all files of a snapshot exist when the snapshot is taken. They are never
edited, but a baseline may be replaced or a competition deleted while files are copied. Then the snapshot names a file
that is gone, and the backup takes a newer snapshot.

A restore reads everything, copies it to a staging folder and compares it with the manifest before anything is replaced.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from leaderboard import __version__
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.common.storage import StorageUnreachable, list_stored, open_stored, store_as
from leaderboard.competitions.models import Competition
from leaderboard.competitions.ranking import standings
from metrics.core.custom_packages import custom_packages

from . import database_dumps
from .backup_manifest import FILES, METRICS, SECRET_KEY, BackupError, Manifest, copy_file, copy_stream, fingerprint

MOST_SNAPSHOTS = 5
STAGED = ".restoring"

ReportLine = Callable[[str], object]


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
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if isinstance(error, (OSError, StorageUnreachable)):
            raise BackupError(f"The backup could not be written: {error}") from error
        raise


def _write_parts(folder: Path) -> Manifest:
    database = folder / ("database.dump" if connection.vendor == "postgresql" else "database.sqlite3")
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
    libraries = custom_packages()
    for name, variable in METRICS.items():
        root = Path(os.environ.get(variable) or os.devnull)
        found = (path for path in root.rglob("*") if path.is_file() and libraries not in path.parents)
        for path in sorted(found):
            part = f"{name}/{path.relative_to(root).as_posix()}"
            copied[part] = copy_file(path, folder / part)
    return copied


# --- restore ---------------------------------------------------------------------------------------------------------


def restore_backup(folder: Path, *, force: bool = False, report: ReportLine = lambda _: None) -> list[str]:
    """Restore the site from a backup; the site must not be running. Raises `BackupError` before anything is changed.

    With `force` present data is moved to another folder (a PostgreSQL database is replaced). Returns a sentence for
    each file or board that is wrong afterwards; empty if all are right.
    """
    manifest = Manifest.read(folder)
    _refuse_strangers(manifest)
    was_empty = not database_dumps.has_database_rows() and next(list_stored(), None) is None
    if not force and not was_empty:
        raise BackupError(
            "This site is not empty. Nothing was changed.",
            ["To replace what is there, give --force; it is moved aside, and a PostgreSQL database is overwritten."],
        )
    report(
        f"Made {manifest.made_at}, version {manifest.version}: {len(manifest.parts):,} parts, {manifest.size:,} bytes."
    )
    staged = _stage_files(folder, manifest)
    report("Every part has the hash of the manifest.")
    for line in _put_back_metrics(staged, manifest):
        report(line.format(folder=folder))
    replaced_folder = _put_in_place(staged, manifest, keep=not was_empty)
    if not was_empty:
        report(f"What was here before lies in {replaced_folder} now.")
    call_command("migrate", interactive=False, verbosity=0)
    report("The database is up to date.")
    wrong = check_restored(manifest)
    for slug in hold_private_boards():
        report(f"{slug}: its deadline has passed, so its private board stays closed until a host opens it.")
    return wrong


@transaction.atomic
def hold_private_boards() -> list[str]:
    """Make private boards whose deadline has passed wait for a host, instead of opening by themselves: the deadline may
    have been moved after the backup, and a board that was shown cannot be hidden again. Returns their slugs."""
    due = Competition.objects.select_for_update(of=("self",)).filter(
        launched_at__isnull=False, revealed_at=None, board__reveals_itself=True, closes_at__lte=database_now()
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


def _put_back_metrics(staged: Path, manifest: Manifest) -> Iterator[str]:
    """Restore metric files that are missing; present files are kept. Yields what the operator has to do by hand."""
    for name, variable in METRICS.items():
        parts = [part for part in manifest.parts if part.startswith(f"{name}/")]
        root = os.environ.get(variable)
        if parts and not root:
            yield f"{variable} names no folder, so its {len(parts)} files stay in {{folder}}/{name}."
            continue
        for part in parts:
            target = Path(str(root)) / part.removeprefix(f"{name}/")
            if not target.exists():
                copy_file(staged / part, target)


def check_restored(manifest: Manifest) -> list[str]:
    """A sentence for each file that differs from the backup, and each board that differs from its scores."""
    wrong = [f"The file {key} was lost or changed before the backup was made." for key in manifest.lost]
    here = {key: manifest.parts[f"{FILES}/{key}"][0] for key in manifest.keys}
    for key, sha256 in database_dumps.named_files(database_dumps.read_live).items():
        if key not in manifest.lost and (key not in here or (sha256 and here[key] != sha256)):
            wrong.append(f"The file {key} is not the one that the database speaks of.")
    for competition in Competition.objects.filter(ground_truth__isnull=False).select_related("ground_truth"):
        assert competition.ground_truth is not None
        wrong += [f"{competition.slug}: {line}" for line in standings.standing_differences(competition.ground_truth)]
    return wrong


def _refuse_strangers(manifest: Manifest) -> None:
    if manifest.vendor != connection.vendor:
        raise BackupError(
            f"This is a backup of a {manifest.vendor} database, and the site uses {connection.vendor}.",
            ["Set DATABASE_URL as it was when the backup was made (unset for SQLite)."],
        )
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if unknown := sorted(set(manifest.migrations) - known):
        words = "The backup was made by a newer version of this program; install that version first."
        raise BackupError(words, [f"Not known here: {', '.join(unknown)}"])


def _stage_files(folder: Path, manifest: Manifest) -> Path:
    """Copy everything to the staging folder, hashing on the way. Raises `BackupError` at the first part that is missing
    or damaged."""
    staged = Path(settings.VAR_DIR) / STAGED
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(mode=0o700, parents=True)
    (staged / FILES).mkdir(mode=0o700)
    try:
        for name, expected in manifest.parts.items():
            if copy_file(folder / name, staged / name) != expected:
                raise BackupError(f"{name} of the backup is damaged: it has not the hash of the manifest.")
        if manifest.database not in manifest.parts:
            raise BackupError("The backup's manifest names no database.")
    except FileNotFoundError as error:
        shutil.rmtree(staged)
        raise BackupError(f"The backup is not complete: {error.filename} is missing.") from error
    except BaseException as error:
        shutil.rmtree(staged)
        if isinstance(error, OSError):
            raise BackupError(f"The backup could not be copied: {error}") from error
        raise
    return staged


def _put_in_place(staged: Path, manifest: Manifest, *, keep: bool) -> Path:
    """Move files into place first and the database last, so that no row names a missing file.

    Returns the folder that holds the replaced data, if there was any.
    """
    var = Path(settings.VAR_DIR)
    replaced_folder = var / f"before-restore-{timezone.now():%Y%m%d-%H%M%S-%f}"
    moving = []
    if manifest.vendor != "postgresql":
        connection.close()
        database = Path(settings.DATABASES["default"]["NAME"])
        # SQLite would play an old log into the new database.
        moving = [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm", "-journal"))]
    key_file = var / SECRET_KEY
    if (staged / SECRET_KEY).exists():
        moving.append(key_file)
    replaced_folder.mkdir(mode=0o700)
    for path in moving:
        if path.exists():
            path.rename(replaced_folder / path.name)
    _put_files(staged, manifest, replaced_folder)
    if (staged / SECRET_KEY).exists():
        (staged / SECRET_KEY).rename(key_file)
    if manifest.vendor == "postgresql":
        database_dumps.replace_postgres(staged / manifest.database)
    else:
        (staged / manifest.database).rename(database)
    os.sync()
    for folder in (staged, *([] if keep else [replaced_folder])):
        shutil.rmtree(folder)
    return replaced_folder


def _put_files(staged: Path, manifest: Manifest, replaced_folder: Path) -> None:
    """Replace the folder of files. In a bucket present files stay: a key never means another file."""
    if settings.STORAGE_URL:
        for key in manifest.keys:
            store_as(key, staged / FILES / key)
        return
    files = Path(settings.FILES_DIR)
    if files.exists():
        files.rename(replaced_folder / files.name)
    files.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    (staged / FILES).rename(files)
