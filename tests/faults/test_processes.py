"""Faults of real processes, on one running site: whatever is killed, stopped or emptied, every file gets its score."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.classes import big_file
from tests.conftest import answers
from tests.processes import asleep, below, broker, children_of, pages_worker, scorer, worker
from tests.running_site import Site, patience, until

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROWS = 300_000
BIG = big_file(ROWS)


@pytest.fixture(scope="module")
def tokens(site: Site) -> list[str]:
    return site.make_class(rows=ROWS, daily_attempts=200)


@pytest.fixture(autouse=True)
def checks(site: Site, tokens: list[str]) -> Iterator[None]:
    """After each fault: nothing waits any more, and every promise holds."""
    yield
    site.check_promises()


def row(site: Site, submission: dict[str, object]) -> dict[str, Any]:
    (found,) = site.submissions(f"id = '{str(submission['id']).replace('-', '')}'")
    return found


def upload(site: Site, slug: str, token: str, data: bytes = b"") -> dict[str, object]:
    status, submission = site.upload(slug, token, data or answers())
    assert status == 201, submission
    return submission


def scored(site: Site, *submissions: dict[str, object], seconds: float = 30) -> list[dict[str, Any]]:
    until(lambda: all(row(site, one)["status"] == "scored" for one in submissions), seconds=seconds, what="the scores")
    return [row(site, one) for one in submissions]


def in_work(site: Site, submission: dict[str, object]) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found = row(site, submission)
        return found if found["claim"] else None

    return until(look, every=0.005, what="a claim")


def end_the_lease(site: Site) -> float:
    """Nobody waits here for half a minute; the seconds that were left."""
    left = "SELECT (julianday(lease_until) - julianday('now')) * 86400 FROM competitions_submission WHERE claim != ''"
    seconds: float = site.sql(left)[0][0]
    site.sql("UPDATE competitions_submission SET lease_until = datetime('now', '-1 second') WHERE claim != ''")
    return seconds


def attempts_used(site: Site) -> int:
    return int(site.sql("SELECT COALESCE(SUM(used), 0) FROM competitions_dailyattempts")[0][0])


def queue(site: Site) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(site.folder / "run" / "valkey.sock"), socket_timeout=5)


@pytest.mark.fault(1)
def test_01_a_killed_scorer_costs_one_try_and_its_worker_lives(site: Site, tokens: list[str]) -> None:
    process = scorer(site)
    victim = until(lambda: children_of(process, "scoring.sealed_process"), what="what reads the files")[0]
    submission = upload(site, "big", tokens[0], BIG)
    in_work(site, submission)
    os.kill(victim, signal.SIGKILL)
    (end,) = scored(site, submission)
    assert (end["tries"], end["deaths"]) in ((2, 1), (1, 0)), "killed before the file was in its hands it harmed nobody"
    assert scorer(site) == process


@pytest.mark.fault(2)
def test_02_a_killed_process_of_the_worker_is_noticed_within_two_seconds(site: Site, tokens: list[str]) -> None:
    victim = scorer(site)
    submission = upload(site, "big", tokens[0], BIG)
    in_work(site, submission)
    os.kill(victim, signal.SIGKILL)
    until(lambda: row(site, submission)["deaths"] == 1, seconds=4, what="the death; the goal is 2 s on a quiet machine")
    (end,) = scored(site, submission)
    assert (end["tries"], end["deaths"]) == (2, 1)


@pytest.mark.fault(3, 4)
def test_03_04_the_files_of_a_killed_worker_are_taken_over_when_its_lease_ends(site: Site, tokens: list[str]) -> None:
    """The kernel ends the scorers with their worker, so killing it kills the tree. The lease is cut short."""
    leader, child = worker(site), scorer(site)
    submission = upload(site, "big", tokens[0], BIG)
    in_work(site, submission)
    os.kill(leader, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{child}").exists(), seconds=5, what="the end of the scorer")
    assert end_the_lease(site) <= 31
    (end,) = scored(site, submission, seconds=40)
    assert end["tries"] == 2


def test_05_a_worker_that_slept_through_its_lease_writes_nothing(site: Site, tokens: list[str]) -> None:
    """Asleep with all below it, from before it reads until somebody else has scored its file."""
    sleeper = scorer(site)
    with ExitStack() as sleep:
        sleep.enter_context(asleep(*below(sleeper)))
        submission = upload(site, "pets", tokens[0])
        in_work(site, submission)
        sleep.enter_context(asleep(sleeper))
        end_the_lease(site)
        assert (
            site.shell(
                f"from leaderboard.submissions import score as scoring\nprint(scoring.score_one('{submission['id']}'))"
            )
            == "scored"
        )
        end = row(site, submission)
    scored(site, upload(site, "pets", tokens[1]))
    assert scorer(site) == sleeper, "it is awake and has measured the next file"
    assert row(site, submission) == end
    assert end["tries"] == 2


@pytest.mark.fault(6)
def test_06_a_killed_broker_that_keeps_nothing_loses_no_file(site: Site, tokens: list[str]) -> None:
    with asleep(worker(site), scorer(site)):
        files = [upload(site, "pets", tokens[n % 2]) for n in range(100)]
        os.kill(broker(site), signal.SIGKILL)
    site.until_all_is_scored(seconds=45)  # the goal is 30 s
    scored(site, *files)


def test_06_a_broker_that_dies_while_a_worker_takes_a_wake_up_does_not_make_it_deaf(
    site: Site, tokens: list[str]
) -> None:
    """The worker's process wakes up to its wake-up when the broker that would note the receipt is gone."""
    server = broker(site)
    with asleep(scorer(site)):
        upload(site, "pets", tokens[0])
        until(lambda: queue(site).hlen("unacked"), what="a bell in the worker's hands")
        os.kill(server, signal.SIGKILL)
    leader = worker(site)
    scored(site, upload(site, "pets", tokens[1]))
    assert worker(site) == leader, "it was not started again"


def test_10_a_worker_to_which_a_full_broker_says_no_asks_again(site: Site, tokens: list[str]) -> None:
    leader, server = worker(site), queue(site)
    log = site.folder / "log" / "worker.log"
    output = log.read_text().count("'maxmemory'")
    server.config_set("maxmemory", "1")
    try:
        server.client_kill_filter(_type="normal", skipme=True)
        until(lambda: log.read_text().count("'maxmemory'") > output, what="a worker that is not let in")
    finally:
        server.config_set("maxmemory", "0")
    scored(site, upload(site, "pets", tokens[0]))
    assert worker(site) == leader, "it was not started again"


@pytest.mark.fault(9, 33)
def test_09_33_an_emptied_broker_and_a_dead_sweeper_lose_no_file(site: Site, tokens: list[str]) -> None:
    """The worker's own sweep finds the files: the other one that sweeps sleeps until they are scored."""
    pages = pages_worker(site)
    with asleep(worker(site), scorer(site)):
        files = [upload(site, "pets", tokens[n % 2]) for n in range(5)]
        queue(site).flushall()
        os.kill(pages, signal.SIGKILL)
    scored(site, *files)


def test_what_pages_wait_for_does_not_wait_for_files(site: Site, tokens: list[str]) -> None:
    send = (
        "from leaderboard.celery import PAGES_QUEUE\nfrom leaderboard.boards.tasks import reveal_due\n"
        "reveal_due.apply_async(queue=PAGES_QUEUE)"
    )
    with asleep(worker(site), scorer(site)):
        site.shell(send)
        until(lambda: queue(site).llen("pages") == 0, what="the worker for pages")


@pytest.mark.fault(10)
def test_10_a_full_broker_takes_no_message_and_every_upload_is_kept(site: Site, tokens: list[str]) -> None:
    server = queue(site)
    server.config_set("maxmemory", "1")
    try:
        begun = time.monotonic()
        submission = upload(site, "pets", tokens[0])
        assert time.monotonic() - begun < 5 * patience(), "the goal is 2 s on a quiet machine"
    finally:
        server.config_set("maxmemory", "0")
    scored(site, submission)


@pytest.mark.fault(11, 12, 13)
@pytest.mark.parametrize(
    ("dies_at", "is_stored"),
    [("submitting.check_beginning", False), ("wake_ups.wake_workers", True), ("submitting.log.info", True)],
    ids=["11_between_file_and_row", "12_between_commit_and_bell", "13_between_commit_and_answer"],
)
def test_11_12_13_who_dies_in_the_middle_of_an_upload_loses_nothing_and_takes_one_attempt(
    site: Site, tokens: list[str], dies_at: str, is_stored: bool
) -> None:
    """The web server's verb in a process that kills itself there; the browser sends the form again."""
    key, before, used = f"died at {dies_at}"[:40], len(site.submissions()), attempts_used(site)
    with pytest.raises(AssertionError):
        site.shell(
            "import os\nfrom leaderboard.submissions import submitting\n"
            "from leaderboard.competitions import wake_ups\n"
            "from leaderboard.competitions.models import Competition\nfrom leaderboard.accounts.models import User\n"
            f"from tests.conftest import answers\n{dies_at} = lambda *_, **__: os.kill(os.getpid(), 9)\n"
            "submitting.submit_file(competition=Competition.objects.get(slug='pets'), file_name='mine.csv',"
            f" user=User.objects.get(username='bo'), chunks=[answers()], upload_key='{key}')"
        )
    assert len(site.submissions()) - before == attempts_used(site) - used == is_stored
    if is_stored:  # nobody sends anything again; a sweep finds it
        site.until_all_is_scored(seconds=20)
    status, submission = site.upload("pets", tokens[0], answers(), key=key)
    assert status in (200, 201), submission
    scored(site, submission)
    assert len(site.submissions()) - before == attempts_used(site) - used == 1


@pytest.mark.fault(40)
def test_40_parts_are_killed_by_chance_while_files_come(site: Site, tokens: list[str]) -> None:
    """A drop of what bench/chaos.py does with 2,000 files and 200 kills: every sender sends until it is answered."""
    chance = random.Random(40)
    before, taken = len(site.submissions()), set()

    def send(key: str) -> str | None:
        try:
            status, submission = site.upload("pets", tokens[0], answers(), key=key)
        except (OSError, HTTPException):
            return None
        return str(submission["id"]) if status in (200, 201) else None

    for number in range(8):
        if number in (2, 4, 6):
            parts = [pid for top in children_of(site.process.pid) for pid in (top, *below(top))]
            with suppress(ProcessLookupError):
                os.kill(chance.choice(parts), signal.SIGKILL)
        taken.add(until(partial(send, f"chaos-{number}"), every=0.2, what="an answer"))
    assert len(taken) == len(site.submissions()) - before == 8
    site.until_all_is_scored(seconds=45)
    assert {found["status"] for found in site.submissions()} == {"scored"}


@pytest.mark.fault(19)
def test_19_a_database_locked_for_eleven_seconds_is_waited_for(site: Site, tokens: list[str]) -> None:
    path = site.folder / "leaderboard.sqlite3"
    with closing(sqlite3.connect(path, timeout=20, isolation_level=None, check_same_thread=False)) as database:
        database.execute("BEGIN IMMEDIATE")
        unlock = threading.Timer(11, database.execute, ["ROLLBACK"])
        unlock.start()
        begun = time.monotonic()
        submission = upload(site, "pets", tokens[0])
        assert time.monotonic() - begun > 10, "nothing can be stored while the database is locked"
        unlock.join()
    scored(site, submission)
