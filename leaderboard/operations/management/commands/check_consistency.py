"""`manage.py check_consistency [--json]`: run the consistency checks on the data of this site; exit status 1 if one
fails."""

from __future__ import annotations

import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from ... import consistency
from ...models import ConsistencyRun

MAX_STORED_RUNS = 60


class Command(BaseCommand):
    help = "Check what a crash could have broken: a line each with the first examples; exit status 1 when broken."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="One JSON object instead of lines.")
        parser.add_argument("--seed", type=int, help="Which scores to recompute; at random without it.")
        parser.add_argument("--only", metavar="1,9", help="Only the checks of these numbers; the result is not kept.")

    def handle(self, **options: Any) -> None:
        only = {int(number) for number in options["only"].split(",")} if options["only"] else None
        began_at, began = timezone.now(), time.monotonic()
        found = []
        for result in consistency.run_checks(seed=options["seed"], only=only):
            found.append(result)
            if not options["json"]:
                self._print_result(result)
        is_whole = all(result.holds for result in found)
        report = {"whole": is_whole, "promises": [result.as_dict() for result in found]}
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        if only is None:
            ConsistencyRun.objects.create(
                began_at=began_at, seconds=time.monotonic() - began, is_consistent=is_whole, report=report
            )
            newest = ConsistencyRun.objects.values_list("pk", flat=True)[:MAX_STORED_RUNS]
            ConsistencyRun.objects.exclude(pk__in=list(newest)).delete()
        if not is_whole:
            raise SystemExit(1)

    def _print_result(self, result: consistency.CheckResult) -> None:
        self.stdout.write(result.line)
        for example in result.examples:
            self.stdout.write(f"     {example}")
        if result.broken > len(result.examples):
            self.stdout.write(f"     and {result.broken - len(result.examples)} more")
