"""A supervisor with one small server as its child: which one is started again, and which is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.running_site import ROOT, free_port, patience, until

pytestmark = pytest.mark.slow

SUPERVISOR = """
import os, sys
from pathlib import Path
from leaderboard.operations.supervisor import processes
from leaderboard.operations.supervisor.processes import ManagedProcess
from leaderboard.operations.supervisor.place import SiteFolders
from leaderboard.operations.supervisor.supervisor import Stopped, Supervisor
processes.QUESTION_SECONDS = 1.0
folder, port, server = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
place = SiteFolders(folder)
place.make()
supervisor = Supervisor(place, dict(os.environ), lambda line: print(line, flush=True))
answers = processes.Replies(("127.0.0.1", port), b"GET /", b"HTTP/1.1 200", b"HTTP/1.1 503")
give_start, refusals = processes.spawn_process, iter(sys.argv[4])
def spawn_process(*command, **options):
    if next(refusals, "") == "-":
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return give_start(*command, **options)
processes.spawn_process = spawn_process
supervisor.add(ManagedProcess("web", [sys.executable, "-c", server, str(port), str(folder / "counts")], answers))
try:
    supervisor.wait_for_start()
    supervisor.keep_running()
except Stopped:
    pass
finally:
    supervisor.stop()
"""
SERVER = """
import select, socket, sys
listener, counts, kept = socket.create_server(("127.0.0.1", int(sys.argv[1]))), open(sys.argv[2], "a", 1), []
is_first = counts.tell() == 0
counts.write("start\\n")
number = 0
while True:
    client, _ = listener.accept()
    client.recv(64)
    number += 1
    counts.write("question\\n")
    {behaviour}
    client.sendall(b"HTTP/1.1 200 OK\\r\\n")
    client.close()
"""
SILENT = "if is_first and number > 1: kept.append(client); continue"
STUCK = "if is_first and number > 1: client.sendall(b'HTTP/1.1 503 Busy'); client.close(); continue"
BUSY = "select.select([], [], [], 0.7)"
ENDS = "if is_first and number > 1: break"
RECOVERING = "if number % 3: kept.append(client); continue"
Watch = Callable[..., Callable[[str], int]]


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    """Supervise a server that behaves so; gives how often it has done a thing. At each `-` among its starts the machine
    has no process to spare."""
    running: list[subprocess.Popen[bytes]] = []

    def start(behaviour: str, starts: str = "") -> Callable[[str], int]:
        server, counts = SERVER.replace("{behaviour}", behaviour), tmp_path / "counts"
        command = [sys.executable, "-c", SUPERVISOR, str(tmp_path), str(free_port()), server, starts]
        with (tmp_path / "said").open("wb") as said:
            running.append(subprocess.Popen(command, cwd=ROOT, env={**os.environ}, stdout=said, stderr=said))
        return lambda what: counts.read_text().count(what) if counts.exists() else 0

    yield start
    for process in running:
        process.terminate()
        process.wait(20 * patience())


@pytest.mark.fault(41)
@pytest.mark.parametrize("behaviour", [SILENT, STUCK], ids=["silent", "all threads of a pool stuck"])
def test_a_server_that_does_nothing_any_more_is_started_again_with_the_reason(
    behaviour: str, watch: Watch, tmp_path: Path
) -> None:
    done = watch(behaviour)
    until(lambda: done("start") == 2, seconds=20, what="the restart")
    line = "web stopped (no answer for 3 s); starting it again in 0.5 s."
    assert line in (tmp_path / "said").read_text()
    assert line in (tmp_path / "log" / "restarts.log").read_text()
    before = done("question")
    until(lambda: done("question") >= before + 5, seconds=30, what="questions to the new one")
    assert done("start") == 2


@pytest.mark.parametrize("behaviour", [BUSY, RECOVERING], ids=["slow", "silent now and then"])
def test_a_server_that_takes_its_time_is_left_alone(behaviour: str, watch: Watch) -> None:
    done = watch(behaviour)
    until(lambda: done("question") >= 9, seconds=60, what="questions")
    assert done("start") == 1


def test_a_start_for_which_the_machine_has_no_room_is_tried_again(watch: Watch, tmp_path: Path) -> None:
    done = watch(ENDS, "+--+")
    until(lambda: done("start") == 2, seconds=30, what="the restart")
    said = (tmp_path / "said").read_text()
    assert said.count("web cannot be started ([Errno 11] Resource temporarily unavailable)") == 2
