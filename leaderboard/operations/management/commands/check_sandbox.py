"""`manage.py check_sandbox [--json]`: try 18 ways out of the scorer's sandbox on this machine.

It ends with 1 if the sandbox does not hold, so that metrics from outside are off.
Each worker does so when it starts; the status page shows what came of it.
"""

from __future__ import annotations

import json
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from leaderboard.common import child_processes
from leaderboard.sandbox import outside_metrics
from metrics.sandbox.self_test import STOPPED


class Command(BaseCommand):
    help = "Try 18 ways out of the sandbox that metrics from outside run in: one line each, stopped or ESCAPED."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="One JSON object instead of lines.")

    def handle(self, **options: Any) -> None:
        if child_processes.current_part():  # a worker started it and may be killed; files are scored meanwhile
            child_processes.die_with(os.getppid())
            os.nice(10)
        test = outside_metrics.run_sandbox_self_test()
        if options["json"]:
            self.stdout.write(json.dumps(test.report))
        elif options["verbosity"]:
            self._print_report(test.report)
        if test.reason:
            raise SystemExit(1)

    def _print_report(self, report: dict[str, Any]) -> None:
        for one in report["outcomes"]:
            self.stdout.write(f"{one['outcome']:8} {one['title']}{': ' if one['how'] else ''}{one['how']}")
        stopped = sum(one["outcome"] == STOPPED for one in report["outcomes"])
        ways = f"{stopped} of {len(report['outcomes'])} ways out stopped in {report['seconds']:g} s"
        self.stdout.write(report["reason"] or f"The sandbox holds: {ways}.")
