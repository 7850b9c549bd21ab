"""`manage.py import_competition FOLDER --host NAME [--launch]`: a competition from a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.accounts.models import User
from leaderboard.competitions import services as competitions
from leaderboard.ground_truths.services import folders


class Command(BaseCommand):
    help = "Make a competition from a folder with competition.toml, overview.md, rules.md, truth.csv, data/, baselines."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--host", required=True, metavar="USERNAME", help="Who hosts it.")
        parser.add_argument("--launch", action="store_true", help="Let students in at once.")

    def handle(self, **options: Any) -> None:
        host = User.objects.filter(username__iexact=options["host"], is_active=True).first()
        if host is None:
            raise CommandError(f"There is no account named “{options['host']}”.")
        try:
            competition = folders.import_folder(options["folder"], user=host, launch=options["launch"])
        except competitions.CannotHost as error:
            raise CommandError("\n".join([error.message, *(f"  {line}" for line in error.details)])) from error
        ground_truth = competition.ground_truth
        for finding in ground_truth.findings if ground_truth else []:
            self.stdout.write(f"truth.csv: {finding['message']}")
        state = "launched" if competition.launched_at else "a draft"
        self.stdout.write(
            f"“{competition}” is {state}: /c/{competition.slug}/, join code {competition.admission.join_code}."
        )
