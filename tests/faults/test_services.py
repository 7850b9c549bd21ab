"""Olga runs the parts of a site one by one, as containers do: each in the foreground, on its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import databases
from tests.classes import big_file
from tests.conftest import answers
from tests.running_site import ROOT, Site, free_port, patience, site_environment, until
from tests.servers import redis_server

pytestmark = pytest.mark.slow

BIG_ROWS = 60_000
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts some parts; they share a folder and a broker, and write to a file in place of a terminal."""
    started: list[subprocess.Popen[str]] = []
    with redis_server() as broker:

        def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
            environment = site_environment(tmp_path / "var", **{"REDIS_URL": broker.url, **variables})
            with (tmp_path / f"{len(started)}.out").open("w") as output:
                command = [sys.executable, "manage.py", *arguments]
                started.append(
                    subprocess.Popen(
                        command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, text=True
                    )
                )
            return started[-1]

        yield start
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=30 * patience())


def printed(tmp_path: Path) -> str:
    return "".join(path.read_text() for path in sorted(tmp_path.glob("*.out")))


@pytest.mark.takes(25)
def test_each_part_runs_alone_and_a_worker_that_is_told_to_stop_ends_what_it_has_in_hand(
    start: Start, tmp_path: Path
) -> None:
    port = free_port()
    web = start("up", "--only", "web", "--port", str(port), "--no-migrate")
    site = Site(f"http://127.0.0.1:{port}", tmp_path / "var", web, site_environment(tmp_path / "var"))

    def ready() -> dict[str, bool]:
        try:
            found: dict[str, bool] = json.loads(site.get("/readyz")[1])
        except OSError:
            return {}
        return found

    until(lambda: ready().get("broker"), what="a web server that answers")
    assert ready() == {"ready": False, "database": True, "migrations": False, "broker": True, "storage": True}
    assert site.get("/healthz") == (200, "ok")
    databases.put_into(tmp_path / "var")
    assert start("migrate").wait(timeout=60 * patience()) == 0
    until(lambda: ready().get("ready"), what="a site that is ready")

    (token,) = site.make_class("bo", rows=BIG_ROWS)
    worker = start("up", "--only", "worker", "--no-migrate")
    _, first = site.upload("pets", token, answers())

    def state(sent: dict[str, object]) -> str:
        return str(json.loads(site.get(f"/api/v1/submissions/{sent['id']}", token)[1])["status"])

    until(lambda: state(first) == "scored", what="the score")
    _, second = site.upload("big", token, big_file(BIG_ROWS))
    until(lambda: site.submissions("tries = 1 AND status = 'pending'"), every=0.005, what="a worker at the file")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=30 * patience()) == 0
    assert state(second) == "scored"

    _, third = site.upload("pets", token, answers(public=1))
    other = start("up", "--only", "worker", "--no-migrate")
    until(lambda: state(third) == "scored", what="the score by the next worker")
    for process in (other, web):
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30 * patience()) == 0
    assert "Running: worker." in printed(tmp_path)
    assert "answered" in printed(tmp_path)
    assert list((tmp_path / "var" / "log").iterdir()) == []


@pytest.mark.takes(2)
@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"REDIS_URL": ""}, "Set REDIS_URL"),
        ({"DATABASE_URL": "postgres://db.example.org/leaderboard"}, "Set SECRET_KEY"),
    ],
)
def test_a_part_that_could_not_find_the_others_says_what_is_missing(
    start: Start, tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    assert start("up", "--only", "web", **variables).wait(timeout=30 * patience()) == 1
    assert words in printed(tmp_path)
    assert "Traceback" not in printed(tmp_path)
