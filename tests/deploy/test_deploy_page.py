"""What docs/deploy.md tells Olga is true: its commands can be read, and they give the parts all that these ask for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.deploy.containers import SEALED

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "deploy.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S)


def test_every_shell_block_can_be_read_by_a_shell() -> None:
    assert len(BLOCKS) >= 10
    for text in BLOCKS:
        run = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True, check=False)
        assert run.returncode == 0, (text, run.stderr)


def test_commands_in_containers_are_commands(capsys: pytest.CaptureFixture[str]) -> None:
    named = re.findall(r"(?:classboard|leaderboard|worker) ([a-z_]+)(?: |$)", "\n".join(BLOCKS), flags=re.M)
    known = {"backup", "check_sandbox", "restore", "setup_link"}
    assert known <= set(named)
    for name in sorted(known):
        with pytest.raises(SystemExit):
            call_command(name, "--help")


def test_the_written_file_has_every_variable_that_compose_demands(tmp_path: Path) -> None:
    (block,) = [text for text in BLOCKS if "> .env" in text]
    command = block.partition("cd deploy\n")[2].partition("docker compose")[0]
    subprocess.run(["sh", "-euc", command], cwd=tmp_path, check=True)
    written = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines())
    demanded = set(re.findall(r"\$\{(\w+):\?\}", (ROOT / "deploy" / "compose.yml").read_text()))
    assert set(written) == demanded
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    assert all(re.fullmatch(r"[\w.]+", value) for value in written.values()), "they stand in addresses"


def test_what_is_run_by_hand_is_as_closed_as_what_the_tests_run() -> None:
    (block,) = [text for text in BLOCKS if "check_sandbox" in text]
    assert all(option.replace("=", " ") in block for option in SEALED)
