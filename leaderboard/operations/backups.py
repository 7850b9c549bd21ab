"""`backup`: the database at one moment, then every file it speaks of, then the manifest.

A file is stored before a row speaks of it, so the files of a snapshot are all there when it is taken. They are never
edited; but a baseline may be replaced or a competition deleted while the files are copied. Then a file is gone that
the snapshot still names, and the backup takes a newer snapshot, which no longer does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

from leaderboard import __version__
from leaderboard.common.storage import StorageUnreachable, open_stored
from metrics.sandbox.packages import outside_packages

from . import database_dumps
from .backup_manifest import FILES, METRICS, SECRET_KEY, BackupError, Manifest, copy_file, copy_stream, fingerprint

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
