"""The tests of the queue and of the promises once more, on a PostgreSQL server.

All others run there by `python3 manage.py test --postgres`.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.running_site import ROOT
from tests.servers import postgres

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.sqlite]

TESTS = (
    "machines/test_races.py",
    "machines/test_team_races.py",
    "faults/test_twice.py",
    "submissions/test_claims.py",
    "common/test_clock.py",
    "operations/test_consistency.py::test_a_site_in_use_passes_all_its_checks",
    "operations/test_consistency.py::test_who_breaks_a_check_is_found",
)


def test_the_queue_of_record_on_postgresql() -> None:
    with postgres() as server:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in TESTS)],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": server.url()},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout
