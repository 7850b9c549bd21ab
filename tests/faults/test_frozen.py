"""Processes that live and do nothing: `up` notices, ends them and starts them again; no file is lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from leaderboard.competitions.duties import SCHEDULES
from tests.conftest import answers
from tests.faults import test_processes
from tests.faults.test_processes import scored, upload
from tests.processes import asleep, below, broker, children_of, pages_worker, scorer, worker
from tests.running_site import Site, patience, until

pytestmark = [pytest.mark.slow, pytest.mark.long]
tokens, checks = test_processes.tokens, test_processes.checks
RESTART_SECONDS = 30.0
OFTEN = [schedule.task for schedule in SCHEDULES if schedule.every.total_seconds() == 5]


def restarts(site: Site) -> str:
    path = site.folder / "log" / "restarts.log"
    return path.read_text() if path.exists() else ""


def begun_tasks(site: Site) -> dict[str, str]:
    """When each of the tasks that are due every five seconds was last begun."""
    return {task: at for task, at in site.sql("SELECT * FROM competitions_duty") if task in OFTEN}


@pytest.mark.fault(42, 43, 44)
@pytest.mark.parametrize(
    ("part", "find"),
    [
        ("valkey", broker),
        pytest.param("worker", worker, id="worker"),
        pytest.param("worker", scorer, id="process of the worker"),
        pytest.param("worker", pages_worker, id="worker for pages"),
    ],
)
def test_a_frozen_part_is_started_again_and_every_file_gets_its_score(
    part: str, find: object, site: Site, tokens: list[str]
) -> None:
    assert callable(find)
    frozen, before = find(site), restarts(site)
    begun = time.monotonic()
    os.kill(frozen, signal.SIGSTOP)
    submissions = [upload(site, "pets", token) for token in tokens]
    assert time.monotonic() - begun <= 3 * len(tokens) * patience(), "an upload waits for none of these"
    tasks = begun_tasks(site)
    assert len(tasks) == len(OFTEN)
    until(lambda: not set(tasks.items()) & set(begun_tasks(site).items()), seconds=12, what="sweep and reveal")
    until(lambda: len(restarts(site)) > len(before), seconds=RESTART_SECONDS, what="the restart")
    assert time.monotonic() - begun <= RESTART_SECONDS * patience()
    until(lambda: not Path(f"/proc/{frozen}").exists(), seconds=5, what="its end")
    (line,) = restarts(site).removeprefix(before).splitlines()
    assert f"{part} stopped (no " in line
    assert " for 15 s); starting it again in" in line
    scored(site, *submissions, seconds=60)


def answers_well(site: Site) -> bool:
    try:
        return site.get("/healthz")[0] == 200
    except OSError:
        site.hang_up()
        return False


def test_who_wakes_from_a_long_sleep_ends_nobody(site: Site, tokens: list[str]) -> None:
    """The notebook is closed for 20 s: all sleep, `up` last and the others after it wakes."""
    parts = [pid for top in children_of(site.process.pid) for pid in (top, *below(top))]
    before, rounds = restarts(site), threading.Event()
    with asleep(*parts, site.process.pid):
        rounds.wait(20)
    until(lambda: answers_well(site), what="the web server")
    scored(site, upload(site, "pets", tokens[0]))
    assert restarts(site) == before
    assert {pid for pid in parts if Path(f"/proc/{pid}").exists()} >= set(children_of(site.process.pid))


def test_a_busy_site_is_not_taken_for_a_silent_one(site: Site, tokens: list[str]) -> None:
    """Uploads and pages without a break for as long as silence would take."""
    before, end = restarts(site), time.monotonic() + 25
    failures: list[object] = []

    def ask() -> None:
        while time.monotonic() < end:
            status, _ = site.get("/c/pets/leaderboard/")
            if status >= 500:
                failures.append(status)
        site.hang_up()

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    scored(site, *(upload(site, "pets", tokens[number % 2], answers()) for number in range(20)), seconds=90)
    for thread in threads:
        thread.join()
    assert restarts(site) == before
    assert failures == []
