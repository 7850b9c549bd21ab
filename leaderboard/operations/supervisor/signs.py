"""Signs of life of a process: replies over a socket, or a file that it touches. Looking for them never blocks.

Times are those of the supervisor's monotonic clock. If the supervisor itself did not run for a while, as on a suspended
laptop, counting starts again.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

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
