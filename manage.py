#!/usr/bin/env python3
# ruff: noqa: I002
"""Starts everything. On a fresh machine it first makes `.venv` and installs what the lock file names.

    python3 manage.py up       the whole site (up --help lists the options)
    python3 manage.py test     the everyday tests; --all: also processes, browsers and attacks
    python3 manage.py COMMAND  any command of Django

Only the standard library and the syntax of Python 3.6, so that an old Python can say that it is old.
"""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

BASE = Path(__file__).resolve().parent
VENV = BASE / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"  # written last: where it is missing, an installation broke off
# Each names everything that those before it do: for the site, for custom metric files, for the tests.
LOCKS = LOCK, S3_LOCK, KAGGLE_LOCK, DEV_LOCK = [f"requirements{what}.txt" for what in ("", "-s3", "-kaggle", "-dev")]
ADVICE = (
    "The first start needs the internet (or a mirror in PIP_INDEX_URL), 1 GB of disk and the right to write in "
    f"{BASE}; mend what is missing and run the same command again."
)


class Trouble(Exception):
    """A fault, its place and its cure, in words for the person at the terminal."""


def check_python(version: "tuple[int, ...]", system: str = os.name) -> None:
    if system == "nt":
        raise Trouble("Leaderboard runs on Linux and macOS. On Windows, run the same command inside WSL.")
    if version < (3, 11):
        found = f"This is Python {version[0]}.{version[1]} ({sys.executable})."
        raise Trouble(f"{found} Leaderboard needs Python 3.11 or newer: run it with one, as in python3.13 manage.py up")


def stamp_of(lock: str) -> str:
    """The line of the stamp for a lock as it is now, installed for the Python that `.venv` has now."""
    return f"{PYTHON.resolve()} {lock} {hashlib.sha256((BASE / lock).read_bytes()).hexdigest()}"


def is_installed(lock: str) -> bool:
    return PYTHON.exists() and STAMP.exists() and stamp_of(lock) in STAMP.read_text().splitlines()


def is_running_in_venv() -> bool:
    return Path(sys.prefix).resolve() == VENV.resolve()


def has_everything(lock: str) -> bool:
    """Whether this Python has what the lock names, as in a container's image (conditional lines apart)."""
    from importlib import metadata

    if is_running_in_venv() and not STAMP.exists():
        return False
    plain = re.compile("[-_.]+")
    found = {(plain.sub("-", one.metadata["Name"]).lower(), one.version) for one in metadata.distributions()}
    return found.issuperset(re.findall(r"^([\w.-]+)==([^\s;]+) \\$", (BASE / lock).read_text(), re.MULTILINE))


def install(lock: str) -> None:
    """Install what the lock names into `.venv`. A second start waits for the first and finds it done."""
    import fcntl

    if not is_installed(lock):
        print(f"Installing into {VENV} (this takes about a minute, once) …", flush=True)
    with (BASE / LOCK).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if is_installed(lock):
            return
        if PYTHON.exists() and STAMP.exists() and STAMP.read_text().startswith(f"{PYTHON.resolve()} "):
            STAMP.unlink()  # only the lock changed
        else:
            run_installer([getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--clear", str(VENV)])
        # Python compiles what it imports; all of it would take a third longer and 100 MB.
        options = ["--require-hashes", "--no-deps", "--no-compile", "-q", "--no-input", "--disable-pip-version-check"]
        run_installer([str(PYTHON), "-m", "pip", "install", *options, "-r", str(BASE / lock)])
        STAMP.write_text("\n".join(stamp_of(one) for one in LOCKS[: LOCKS.index(lock) + 1]))


def run_installer(command: "list[str]") -> None:
    """Run venv or pip quietly; when it fails, show the end of what it printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()[-12:]
        raise Trouble("\n    ".join(["Installing failed:", *lines]) + "\n" + ADVICE)


def main(arguments: "list[str]") -> int:
    optional = KAGGLE_LOCK if os.environ.get("METRICS_DIR") else S3_LOCK if os.environ.get("STORAGE_URL") else LOCK
    lock = DEV_LOCK if arguments[:1] == ["test"] else optional
    try:
        check_python(sys.version_info[:2])
        if not (is_running_in_venv() if is_installed(lock) else has_everything(lock)):
            install(lock)
            os.execv(str(PYTHON), [str(PYTHON), str(BASE / "manage.py"), *arguments])  # noqa: S606
    except (Trouble, OSError) as error:
        print(error if isinstance(error, Trouble) else f"{error}. {ADVICE}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The next run takes care of what is half done.", file=sys.stderr)
        return 130
    if arguments[:1] == ["test"]:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
        from tests.__main__ import main as test

        return test(arguments[1:])
    from leaderboard.__main__ import main as run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
