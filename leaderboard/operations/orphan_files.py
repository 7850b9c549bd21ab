"""Files that no row speaks of: a web server died after it had stored them and before their row was written."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from leaderboard.common import storage

from . import database_dumps
from .backup_manifest import BackupError

log = logging.getLogger(__name__)

# A row follows its file within seconds; restoring or moving a site takes hours.
ORPHAN_LIFETIME = timedelta(hours=24)
FOLDERS = ("submissions", "truths", "data", "checks")
FEW = 20


def sweep_files(*, at: datetime, force: bool = False) -> int:
    """Remove what was stored a day before `at` and has no row; the number of files.

    Raises `BackupError` where most files would go, and removes nothing: then the database is not the right one.
    """
    before = (at - ORPHAN_LIFETIME).timestamp()
    # The list first: what is stored after it may have its row already.
    stored = [key for key, written in storage.list_stored() if key.partition("/")[0] in FOLDERS and written < before]
    named = database_dumps.named_files(database_dumps.read_live)
    orphans = [key for key in stored if key.endswith(".partial") or _root(key) not in named]
    if len(orphans) > FEW and 2 * len(orphans) > len(stored) and not force:
        raise BackupError(
            f"{len(orphans):,} of {len(stored):,} stored files have no row in this database. Nothing was removed.",
            ["Is DATABASE_URL the database that belongs to these files? If it is, give --force."],
        )
    for key in orphans:
        storage.remove_file(key)
    if orphans:
        log.info("files without a row were removed", extra={"files": len(orphans)})
    return len(orphans)


def _root(key: str) -> str:
    """The file that a row names; files derived from it lie next to it under a longer name."""
    return key.partition(".")[0]
