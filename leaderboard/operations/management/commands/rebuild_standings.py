"""`manage.py rebuild_standings [--check]`: rebuild all boards from their scores, or check that they equal them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.boards import standings
from leaderboard.competitions.models import Competition


class Command(BaseCommand):
    help = "Make every board again from the scores; with --check only compare, and exit with 1 at a difference."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="Change nothing.")

    def handle(self, **options: Any) -> None:
        competitions = Competition.objects.filter(ground_truth__isnull=False).select_related("ground_truth")
        wrong = 0
        for competition in competitions.order_by("slug"):
            ground_truth = competition.ground_truth
            assert ground_truth is not None
            found = standings.standing_differences(ground_truth)
            wrong += bool(found)
            for sentence in found:
                self.stdout.write(f"{competition.slug}: {sentence}")
            if not options["check"]:
                standings.rebuild_standings(ground_truth)
        if wrong and options["check"]:
            raise CommandError(f"{wrong} of {len(competitions)} leaderboards differ from their scores.")
        done = "compared" if options["check"] else "rebuilt"
        self.stdout.write(f"{len(competitions)} leaderboards {done}, {wrong} differed from their scores.")
