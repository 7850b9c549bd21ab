"""`manage.py sweep_files`: remove stored files that no row has spoken of for a day."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from leaderboard import keeping


class Command(BaseCommand):
    help = "Remove files older than a day that belong to nothing: their upload was cut off before it was acknowledged."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="Also where most of all files would go.")

    def handle(self, **options: Any) -> None:
        try:
            number = keeping.sweep_files(at=timezone.now(), force=options["force"])
        except keeping.CannotKeep as error:
            raise CommandError("\n".join([error.message, *error.details])) from None
        self.stdout.write(f"{number} files removed.")
