"""Several runs of the tests on one machine do not disturb each other."""

from __future__ import annotations

import subprocess
import sys
from itertools import count

import pytest

from tests import running_site

ASK = (
    "from itertools import count; from tests import running_site; running_site._ports = count({});"
    " print(running_site.free_port())"
)


def test_two_runs_that_look_at_the_same_time_get_two_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    first = running_site.free_port()
    monkeypatch.setattr(running_site, "_ports", count(first))
    second = running_site.free_port()
    assert second != first, "though nothing listens there yet"
    other = subprocess.run(
        [sys.executable, "-c", ASK.format(first)],
        cwd=running_site.ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert int(other.stdout) not in (first, second)
