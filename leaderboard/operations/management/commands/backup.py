"""`manage.py backup FOLDER`: back up the whole site into a folder, while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ... import backups, database_dumps


class Command(BaseCommand):
    help = (
        "Write database, files and secret key into a new folder, while the site runs. "
        "It holds every answer and every score: keep it where only you can read it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="New or empty, best on another disk.")

    def handle(self, **options: Any) -> None:
        folder: Path = options["folder"]
        try:
            manifest = backups.write_backup(folder)
        except database_dumps.BackupError as error:
            raise CommandError(f"{error}\nNo backup was made.") from error
        counts = ", ".join(f"{number:,} {name}" for name, number in manifest.rows.items())
        self.stdout.write(f"{folder}: {counts}; {len(manifest.parts):,} parts, {manifest.size:,} bytes.")
        if manifest.lost:
            for key in manifest.lost:
                self.stderr.write(f"The site itself has lost or changed the file {key}.")
            raise CommandError(f"The backup is there, but {len(manifest.lost)} files of the site are damaged.")
