"""`manage.py restore FOLDER`: restore the site from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ... import backups, database_dumps
from ...supervisor.place import SiteFolders


class Command(BaseCommand):
    help = (
        "Make the site what it was when a backup was made. Stop the site first. "
        "A damaged or unfinished backup is refused before anything is changed."
    )
    # The database may be older than the program, or not be there at all.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--force",
            action="store_true",
            help="Also over a site that is not empty: what was there is moved aside, a PostgreSQL database replaced.",
        )

    def handle(self, **options: Any) -> None:
        place = SiteFolders(Path(settings.VAR_DIR))
        place.make()
        if not place.take_lock():
            address = place.read_address() or "starting"
            raise CommandError(f"The site is running: {address}. Stop it first with Ctrl-C.")
        try:
            wrong = backups.restore_backup(options["folder"], force=options["force"], report=self.stdout.write)
        except database_dumps.BackupError as error:
            raise CommandError(str(error)) from error
        finally:
            place.leave()
        for line in wrong:
            self.stderr.write(line)
        if wrong:
            raise CommandError(f"Restored, but {len(wrong)} things are not as they should be.")
        self.stdout.write("Restored and checked. Start the site with: up")
