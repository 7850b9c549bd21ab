"""What docs/operating.md and docs/deploy.md tell Olga is true: commands run, and each alarm of the product is there."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from django.core.management import call_command

from leaderboard.operations import health
from leaderboard.submissions.queue_health import PendingFiles

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "operating.md").read_text()
BOTH = PAGE + (ROOT / "docs" / "deploy.md").read_text()
ALARMS = PAGE.partition("## Alarms")[2].partition("\n## ")[0]
RULES = yaml.safe_load((ROOT / "docs" / "alerts.yml").read_text())["groups"][0]["rules"]
LEVELS = ("warning", "error", "exception", "critical")
PLACEHOLDER = re.compile(r"%(?:\.\d)?[sdrgf]")


def block(beginning: str) -> str:
    """The shell block of either page that begins with these words."""
    (found,) = [text for text in re.findall(r"```sh\n(.*?)```", BOTH, flags=re.S) if text.startswith(beginning)]
    return str(found)


def words_of(node: ast.expr) -> str:
    """A logged text with … for what is filled in."""
    return PLACEHOLDER.sub("…", node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@cache
def all_logged() -> list[tuple[str, str]]:
    """Level and text of all that the site logs."""
    sources = [text for path in (ROOT / "leaderboard").rglob("*.py") if "log." in (text := path.read_text())]
    calls = [node for text in sources for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    named = [(ast.unparse(call.func).removeprefix("log."), call) for call in calls]
    return [(level, words_of(call.args[0])) for level, call in named if level in LEVELS]


def logged(*levels: str) -> set[str]:
    """Every text that the site logs at these levels."""
    return {text for level, text in all_logged() if level in levels and text}


# --- alarms -------------------------------------------------------------------------------------------------------


def test_every_error_that_the_site_logs_is_explained() -> None:
    texts = logged("error", "exception", "critical")
    assert len(texts) >= 8
    assert {text for text in texts if text not in ALARMS} == set()


def test_every_alarm_that_is_explained_exists() -> None:
    """Texts of the log between back-ticks, texts of pages and of the terminal between quotation marks."""
    known = "\n".join([*logged("error", "exception", "warning"), "the task … failed"])
    alarms = " ".join(line.split(" | ")[0] for line in ALARMS.splitlines())
    explained = [text for text in re.findall(r"`([^`]+)`", alarms) if " " in text]
    assert len(explained) >= 30
    assert [text for text in explained if text not in known] == []
    sources = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "leaderboard" / "operations").rglob("*.py")]
    text = re.sub(r"""\{% translate (["'])(.*?)\1.*?%\}""", r"\2", "\n".join(path.read_text() for path in sources))
    shown = " ".join(re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{[^{}]*\}", "…", text).split())
    quoted = [text for text in re.findall(r"“([^”]+)”", ALARMS) if text != "Internal Server Error"]
    assert len(quoted) >= 8
    assert [text for text in quoted if text not in shown] == []


def test_every_rule_for_prometheus_is_explained_and_every_explained_one_exists() -> None:
    named = set(re.findall(r"`(Leaderboard\w+)`", PAGE))
    assert named == {rule["alert"] for rule in RULES}


def test_rules_and_page_name_numbers_that_the_site_has(db: None) -> None:
    numbers = set(re.findall(r"^(leaderboard_\w+)", health.prometheus_text(), flags=re.M))
    asked = {name for rule in RULES for name in re.findall(r"\bleaderboard_\w+", rule["expr"])}
    assert asked
    assert asked <= numbers
    assert set(re.findall(r"`(leaderboard_\w+)`", PAGE)) == numbers


@pytest.mark.skipif(not shutil.which("promtool"), reason="Prometheus is not installed")
def test_prometheus_itself_finds_nothing_wrong_with_the_rules() -> None:
    command = ["promtool", "check", "rules", str(ROOT / "docs" / "alerts.yml")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_page_names_every_word_of_the_deep_look() -> None:
    paragraph = PAGE.partition("**`/healthz/deep`**")[2].partition("\n\n")[0]
    named = {name for name in re.findall(r"`(\w+)`", paragraph)}
    nothing_waits = PendingFiles(number=0, oldest=None, in_hand=0)
    site = health.SiteHealth(True, True, True, worker_heard=None, pending=nothing_waits, late_tasks=())
    assert named == site.as_dict().keys() - {"able"}


# --- commands -----------------------------------------------------------------------------------------------------


def test_every_shell_block_can_be_read_by_a_shell() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", BOTH, flags=re.S)
    assert len(blocks) >= 7
    for text in blocks:
        run = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True, check=False)
        assert run.returncode == 0, (text, run.stderr)


def run_block(text: str, folder: Path) -> str:
    """Run a block of the page as it is written, in folders of this test, as this user and with this Python."""
    for written, here in {
        "sudo leaderboard ": "python3 manage.py ",
        "sudo -u leaderboard ": "",
        "sudo ": "",
        "/srv/leaderboard/site": str(ROOT),
        "/srv/leaderboard/var": str(folder / "var"),
        "/backup/leaderboard": str(folder / "backup"),
        "python3 ": f"{sys.executable} ",
    }.items():
        text = text.replace(written, here)
    (folder / "backup").mkdir()
    stored = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {**stored, "VAR_DIR": str(folder / "var"), "ALLOWED_HOSTS": "localhost"}
    run = subprocess.run(["sh", "-euc", text], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_olga_runs_commands_as_the_sites_user_with_the_variables_that_she_wrote(tmp_path: Path) -> None:
    """With a `runuser` that prints what it was given."""
    (tmp_path / "runuser").write_text('#!/bin/sh\necho "$PWD" "$@"\necho "$SITE_URL" "$EMAIL_URL" "$HOME"\numask\n')
    (tmp_path / "runuser").chmod(0o755)
    text = block("sudo install -D --mode 600")
    replaced = {
        "sudo leaderboard": str(tmp_path / "leaderboard"),
        "sudo ": "",
        "/etc/leaderboard/": f"{tmp_path}/",
        "/usr/local/bin/": f"{tmp_path}/",
        "cd /srv/leaderboard/site": f"cd {tmp_path}",
    }
    for written, here in replaced.items():
        text = text.replace(written, here)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    run = subprocess.run(["sh", "-euc", text], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [
        f"{tmp_path} -u leaderboard -- python3 manage.py check --deploy",
        "https://leaderboard.example.org smtp+tls://USER:PASSWORD@mail.example.org:587 /srv/leaderboard",
        "0077",
    ]
    assert (tmp_path / "leaderboard.env").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
@pytest.mark.long
def test_the_drill_runs_as_it_is_written(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir(mode=0o700)
    environment = {**os.environ, "VAR_DIR": str(var)}
    environment.pop("DATABASE_URL", None)
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True, umask=0o077)
    output = run_block(block("sudo leaderboard backup /backup/leaderboard/drill"), tmp_path)
    assert "Restored: " in output
    assert "BROKEN" not in output
    assert list((tmp_path / "backup").iterdir()) == [], "the next drill finds room"
    assert (var / "leaderboard.sqlite3").exists()


def test_commands_of_an_upgrade_are_commands(capsys: pytest.CaptureFixture[str]) -> None:
    named = re.findall(r"(?:sudo |^    .*  )leaderboard ([a-z_]+)", BOTH, flags=re.M)
    assert {"backup", "check", "check_consistency", "restore"} <= set(named)
    for name in sorted(set(named)):
        with pytest.raises(SystemExit):
            call_command(name, "--help")
