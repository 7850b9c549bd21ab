"""The test of the seal: whether a sealed process can reach the outside on this machine. Run whenever a worker
starts."""

from __future__ import annotations

import logging
import platform
import socket
import tempfile
from pathlib import Path

from django.db import OperationalError, ProgrammingError
from django.utils import timezone

from leaderboard.scoring import JobFailed
from leaderboard.scoring.custom_metrics import try_seal
from leaderboard.scoring.seal import reason_without_seal

from .models import SealTest

log = logging.getLogger(__name__)


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
