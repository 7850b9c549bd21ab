"""Olga installs the site from its wheel, far from any clone."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import sysconfig
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest

from leaderboard import __version__
from leaderboard.operations.views import GUIDES
from tests.running_site import PASSWORD, ROOT, Site, free_port, until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-build-isolation", "--no-deps", "--quiet", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True)
    (built,) = folder.glob("*.whl")
    return built


def scored(state: Path) -> int:
    with closing(sqlite3.connect(state / "leaderboard.sqlite3")) as database:
        query = "SELECT count(*) FROM competitions_submission WHERE status = 'scored'"
        return int(database.execute(query).fetchone()[0])


@pytest.mark.takes(5)
def test_the_wheel_has_what_the_site_needs_and_nothing_else(wheel: Path) -> None:
    assert wheel.name == f"classboard-{__version__}-py3-none-any.whl"
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.split("/")[0].split("-")[0] for name in names} == {"leaderboard", "metrics", "classboard"}
    assert {f"leaderboard/bundled/docs/{file}" for file, _, _ in GUIDES.values()} <= names
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "templates").rglob("*.html")}
    assert {f"leaderboard/bundled/{path}" for path in templates} <= names
    assert not [name for name in names if "/tests/" in name or name.endswith((".pyc", ".map"))]


@pytest.mark.takes(25)
def test_it_starts_with_one_command_and_scores_a_file(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = str(venv / "bin" / "python")
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*command, str(wheel)], check=True)
    passed_on = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
    operator = {"ADMIN_USERNAME": "olga", "ADMIN_PASSWORD": PASSWORD, "ADMIN_EMAIL": "olga@example.org"}
    environment = {**passed_on, **operator, "HOME": str(tmp_path), "PYTHONPATH": sysconfig.get_path("purelib")}
    port = free_port()
    log = tmp_path / "up.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [str(venv / "bin" / "classboard"), "up", "--no-browser", "--port", str(port), "--demo"],
            cwd=tmp_path,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    state = tmp_path / ".local" / "share" / "classboard"
    site = Site(f"http://127.0.0.1:{port}", state, process, environment)
    try:
        until(lambda: site.address in log.read_text(), seconds=60, what="the box with the address")
        for path in ("/", "/help/", *(f"/help/{name}/" for name in GUIDES), "/metrics/accuracy/"):
            assert site.get(path)[0] == 200, path
        until(lambda: scored(state) > 0, seconds=90, what="a file of the demo with a score")
    finally:
        site.stop()
