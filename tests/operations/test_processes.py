"""When `up` takes a process for dead: by what it shows, on the clock of `up`, without ever waiting for it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.common import child_processes
from leaderboard.operations.supervisor.processes import (
    MAX_MISSES,
    QUESTION_SECONDS,
    SILENT_SECONDS,
    Heartbeats,
    Replies,
)

QUESTION, READY, STUCK = b"how are you\n", b"well", b"stuck"
SESSION = os.getsid(0)


class Server:
    """One that answers when a test says so, and its signs of life."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.signs = Replies(self.listener.getsockname(), QUESTION, READY, STUCK)
        self.asked: list[socket.socket] = []
        self.now = 0.0

    def ask(self) -> None:
        """The next question reaches the server."""
        self.signs.look(self.now, 1)
        self.signs.look(self.now, 1)

    def answer(self, reply: bytes) -> bool:
        """Answer the oldest question; whether the server counts as ready."""
        client, _ = self.listener.accept()
        with client:
            assert client.recv(64) == QUESTION
            client.sendall(reply)
        return self.signs.look(self.now, 1)

    def hear(self, reply: bytes | None) -> str:
        """Ask, and answer or let the time pass; the silence that counts then."""
        self.ask()
        if reply is not None:
            self.answer(reply)
        self.now += QUESTION_SECONDS
        self.signs.look(self.now, 1)
        if reply is None:
            self.asked.append(self.listener.accept()[0])
        return self.signs.silence(self.now)


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    for connection in (one.listener, *one.asked):
        connection.close()
    one.signs.restart_counters()


def test_a_server_is_ready_when_it_says_so(server: Server) -> None:
    server.ask()
    assert not server.answer(b"not yet")
    server.ask()
    assert server.answer(READY)


def test_a_server_that_says_nothing_is_silent_after_three_questions_and_one_answer_makes_up_for_all(
    server: Server,
) -> None:
    server.hear(READY)
    for _ in range(3):
        silences = [server.hear(None) for _ in range(MAX_MISSES - 1)]
        assert silences == [""] * (MAX_MISSES - 1)
        server.hear(READY)
        assert server.signs.misses == 0
    assert [bool(server.hear(None)) for _ in range(MAX_MISSES)] == [False] * (MAX_MISSES - 1) + [True]


def test_an_answer_that_takes_its_time_is_an_answer(server: Server) -> None:
    server.hear(READY)
    for _ in range(2 * MAX_MISSES):
        server.ask()
        server.now += QUESTION_SECONDS * 0.99
        assert server.answer(READY)
        assert server.signs.misses == 0
        server.now += QUESTION_SECONDS


def test_a_server_that_says_twice_that_it_is_stuck_is_ended_and_one_that_recovers_is_not(server: Server) -> None:
    server.hear(READY)
    assert server.hear(STUCK) == ""
    server.hear(READY)
    assert server.hear(STUCK) == ""
    assert server.hear(STUCK)


def test_a_server_that_is_gone_is_silent_and_a_new_one_begins_anew(server: Server) -> None:
    server.hear(READY)
    server.listener.close()
    for _ in range(MAX_MISSES):
        server.ask()
        server.now += QUESTION_SECONDS
        server.signs.look(server.now, 1)
    assert server.signs.silence(server.now)
    assert not server.signs.look(server.now, 2)
    assert server.signs.silence(server.now) == ""


def test_while_up_itself_slept_nobody_was_silent(server: Server) -> None:
    server.hear(READY)
    for _ in range(MAX_MISSES - 1):
        server.hear(None)
    server.signs.restart_counters()
    server.now += 3600
    assert server.hear(None) == ""
    assert server.signs.look(server.now, 1), "it was at work before"


def touch(path: Path, at: int) -> None:
    path.touch()
    os.utime(path, ns=(at, at))


GAPS = st.integers(1, 160).map(lambda quarters: quarters / 4)  # numbers whose sums are exact


@given(gaps=st.lists(GAPS, min_size=1, max_size=8), ahead=st.integers(-9, 9))
def test_a_process_is_silent_exactly_when_its_file_was_not_touched_for_15_s_of_our_clock(
    gaps: list[float], ahead: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the clock of the file says: it may be set back or ahead meanwhile."""
    folder = tmp_path_factory.mktemp("heartbeats")
    heartbeats, file, now = Heartbeats(folder, "worker"), folder / f"worker-{os.getpid()}", 0.0
    for number, gap in enumerate(gaps, 1):
        touch(file, 10**18 + number * ahead * 10**9 + number)
        heartbeats.look(now, SESSION)
        now += gap
        heartbeats.look(now, SESSION)
        assert bool(heartbeats.silence(now)) == (gap >= SILENT_SECONDS)


def test_each_process_of_a_group_is_looked_at_and_those_that_ended_are_not(tmp_path: Path) -> None:
    heartbeats = Heartbeats(tmp_path, "worker")
    gone = tmp_path / f"worker-{2**22 + 1}"
    for file in (gone, tmp_path / f"worker-{os.getpid()}", tmp_path / f"pages-{os.getpid()}"):
        touch(file, 1)
    assert not heartbeats.look(0, SESSION) or os.getpid() == SESSION
    assert not gone.exists()
    assert len(heartbeats.seen) == 2
    heartbeats.look(SILENT_SECONDS, SESSION)
    assert heartbeats.silence(SILENT_SECONDS)
    heartbeats.restart_counters()
    heartbeats.look(SILENT_SECONDS, SESSION)
    assert heartbeats.silence(SILENT_SECONDS) == "", "up itself had slept"


def test_a_process_shows_its_heartbeat_and_can_ask_for_its_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(child_processes.HEARTBEAT_FOLDER, str(tmp_path))
    monkeypatch.setenv(child_processes.PART_VARIABLE, "worker")
    heartbeats = Heartbeats(tmp_path, "worker")
    child_processes.start_heartbeat()
    heartbeats.look(0, SESSION)
    assert list(heartbeats.seen) == [tmp_path / f"worker-{os.getpid()}"]
    assert heartbeats.silence(0) == ""
    child_processes.ask_for_restart("deaf")
    heartbeats.look(0, SESSION)
    assert heartbeats.silence(0) == "deaf"
