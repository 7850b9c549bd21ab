"""Three ways out of the seal, tried by a sealed process itself; the others are tests."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any


def try_seal(secret: str, port: int) -> dict[str, Any]:
    """Which probes led outside: reading a file of the site, the network, another process."""

    def start_process() -> object:
        if (pid := os.fork()) == 0:
            os._exit(0)
        return os.waitpid(pid, 0)

    probes: dict[str, Callable[[], object]] = {
        "read a file of the site": lambda: Path(secret).read_bytes(),
        "connect to a port": lambda: socket.create_connection(("127.0.0.1", port), timeout=1).close(),
        "start a process": start_process,
    }
    found = []
    for title, probe in probes.items():
        outcome = "stopped"
        with suppress(OSError):
            probe()
            outcome = "ESCAPED"
        found.append({"title": title, "outcome": outcome})
    return {"probes": found}
