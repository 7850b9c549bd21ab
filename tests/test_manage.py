"""Olga has a fresh machine and types one command: what `manage.py` installs, and what it says when it cannot."""

from __future__ import annotations

import ast
import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import manage
from manage import Trouble, Venv

PIP_OFFLINE = (
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...: Failed to establish a new "
    "connection: [Errno -3] Temporary failure in name resolution')': /simple/django/\n"
    "ERROR: Could not find a version that satisfies the requirement django==5.2.8"
)
UV_OFFLINE = (
    "error: Failed to fetch: `https://index.example/simple/django/`\n  Caused by: error sending request for url\n"
    "  Caused by: dns error: failed to lookup address information"
)
HASH_DIFFERS = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."


class Installer:
    """Stands in for pip, uv and venv: notes what it was told and makes what they would make."""

    def __init__(self, venv: Venv) -> None:
        self.venv = venv
        self.commands: list[str] = []
        self.fails_with: BaseException | None = None

    def __call__(self, command: list[str]) -> None:
        self.commands.append(" ".join(command))
        if "venv" in command:
            self.venv.python.parent.mkdir(parents=True)
            self.venv.python.touch()
            version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
            (self.venv.folder / "lib" / version / "site-packages" / "pip").mkdir(parents=True)
        elif self.fails_with is not None:
            raise self.fails_with


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Venv:
    """A fresh copy of the project in a folder with spaces."""
    base = tmp_path / "Olga's new site"
    base.mkdir()
    (base / "requirements.txt").write_text("nowhere-to-be-found==1.0 \\\n    --hash=sha256:00\n")
    (base / "requirements-dev.txt").write_text("nowhere-to-be-found==1.0 \\\nnor-this==2.0 \\\n")
    monkeypatch.setattr(subprocess, "call", lambda *_, **__: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    return Venv(base)


@pytest.fixture
def installer(venv: Venv, monkeypatch: pytest.MonkeyPatch) -> Installer:
    installer = Installer(venv)
    monkeypatch.setattr(manage, "run_installer", installer)
    return installer


@pytest.fixture
def restarts(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines with which `manage.py` would replace itself."""
    calls: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: calls.append(arguments))
    return calls


# --- which Python -----------------------------------------------------------------------------------------------


def test_an_old_python_gets_as_far_as_saying_that_it_is_old() -> None:
    source = Path(manage.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 6))
    at_start = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert "__future__" not in {node.module for node in at_start}  # `annotations` came with Python 3.7


def test_olga_reads_that_her_python_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Trouble, match=r"This is Python 3\.9 .* needs Python 3\.11 or newer\. Install"):
        manage.check_python((3, 9, 2))


def test_olga_is_told_of_the_newer_python_that_she_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/x" if name == "python3.12" else None)
    with pytest.raises(Trouble, match=r"Run it with python3\.12, which is installed here"):
        manage.check_python((3, 9, 2))


def test_a_python_that_will_do_is_not_spoken_of() -> None:
    manage.check_python((3, 11, 0))
    manage.check_python(sys.version_info)


def test_windows_is_sent_to_wsl() -> None:
    with pytest.raises(Trouble, match="inside WSL"):
        manage.check_python((3, 13), system="nt")


@pytest.mark.parametrize("part", ["venv", "ensurepip"])
def test_olga_reads_which_part_of_debian_is_missing(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == part else there(name))
    with pytest.raises(Trouble, match=r"sudo apt install python3\.\d+-venv"):
        manage.check_venv_module()


# --- installing -------------------------------------------------------------------------------------------------


def test_a_fresh_machine_gets_a_venv_with_hashes_and_starts_again_in_it(
    venv: Venv, installer: Installer, restarts: list[list[str]]
) -> None:
    manage.set_up(venv, manage.LOCK, ["up", "--port", "80"])
    making, installing = installer.commands
    assert making.endswith(f"-m venv {venv.folder}")
    assert f"--require-hashes --quiet -r {venv.base / 'requirements.txt'}" in installing
    assert restarts == [[str(venv.python), str(venv.base / "manage.py"), "up", "--port", "80"]]


def test_uv_is_used_where_it_is_found(venv: Venv, installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    venv.install(manage.LOCK)
    assert [command.split()[:3] for command in installer.commands] == [
        ["/bin/uv", "venv", "--quiet"],
        ["/bin/uv", "pip", "install"],
    ]
    assert "--require-hashes" in installer.commands[1]


def test_the_second_start_installs_nothing(venv: Venv, installer: Installer, restarts: list[list[str]]) -> None:
    manage.set_up(venv, manage.LOCK, ["up"])
    installer.commands.clear()
    manage.set_up(venv, manage.LOCK, ["up"])
    assert installer.commands == []
    assert len(restarts) == 2


def test_a_changed_lock_is_installed_into_the_same_folder(venv: Venv, installer: Installer) -> None:
    venv.install(manage.LOCK)
    installer.commands.clear()
    (venv.base / "requirements.txt").write_text("something-newer==1.1 \\\n")
    assert not venv.is_ready_for(manage.LOCK)
    venv.install(manage.LOCK)
    assert len(installer.commands) == 1
    assert "pip install" in installer.commands[0]


def test_what_the_tests_need_is_enough_for_up_but_not_the_other_way_round(venv: Venv, installer: Installer) -> None:
    venv.install(manage.LOCK)
    assert not venv.is_ready_for(manage.DEV_LOCK)
    venv.install(manage.DEV_LOCK)
    assert venv.is_ready_for(manage.LOCK)
    assert venv.is_ready_for(manage.DEV_LOCK)


def test_an_interrupted_installation_is_never_taken_for_a_whole_one(venv: Venv, installer: Installer) -> None:
    installer.fails_with = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        venv.install(manage.LOCK)
    assert not venv.is_ready_for(manage.LOCK)
    half = venv.folder / "half a package"
    half.touch()

    installer.fails_with = None
    venv.install(manage.LOCK)
    assert not half.exists()
    assert venv.is_ready_for(manage.LOCK)


def test_an_interrupted_upgrade_is_made_anew_too(venv: Venv, installer: Installer) -> None:
    venv.install(manage.LOCK)
    (venv.base / "requirements.txt").write_text("something-newer==1.1 \\\n")
    installer.fails_with = Trouble("no network")
    with pytest.raises(Trouble):
        venv.install(manage.LOCK)
    (venv.base / "requirements.txt").write_text("nowhere-to-be-found==1.0 \\\n    --hash=sha256:00\n")
    assert not venv.is_ready_for(manage.LOCK)


def test_a_venv_whose_python_went_away_is_made_anew(venv: Venv, installer: Installer) -> None:
    venv.install(manage.LOCK)
    venv.python.unlink()
    assert not venv.is_ready_for(manage.LOCK)
    venv.install(manage.LOCK)
    assert venv.python.exists()


def test_a_python_that_has_everything_already_is_used_as_it_is(
    installer: Installer, restarts: list[list[str]], tmp_path: Path
) -> None:
    for lock in (manage.LOCK, manage.DEV_LOCK):
        shutil.copy(manage.BASE / lock, tmp_path)
    manage.set_up(Venv(tmp_path), manage.DEV_LOCK, ["test"])
    assert installer.commands == []
    assert restarts == []


# --- what goes wrong --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (PIP_OFFLINE, "first start needs the internet"),
        (UV_OFFLINE, "first start needs the internet"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("error: failed to write to file: No space left on device (os error 28)", "disk is full"),
        (HASH_DIFFERS, "its hash differs"),
        ("error: something nobody thought of", "    error: something nobody thought of"),
    ],
)
def test_olga_reads_why_the_installation_failed(output: str, words: str) -> None:
    assert words in manage.explain_installer(output, "pip install")


def test_a_failing_installer_is_quoted_not_traced() -> None:
    with pytest.raises(Trouble, match="no package index answered"):
        manage.run_installer([sys.executable, "-c", f"print({PIP_OFFLINE!r}); raise SystemExit(1)"])


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "The disk is full"),
        (errno.EROFS, "cannot be written by this user"),
        (errno.EACCES, "cannot be written by this user"),
        (errno.EIO, "The system refused"),
    ],
)
def test_a_folder_that_refuses_is_said_in_one_paragraph(
    number: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number), "/srv/leaderboard/.venv")

    monkeypatch.setattr(manage, "set_up", refuse)
    assert manage.main(["up"]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


def test_ctrl_c_while_installing_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(manage, "set_up", interrupt)
    assert manage.main(["up"]) == 130
    assert "Interrupted" in capsys.readouterr().err


def test_trouble_is_said_and_the_command_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise Trouble("what, where, what to do")

    monkeypatch.setattr(manage, "set_up", fail)
    assert manage.main(["up"]) == 1
    assert capsys.readouterr().err == "what, where, what to do\n"


# --- what is asked for ------------------------------------------------------------------------------------------


def test_test_installs_the_tools_and_hands_the_rest_to_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(manage, "set_up", lambda venv, lock, arguments: seen.append(lock))

    def call(command: list[str], cwd: str, env: dict[str, str]) -> int:
        seen.extend([command[1:], cwd, "PYTHONDONTWRITEBYTECODE" in env])
        return 5

    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert manage.main(["test", "-k", "board"]) == 5
    assert seen[0] == "requirements-dev.txt"
    assert seen[1] == ["-m", "pytest", "-n", "auto", "--dist", "loadfile", "-k", "board"]
    assert seen[2:] == [str(manage.BASE), False]


def test_test_runs_on_a_postgresql_server_that_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    @contextmanager
    def postgres() -> Iterator[object]:
        yield SimpleNamespace(url=lambda: "postgres://started")
        seen.append("stopped")

    def call(command: list[str], cwd: str, env: dict[str, str]) -> int:
        seen.extend([command[-2:], env["DATABASE_URL"]])
        return 0

    monkeypatch.setattr(manage, "set_up", lambda *_: None)
    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setattr("tests.servers.postgres", postgres)
    assert manage.main(["test", "--postgres", "-k", "board"]) == 0
    assert seen == [["-k", "board"], "postgres://started", "stopped"]


def test_up_stands_in_the_list_of_commands(run_manage: Callable[..., str]) -> None:
    assert "\n    up\n" in run_manage("help")
    assert "--no-browser" in run_manage("help", "up")


@pytest.fixture
def run_manage(tmp_path: Path) -> Callable[..., str]:
    def run(*arguments: str) -> str:
        command = [sys.executable, str(manage.BASE / "manage.py"), *arguments]
        env = {**os.environ, "VAR_DIR": str(tmp_path)}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    return run
