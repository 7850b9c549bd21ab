"""`manage.py demo`: three demonstration competitions; `--remove` deletes them again."""

from __future__ import annotations

import logging
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.competitions.models import Submission

from ... import demo


class Command(BaseCommand):
    help = "Make the demo competitions; running it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--remove", action="store_true", help="Delete all demo competitions and people.")
        parser.add_argument(
            "--teams",
            type=int,
            default=demo.TEAMS,
            choices=range(2, demo.TEAMS + 1),
            metavar="N",
            help="How many teams the finished class has (default: %(default)s).",
        )

    def handle(self, **options: Any) -> None:
        # Without a broker every wake-up logs a warning; the last line below says the same once.
        logging.getLogger("leaderboard.competitions.wake_ups").setLevel(logging.ERROR)
        try:
            with demo.demo_lock(demo.WAIT_SECONDS):
                if options["remove"]:
                    number = demo.remove_demo()
                    self.stdout.write(f"Removed {number} demo competitions with their accounts.")
                    return
                demo.make_demo(teams=options["teams"], report=self.stdout.write)
        except demo.DemoIsBusy:
            raise CommandError("Another process has been making or removing the demo for ten minutes.") from None
        waiting = Submission.objects.filter(competition__is_demo=True, status=Submission.Status.PENDING).count()
        if waiting:
            self.stdout.write(f"{waiting} submissions are waiting for the worker.")
