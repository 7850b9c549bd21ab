"""`python3 manage.py test`: pytest on all processors. What else follows goes to pytest.

manage.py test              the everyday tests, and a line that says what they leave out
manage.py test --all        also real processes, browsers and attack scenes; needs `tests/packages.py`
manage.py test -m long      minutes of killing, restoring and of several machines
manage.py test --postgres   any of them on a PostgreSQL server that is started for them

Linters and types are checked beside the first two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import packages
from tests.checks import start_checks
from tests.servers import postgres

BASE = Path(__file__).resolve().parent.parent
EVERYDAY = "not (long or slow or browser or thorough)"
OWN = ("--all", "--postgres")


def main(arguments: list[str]) -> int:
    rest = [argument for argument in arguments if argument not in OWN]
    is_all = "--all" in arguments
    is_everyday = not is_all and not any(chooses_tests(argument) for argument in rest)
    if is_all and packages.main():
        return 1
    # Tests of one file run in one process and share what they started.
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", *rest]
    environment = dict(os.environ)
    # Tests start hundreds of processes: what the first one compiled must be there for the others.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with ExitStack() as stack:
        # A site that runs in this clone keeps its broker to itself, and one that ran before changes no test.
        folder = TemporaryDirectory(prefix="leaderboard-tests-", ignore_cleanup_errors=True)
        environment["VAR_DIR"] = stack.enter_context(folder)
        if "--postgres" in arguments:
            environment["DATABASE_URL"] = stack.enter_context(postgres()).url()
        checks = start_checks(stack.enter_context(ThreadPoolExecutor())) if is_all or is_everyday else []
        code = subprocess.call([*command, "-m", EVERYDAY] if is_everyday else command, cwd=BASE, env=environment)
        for check in checks:
            sys.stdout.write(str(check.result()))
            code = code or not check.result().is_good
    if is_everyday:
        sys.stdout.write(
            "These were the everyday tests. `manage.py test --all` runs real processes, browsers and attacks too.\n"
        )
    return int(code)


def chooses_tests(argument: str) -> bool:
    """Whether an argument of pytest says itself which tests run: by a marker or by a file."""
    return argument.startswith("-m") or (BASE / argument.partition("::")[0]).exists()
