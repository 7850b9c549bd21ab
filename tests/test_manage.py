"""Olga has a fresh machine and types one command: what `manage.py` installs, and what she reads when it cannot."""

from __future__ import annotations

import ast
import errno
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest

import manage
from manage import Trouble
from tests.__main__ import EVERYDAY

pytestmark = pytest.mark.thorough

FAKE_DJANGO = "import sys\n\ndef execute_from_command_line(arguments):\n    print(sys.prefix, *arguments)\n"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh copy of the project in a folder with spaces."""
    base = tmp_path / "Olga's new site"
    base.mkdir()
    (base / "requirements.txt").write_text("nowhere-to-be-found==1.0 \\\n    --hash=sha256:00\n")
    (base / "requirements-s3.txt").write_text("nowhere-to-be-found==1.0 \\\n")
    (base / "requirements-kaggle.txt").write_text("nowhere-to-be-found==1.0 \\\n")
    (base / "requirements-dev.txt").write_text("nowhere-to-be-found==1.0 \\\nnor-this==2.0 \\\n")
    venv = base / ".venv"
    paths = {"BASE": base, "VENV": venv, "PYTHON": venv / "bin" / "python", "STAMP": venv / "installed"}
    for name, path in paths.items():
        monkeypatch.setattr(manage, name, path)
    return base


@pytest.fixture
def installer(base: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stands in for venv and pip: notes the commands and makes the folder that venv would make."""
    seen = SimpleNamespace(commands=[], fails_with=None)

    def run(command: list[str]) -> None:
        seen.commands.append(" ".join(command))
        if "venv" in command:
            shutil.rmtree(manage.VENV, ignore_errors=True)
            manage.PYTHON.parent.mkdir(parents=True)
            manage.PYTHON.touch()
        elif seen.fails_with is not None:
            raise seen.fails_with

    monkeypatch.setattr(manage, "run_installer", run)
    return seen


# --- which Python -----------------------------------------------------------------------------------------------


def test_an_old_python_gets_as_far_as_saying_that_it_is_old() -> None:
    source = Path(manage.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 6))
    at_start = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert "__future__" not in {node.module for node in at_start}  # `annotations` came with Python 3.7


def test_olga_reads_that_her_python_is_too_old() -> None:
    with pytest.raises(Trouble, match=r"This is Python 3\.9 .* needs Python 3\.11 or newer"):
        manage.check_python((3, 9))
    manage.check_python((3, 11))


def test_windows_is_sent_to_wsl() -> None:
    with pytest.raises(Trouble, match="inside WSL"):
        manage.check_python((3, 13), system="nt")


# --- installing -------------------------------------------------------------------------------------------------


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., str]:
    """Start `manage.py` as on a machine that has only Python; the package index is a folder with one package."""
    base, index = tmp_path / "Olga's new site", tmp_path / "index"
    base.mkdir()
    index.mkdir()
    shutil.copy(manage.__file__, base)
    (base / "leaderboard").mkdir()
    for name in ("__init__.py", "__main__.py"):
        shutil.copy(Path(manage.__file__).parent / "leaderboard" / name, base / "leaderboard")
    wheel = index / "django-99.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("django/__init__.py", "")
        archive.writestr("django/core/__init__.py", "")
        archive.writestr("django/core/management/__init__.py", FAKE_DJANGO)
        archive.writestr("django-99.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: django\nVersion: 99.0\n")
        archive.writestr(
            "django-99.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("django-99.0.dist-info/RECORD", "")
    (base / "requirements-s3.txt").touch()
    (base / "requirements-kaggle.txt").touch()
    (base / "requirements-dev.txt").touch()
    own = hashlib.sha256(wheel.read_bytes()).hexdigest()
    stored = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    environment = {**stored, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull}

    def start(*arguments: str, digest: str = own) -> str:
        (base / "requirements.txt").write_text(f"django==99.0 \\\n    --hash=sha256:{digest}\n")
        python = sys._base_executable  # type: ignore[attr-defined]
        command = [python, str(base / "manage.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return start


@pytest.mark.slow
@pytest.mark.takes(20)
def test_a_fresh_machine_gets_a_venv_once_and_only_from_packages_with_the_hash_of_the_lock(
    start: Callable[..., str], tmp_path: Path
) -> None:
    venv = tmp_path / "Olga's new site" / ".venv"
    output = start("hello", digest="0" * 64)
    assert "DO NOT MATCH THE HASHES" in output
    assert output.endswith("mend what is missing and run the same command again.\n")
    assert "Traceback" not in output

    (venv / "left over").touch()
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(start, ["hello", "hello"])
    for output in (first, second):
        assert output.endswith(f"{venv} manage.py hello\n"), output
    assert not (venv / "left over").exists()
    assert start("again") == f"{venv} manage.py again\n"


def test_a_changed_lock_is_installed_into_the_same_folder(base: Path, installer: SimpleNamespace) -> None:
    manage.install(manage.LOCK)
    assert "venv --clear" in installer.commands[0]
    assert "--require-hashes --no-deps" in installer.commands[1]
    assert installer.commands[1].endswith(f"-r {base / manage.LOCK}")
    installer.commands.clear()
    (base / "requirements.txt").write_text("something-newer==1.1 \\\n")
    assert not manage.is_installed(manage.LOCK)
    manage.install(manage.LOCK)
    assert len(installer.commands) == 1
    assert "pip install" in installer.commands[0]


def test_what_the_tests_need_is_enough_for_up_but_not_the_other_way_round(installer: SimpleNamespace) -> None:
    manage.install(manage.LOCK)
    assert not manage.is_installed(manage.DEV_LOCK)
    manage.install(manage.DEV_LOCK)
    assert manage.is_installed(manage.LOCK)
    assert manage.is_installed(manage.DEV_LOCK)


def test_a_site_with_a_bucket_gets_boto3_and_one_with_custom_metrics_scikit_learn_too(
    installer: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer.fails_with = Trouble("no network")
    manage.main(["up"])
    assert installer.commands[-1].endswith(manage.LOCK)
    monkeypatch.setenv("STORAGE_URL", "s3://storage.example.org/class")
    manage.main(["up"])
    assert installer.commands[-1].endswith(manage.S3_LOCK)
    monkeypatch.setenv("METRICS_DIR", "/srv/metrics")
    manage.main(["up"])
    assert installer.commands[-1].endswith(manage.KAGGLE_LOCK)


@pytest.mark.parametrize("is_upgrade", [False, True])
def test_an_interrupted_installation_is_never_taken_for_a_whole_one(
    base: Path, installer: SimpleNamespace, is_upgrade: bool
) -> None:
    before = (base / "requirements.txt").read_text()
    if is_upgrade:
        manage.install(manage.LOCK)
        (base / "requirements.txt").write_text("something-newer==1.1 \\\n")
    installer.fails_with = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        manage.install(manage.LOCK)
    (base / "requirements.txt").write_text(before)
    assert not manage.is_installed(manage.LOCK)
    half = manage.VENV / "half a package"
    half.touch()

    installer.fails_with = None
    manage.install(manage.LOCK)
    assert not half.exists()
    assert manage.is_installed(manage.LOCK)


@pytest.mark.parametrize("becomes", ["gone", "another"])
def test_a_venv_whose_python_went_away_is_made_anew(installer: SimpleNamespace, tmp_path: Path, becomes: str) -> None:
    manage.install(manage.LOCK)
    manage.PYTHON.unlink()
    if becomes == "another":
        manage.PYTHON.symlink_to(sys.executable)
    assert not manage.is_installed(manage.LOCK)
    manage.install(manage.LOCK)
    assert manage.is_installed(manage.LOCK)
    assert "venv --clear" in installer.commands[2]


def test_a_python_that_has_everything_already_is_used_as_it_is(
    base: Path, installer: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for lock in (manage.LOCK, manage.DEV_LOCK):
        shutil.copy(Path(manage.__file__).parent / lock, base)
    monkeypatch.setattr("tests.__main__.main", lambda arguments: len(arguments))
    assert manage.main(["test", "one", "two"]) == 2
    assert installer.commands == []


# --- what goes wrong --------------------------------------------------------------------------------------------


def test_a_failing_installer_is_quoted_and_followed_by_advice() -> None:
    lines = [f"line {number}" for number in range(20)] + ["ERROR: No matching distribution found for django==5.2.8"]
    with pytest.raises(Trouble) as caught:
        manage.run_installer([sys.executable, "-c", f"print(*{lines!r}, sep=chr(10)); raise SystemExit(1)"])
    assert str(caught.value).startswith("Installing failed:\n    line 9\n")
    assert str(caught.value).endswith(f"    {lines[-1]}\n{manage.ADVICE}")
    assert "the internet" in manage.ADVICE


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device. The first start needs"),
        (OSError(errno.EACCES, "Permission denied", "/srv/.venv"), 1, "Permission denied: '/srv/.venv'. The first"),
        (Trouble("what, where, what to do"), 1, "what, where, what to do\n"),
        (KeyboardInterrupt(), 130, "Interrupted"),
    ],
)
def test_olga_reads_what_is_wrong_and_no_traceback(
    installer: SimpleNamespace, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, words: str
) -> None:
    installer.fails_with = error
    assert manage.main(["up"]) == code
    output = capsys.readouterr().err
    assert words in output
    assert "Traceback" not in output


# --- what is asked for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "handed_on", "database"),
    [
        ([], ["-m", EVERYDAY], None),
        (["-k", "board"], ["-k", "board", "-m", EVERYDAY], None),
        (["--all"], [], None),
        (["tests/grades"], ["tests/grades"], None),
        (["-m", "long"], ["-m", "long"], None),
        (["--postgres", "--all", "-k", "board"], ["-k", "board"], "postgres://started"),
        (["--postgres", "tests/grades"], ["tests/grades"], "postgres://started"),
    ],
)
def test_test_hands_its_words_to_pytest(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], handed_on: list[str], database: str | None
) -> None:
    seen: list[object] = []

    @contextmanager
    def postgres() -> Iterator[object]:
        yield SimpleNamespace(url=lambda: "postgres://started")
        seen.append("stopped")

    def call(command: list[str], cwd: Path, env: dict[str, str]) -> int:
        seen.extend([command[1:], cwd, env.get("DATABASE_URL"), "PYTHONDONTWRITEBYTECODE" in env])
        assert list(Path(env["VAR_DIR"]).iterdir()) == [], "no state of a site that runs in this clone"
        return 5

    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setattr("tests.__main__.postgres", postgres)
    monkeypatch.setattr("tests.__main__.start_checks", lambda pool: [])
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert manage.main(["test", *arguments]) == 5
    command = ["-m", "pytest", "-n", "auto", "--dist", "loadfile", *handed_on]
    assert seen == [command, manage.BASE, database, False, *(["stopped"] if database else [])]


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
