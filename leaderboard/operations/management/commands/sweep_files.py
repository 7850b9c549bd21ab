"""`manage.py sweep_files`: remove stored files that have had no row for a day, and those of old invalid submissions."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from leaderboard.common import storage
from leaderboard.submissions import scoring_again

from ... import database_dumps

log = logging.getLogger(__name__)

# A file gets its row within seconds, but restoring or moving a site takes hours.
ORPHAN_LIFETIME = timedelta(hours=24)
FOLDERS = ("submissions", "attachments", "truths", "data", "checks", "page-tasks")
FEW = 20


def sweep_files(*, at: datetime, force: bool = False) -> int:
    """Remove files that were stored more than a day before `at` and have no row; returns their number. Such a file is
    left when a web server dies between storing a file and its row.

    Raises `BackupError` and removes nothing if most files would go: then it is probably the wrong database.
    """
    before = (at - ORPHAN_LIFETIME).timestamp()
    # List files before reading rows, so that every file in the list has had time to get its row.
    stored = [key for key, written in storage.list_stored() if key.partition("/")[0] in FOLDERS and written < before]
    named = database_dumps.named_files(database_dumps.read_live)
    orphans = [key for key in stored if key.endswith(".partial") or _root(key) not in named]
    if len(orphans) > FEW and 2 * len(orphans) > len(stored) and not force:
        raise database_dumps.BackupError(
            f"{len(orphans):,} of {len(stored):,} stored files have no row in this database. Nothing was removed.\n"
            "Is DATABASE_URL the database that belongs to these files? If it is, give --force."
        )
    for key in orphans:
        storage.remove_file(key)
    if orphans:
        log.info("files without a row were removed", extra={"files": len(orphans)})
    return len(orphans)


def _root(key: str) -> str:
    """The key that a row names; files derived from it are next to it under a longer name."""
    return key.partition(".")[0]


class Command(BaseCommand):
    help = (
        "Remove files older than a day that belong to nothing, because their upload was cut off before it was "
        "acknowledged, and the bytes of submissions that have been invalid for two weeks."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="Also where most of all files would go.")

    def handle(self, **options: Any) -> None:
        try:
            invalid = scoring_again.remove_invalid_files(at=timezone.now())
            number = sweep_files(at=timezone.now(), force=options["force"])
        except database_dumps.BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{number} files removed.")
        if invalid:
            self.stdout.write(f"{invalid} files of old invalid submissions removed.")
