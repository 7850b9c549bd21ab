"""`manage.py sweep_files`: remove stored files that no row has spoken of for a day, and those of old invalid rows."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from leaderboard.competitions.services import scoring_again

from ... import backup_manifest, orphan_files


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
            number = orphan_files.sweep_files(at=timezone.now(), force=options["force"])
        except backup_manifest.BackupError as error:
            raise CommandError("\n".join([error.message, *error.details])) from None
        self.stdout.write(f"{number} files removed.")
        if invalid:
            self.stdout.write(f"{invalid} files of old invalid submissions removed.")
