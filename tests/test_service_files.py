"""The examples in docs/examples: Olga's server starts the site by itself and reaches it by TLS."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
from django.conf import LazySettings

from leaderboard.operations.supervisor import supervisor, up

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"


def test_the_unit_starts_up_with_options_that_it_has_and_leaves_it_time_to_stop() -> None:
    unit = ConfigParser(interpolation=None, delimiters="=")  # a key that occurs twice is an error
    unit.read(EXAMPLES / "leaderboard.service")
    service = unit["Service"]
    options = argparse.ArgumentParser()
    up.add_arguments(options)
    given = options.parse_args(service["ExecStart"].partition("manage.py up ")[2].split())
    assert (given.host, given.port, given.workers, given.no_browser) == ("127.0.0.1", 8000, 1, True)
    # A signal to every process would cut files off in the middle.
    assert service["KillMode"] == "mixed"
    assert int(service["TimeoutStopSec"]) > supervisor.TIME_TO_FINISH + supervisor.TIME_TO_SAVE


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    """With programs and folders that exist here."""
    text = (EXAMPLES / "leaderboard.service").read_text().replace("/srv/leaderboard/site", str(ROOT))
    path = tmp_path / "leaderboard.service"
    path.write_text(text.replace("User=leaderboard", "User=root"))
    command = ["systemd-analyze", "verify", "--man=no", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert [line for line in run.stderr.splitlines() if "leaderboard.service" in line] == []


@pytest.mark.skipif(not shutil.which("caddy"), reason="Caddy is not installed")
def test_caddy_finds_nothing_wrong_with_the_caddyfile() -> None:
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(EXAMPLES / "Caddyfile")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_form_with_the_largest_file_passes_the_proxy(settings: LazySettings) -> None:
    (size,) = re.findall(r"max_size (\d+)", (EXAMPLES / "Caddyfile").read_text())
    assert settings.MAX_UPLOAD_BYTES < int(size) < settings.MAX_UPLOAD_BYTES * 1.1
