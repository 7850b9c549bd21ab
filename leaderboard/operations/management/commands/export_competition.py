"""`manage.py export_competition SLUG FOLDER`: a competition as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.ground_truths.services import folders


class Command(BaseCommand):
    help = "Write a competition as a folder that import_competition reads. It holds the answers: keep it to yourself."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("folder", type=Path)

    def handle(self, **options: Any) -> None:
        competition = Competition.objects.filter(slug=options["slug"]).first()
        if competition is None:
            raise CommandError(f"No competition has the address “{options['slug']}”.")
        try:
            folders.export_folder(competition, options["folder"])
        except competitions.CannotHost as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{options['folder']} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"Exported “{competition}” to {options['folder']}.")
