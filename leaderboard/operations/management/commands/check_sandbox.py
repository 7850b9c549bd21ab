"""`manage.py check_sandbox [--json]`: try three ways out of a sealed process on this machine.

The exit code is 1 if the seal does not hold. Each worker runs it when it starts; the status page shows the result.
"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ...seal_test import run_seal_test


class Command(BaseCommand):
    help = "Try three ways out of a sealed process: one line each, stopped or ESCAPED."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="One JSON object instead of lines.")

    def handle(self, **options: Any) -> None:
        test = run_seal_test()
        if options["json"]:
            self.stdout.write(json.dumps({**test.report, "reason": test.reason}))
        elif options["verbosity"]:
            for probe in test.report["probes"]:
                self.stdout.write(f"{probe['outcome']:8} {probe['title']}")
            self.stdout.write(test.reason or "The seal holds.")
        if test.reason:
            raise SystemExit(1)
