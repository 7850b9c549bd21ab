"""`manage.py check_sandbox [--json]`: try three ways out of a sealed process on this machine.

The exit code is 1 if the seal does not hold. Each worker runs it when it starts; the status page shows the result.
"""

from __future__ import annotations

import json
import logging
import platform
import socket
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError, ProgrammingError
from django.utils import timezone

from leaderboard.scoring.client import JobFailed
from leaderboard.scoring.custom_metrics import try_seal
from leaderboard.scoring.seal import reason_without_seal

from ...models import SealTest

log = logging.getLogger(__name__)


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


def run_seal_test() -> SealTest:
    """Have a sealed process try three ways out, and store the result.

    The result is not stored if the machine has no database yet.
    """
    report: dict[str, object] = {"kernel": platform.release(), "probes": []}
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder) / "secret"
        secret.write_text("secret")
        try:
            found = try_seal(secret, server.getsockname()[1])
            report["probes"] = found["probes"]
            reason = reason_without_seal() or _escapes(found["probes"])
        except JobFailed as error:
            reason = f"No sealed process could be started: {error}"
    fields = {"tested_at": timezone.now(), "reason": reason, "report": report}
    if reason:
        log.error("processes that read files are not sealed: %s", reason)
    try:
        test, _ = SealTest.objects.update_or_create(host=socket.gethostname()[:200], defaults=fields)
    except (OperationalError, ProgrammingError) as error:
        log.debug("the report of the seal is not stored: %s", error)
        test = SealTest(host=socket.gethostname()[:200], **fields)
    return test


def _escapes(probes: list[dict[str, str]]) -> str:
    ways = [one["title"] for one in probes if one["outcome"] != "stopped"]
    return f"A sealed process of this machine could {'; '.join(ways)}." if ways else ""
