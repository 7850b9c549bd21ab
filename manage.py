#!/usr/bin/env python3
# ruff: noqa: I002
"""Starts everything. On a fresh machine it first makes `.venv` and installs what the lock file names.

    python3 manage.py up       the whole site (up --help lists the options)
    python3 manage.py test     the test suite; what follows goes to pytest (-m long: the long ones; --postgres)
    python3 manage.py COMMAND  any command of Django

Only the standard library and the syntax of Python 3.6, so that an old Python can say that it is old.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

BASE = Path(__file__).resolve().parent
OLDEST = (3, 11)
LOCK, DEV_LOCK = "requirements.txt", "requirements-dev.txt"  # the second names everything that the first does

SIGNS_OF_NO_NETWORK = (
    "name resolution|name or service not known|nodename nor servname|dns error|network is unreachable"
    "|no route to host|connection refused|failed to establish|timed out|error sending request"
    "|could not connect|failed to fetch|from versions: none"
)
SIGNS_OF_FULL_DISK = r"no space left|os error 28\b|errno 28\b|disk quota exceeded"


class Trouble(Exception):
    """What is wrong, where, and what to do, in words for the person at the terminal."""


def check_python(version: "Sequence[int | str]", system: str = os.name) -> None:
    """Refuse what cannot work, and name a newer Python when one is installed beside this one."""
    if system == "nt":
        raise Trouble("Leaderboard runs on Linux and macOS. On Windows, run the same command inside WSL.")
    if tuple(version[:2]) >= OLDEST:
        return
    names = [f"python3.{minor}" for minor in range(19, OLDEST[1] - 1, -1)]
    newer = next((name for name in names if shutil.which(name)), None)
    advice = f"Run it with {newer}, which is installed here." if newer else "Install a newer Python first."
    raise Trouble(
        f"This is Python {version[0]}.{version[1]} ({sys.executable}); "
        f"Leaderboard needs Python {OLDEST[0]}.{OLDEST[1]} or newer. {advice}"
    )


class Venv:
    """The folder `.venv` beside this file, and what has been installed into it.

    `installed` holds the hashes of the lock files that were installed to the end, `unfinished` exists while
    an installation runs: a folder in which it survived (Ctrl-C, power cut, full disk) is made anew.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self.folder = base / ".venv"
        self.python = self.folder / "bin" / "python"
        self.installed = self.folder / "installed"
        self.unfinished = self.folder / "unfinished"

    def is_running(self) -> bool:
        return os.path.realpath(sys.prefix) == os.path.realpath(str(self.folder))

    def is_ready_for(self, lock: str) -> bool:
        """Whether the lock as it is now was installed, at the cost of reading two files."""
        if self.unfinished.exists() or not self.python.exists() or not self.installed.exists():
            return False
        stamp = self.installed.read_text().splitlines()
        return self._line(lock) in stamp and not (self.is_running() and self._python_line() not in stamp)

    def accept(self, lock: str) -> None:
        """Remember that everything in the lock is installed."""
        locks = (LOCK, DEV_LOCK) if lock == DEV_LOCK else (LOCK,)
        partial = self.folder / "installed.partial"
        partial.write_text("\n".join([self._python_line()] + [self._line(name) for name in locks]) + "\n")
        os.replace(str(partial), str(self.installed))

    def install(self, lock: str) -> None:
        """Install what the lock names. One process at a time; the others wait and find it done."""
        with self._alone():
            if self.is_ready_for(lock):
                return
            began = time.monotonic()
            say(f"Installing into {self.folder} (this takes about a minute, once) …")
            uv = shutil.which("uv")
            if not self._can_be_kept(uv):
                shutil.rmtree(str(self.folder))
            self.folder.mkdir(exist_ok=True)
            self.unfinished.touch()
            if not self.python.exists():
                self._create(uv)
            to_lock = ["--no-deps", "--require-hashes", "--quiet", "-r", str(self.base / lock)]
            if uv:
                run_installer([uv, "pip", "install", "--python", str(self.python), *to_lock])
            else:
                quiet = ["--no-compile", "--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
                run_installer([str(self.python), "-m", "pip", "install", *quiet, *to_lock])
            # Unlike pip: on all processors, without the packages' own tests. What cannot be compiled does not matter.
            quiet = ["-qq", "-j", "0", "-x", "/tests?/"]
            subprocess.call([str(self.python), "-m", "compileall", *quiet, str(self.folder / "lib")])
            self.accept(lock)
            self.unfinished.unlink()
            say(f"Installed in {time.monotonic() - began:.0f} s.")

    def _can_be_kept(self, uv: "str | None") -> bool:
        if not self.folder.exists():
            return True
        if self.unfinished.exists() or not self.python.exists():
            return False
        packages = self.folder / "lib" / "python{}.{}".format(*sys.version_info[:2]) / "site-packages"
        return packages.exists() and bool(uv or (packages / "pip").exists())

    def _create(self, uv: "str | None") -> None:
        base_python = getattr(sys, "_base_executable", None) or sys.executable
        if uv:
            quiet = ["--quiet", "--allow-existing"]
            run_installer([uv, "venv", *quiet, "--python", base_python, str(self.folder)])
        else:
            check_venv_module()
            run_installer([base_python, "-m", "venv", str(self.folder)])

    def _line(self, lock: str) -> str:
        return f"{lock} {hashlib.sha256((self.base / lock).read_bytes()).hexdigest()}"

    def _python_line(self) -> str:
        return "python {}.{}".format(*sys.version_info[:2])

    @contextlib.contextmanager
    def _alone(self) -> "Iterator[None]":
        import fcntl

        descriptor = os.open(str(self.base), os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("Another manage.py is installing; waiting for it …")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def check_venv_module() -> None:
    """Debian ships Python without the part that makes virtual environments."""
    import importlib.util

    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    raise Trouble(
        "{} cannot make a virtual environment: its `venv` part is not installed. On Debian or Ubuntu: "
        "sudo apt install python{}.{}-venv. Then run the same command again.".format(
            sys.executable, *sys.version_info[:2]
        )
    )


def run_installer(command: "list[str]") -> None:
    """Run pip, uv or venv quietly; when it fails, say why in words."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise Trouble(explain_installer(done.stdout.decode("utf-8", "replace"), " ".join(command)))


def explain_installer(output: str, command: str) -> str:
    """The likely cause of a failed installation."""
    if re.search(SIGNS_OF_FULL_DISK, output, re.IGNORECASE):
        return explain_os(OSError(errno.ENOSPC, ""))
    if re.search(SIGNS_OF_NO_NETWORK, output, re.IGNORECASE):
        return (
            "The packages could not be downloaded: no package index answered. The first start needs "
            "the internet (or a proxy in HTTPS_PROXY, or a mirror in PIP_INDEX_URL); later starts do not. "
            "Connect and run the same command again."
        )
    if re.search("do not match the hashes|hash mismatch", output, re.IGNORECASE):
        return (
            "A downloaded package is not the one that the lock file names (its hash differs), so it was not "
            "used. Run the same command again; if it happens again, a mirror or proxy changes files."
        )
    tail = "\n".join("    " + line for line in output.strip().splitlines()[-12:])
    return f"Installing failed. The installer's last words:\n{tail}\n    (of {command})"


def explain_os(error: OSError, folder: Path = BASE) -> str:
    """A full disk or a folder that cannot be written, in words."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(str(folder)).free // 2**20
        return (
            f"The disk is full: {free} MB are left where {folder} lies, and about 1 GB is needed. "
            "Make room and run the same command again; nothing half-made will be used."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            f"{error.filename or folder} cannot be written by this user, but `.venv` and `var` are made there. "
            "Give yourself the right to write there, or copy the folder to a place of your own."
        )
    return f"The system refused: {error}."


def has_everything(lock: Path) -> bool:
    """Whether the running Python has what the lock names, in these versions (conditional lines apart)."""
    from importlib import metadata

    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+) \\$", lock.read_text(), re.MULTILINE):
        try:
            if metadata.version(name) != version:
                return False
        except metadata.PackageNotFoundError:
            return False
    return True


def set_up(venv: Venv, lock: str, arguments: "list[str]") -> None:
    """Return when this Python can run the site; otherwise install if need be and start again in `.venv`."""
    if not venv.is_ready_for(lock):
        if not venv.unfinished.exists() and has_everything(venv.base / lock):
            if venv.is_running():
                venv.accept(lock)
            return
        venv.install(lock)
    elif venv.is_running():
        return
    sys.stdout.flush()
    os.execv(str(venv.python), [str(venv.python), str(venv.base / "manage.py"), *arguments])  # noqa: S606


def run(arguments: "list[str]") -> int:
    """Do what was asked for; everything is installed by now."""
    sys.path.insert(0, str(BASE))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    if arguments[:1] == ["test"]:
        return run_tests(arguments[1:])
    if arguments[:1] == ["up"]:
        from leaderboard.management.supervisor import main as up

        return up(arguments[1:])
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *arguments])
    return 0


def run_tests(arguments: "list[str]") -> int:
    """The suite; with `--postgres` on a PostgreSQL server that is started for it."""
    # Files run side by side; tests of one file share what they started.
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile"]
    # Hundreds of processes are started: what the first one compiled must be there for the others.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if "--postgres" not in arguments:
        return subprocess.call([*command, *arguments], cwd=str(BASE), env=environment)
    from tests.servers import postgres

    rest = [argument for argument in arguments if argument != "--postgres"]
    with postgres() as server:
        return subprocess.call([*command, *rest], cwd=str(BASE), env={**environment, "DATABASE_URL": server.url()})


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: "list[str]") -> int:
    try:
        check_python(sys.version_info)
        set_up(Venv(BASE), DEV_LOCK if arguments[:1] == ["test"] else LOCK, arguments)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except OSError as error:
        print(explain_os(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The next run takes care of what is half done.", file=sys.stderr)
        return 130
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
