"""`python3 manage.py test`: pytest on all processors; `--all` runs every test, `--postgres` runs them on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.servers import postgres

BASE = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    own = {"--all": ["-m", ""], "--postgres": []}
    rest = [word for argument in arguments for word in own.get(argument, [argument])]
    # Files run side by side; tests of one file share what they started.
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", *rest]
    environment = dict(os.environ)
    # Tests start hundreds of processes: what the first one compiled must be there for the others.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with ExitStack() as stack:
        if "--postgres" in arguments:
            environment["DATABASE_URL"] = stack.enter_context(postgres()).url()
        return subprocess.call(command, cwd=BASE, env=environment)
