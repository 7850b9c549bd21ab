"""A whole site on PostgreSQL and Redis: whatever of them goes away, every acknowledged file gets its score, once."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.classes import big_file
from tests.conftest import answers
from tests.processes import asleep, below, forked_for
from tests.running_site import Site, patience, running_site, until
from tests.servers import Postgres, Redis, postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

BIG_ROWS = 60_000
BOARD = """
from django.test import Client
print(Client(headers={"host": "localhost"}).get("/c/pets/leaderboard.csv").content.decode())
"""


@dataclass
class Parts:
    """The site and its servers; `uploaded` is every file that was acknowledged."""

    site: Site
    database: Postgres
    broker: Redis
    tokens: list[str]
    uploaded: list[str]

    def upload(self, slug: str = "pets", data: bytes = b"", within: float = 60) -> str:
        begun = time.monotonic()
        token = self.tokens[len(self.uploaded) % len(self.tokens)]
        status, made = self.site.upload(slug, token, data or answers(public=len(self.uploaded) % 5))
        assert status == 201, made
        assert time.monotonic() - begun < within * patience()
        self.uploaded.append(str(made["id"]))
        return self.uploaded[-1]

    def rows(self, condition: str = "true") -> list[tuple[Any, ...]]:
        statement = f"SELECT id::text, status, tries, claim IS NOT NULL FROM competitions_submission WHERE {condition}"
        return self.database.run(statement, "site")

    def row(self, submission: str) -> tuple[Any, ...]:
        (found,) = self.rows(f"id = '{submission}'")
        return found

    def until_all_are_scored(self, seconds: float = 40) -> None:
        until(lambda: not self.rows("status = 'pending'"), seconds=seconds, every=0.1, what="the last score")
        assert self.rows("status <> 'scored'") == []
        assert {row[0] for row in self.rows()} == set(self.uploaded)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    var = tmp_path_factory.mktemp("site") / "var"
    with (
        postgres() as database,
        redis_server() as broker,
        running_site(var, DATABASE_URL=database.new_database("site"), REDIS_URL=broker.url) as site,
    ):
        yield Parts(site, database, broker, site.make_class(rows=BIG_ROWS, daily_attempts=200, is_listed=True), [])


def test_a_file_is_scored_within_seconds(parts: Parts) -> None:
    parts.upload()
    parts.until_all_are_scored(seconds=20)


@pytest.mark.fault(6, 9)
def test_06_09_a_broker_that_is_emptied_and_killed_loses_no_file(parts: Parts) -> None:
    for _ in range(5):
        parts.upload()
    parts.broker.client.flushall()
    parts.broker.kill()
    parts.broker.start()
    parts.until_all_are_scored()


@pytest.mark.fault(7, 8, 10)
def test_07_08_10_a_broker_that_takes_nothing_holds_no_upload_up(parts: Parts) -> None:
    """Down, frozen or full: the file is taken and waits, and the sweep rings for it."""
    parts.broker.kill()
    try:
        waiting = parts.upload(within=2)
        status, body = parts.site.get(f"/api/v1/submissions/{waiting}", parts.tokens[(len(parts.uploaded) - 1) % 2])
        assert (status, json.loads(body)["status"]) == (200, "pending")
    finally:
        parts.broker.start()
    with parts.broker.frozen():
        parts.upload(within=4)
    parts.broker.client.config_set("maxmemory", "1")
    try:
        parts.upload(within=2)
    finally:
        parts.broker.client.config_set("maxmemory", "0")
    parts.until_all_are_scored()


@pytest.mark.fault(20)
def test_20_a_worker_that_finishes_while_the_database_is_down_keeps_its_result(parts: Parts) -> None:
    log = parts.site.folder / "log" / "worker.log"
    output = log.read_text().count("could not be written")
    # The scorer stands still from before the file comes until the database is gone: a fast one would be done by then.
    scorers = [pid for process in forked_for(parts.site, "worker") for pid in below(process)]
    assert scorers
    with asleep(*scorers):
        submission = parts.upload("big", big_file(BIG_ROWS))
        until(lambda: parts.row(submission)[3], every=0.005, what="a claim")
        parts.database.kill()
    try:
        until(lambda: log.read_text().count("could not be written") > output, what="a worker that wants to finish")
    finally:
        parts.database.start()
    parts.until_all_are_scored()
    assert parts.row(submission)[2] == 1, "it was measured once"


@pytest.mark.fault(39)
def test_39_everything_is_killed_at_once_and_started_again(parts: Parts) -> None:
    parts.upload("big", big_file(BIG_ROWS))
    parts.upload()
    os.kill(parts.site.process.pid, signal.SIGKILL)
    parts.database.kill()
    parts.broker.kill()
    parts.site.process.wait()
    parts.site.hang_up()
    parts.database.start()
    parts.broker.start()
    # A lease of thirty seconds is cut short, so that nobody waits for it here.
    parts.database.run("UPDATE competitions_submission SET lease_until = now() WHERE claim IS NOT NULL", "site")
    with running_site(parts.site.folder, DATABASE_URL=parts.database.url("site"), REDIS_URL=parts.broker.url):
        parts.until_all_are_scored()


def test_a_backup_comes_back_with_every_file_and_the_same_board(parts: Parts, tmp_path: Path) -> None:
    """What pg_dump wrote goes into an empty database next to an empty folder; after all faults every promise holds."""
    folder, var = tmp_path / "backup", tmp_path / "var"
    parts.site.manage("backup", str(folder))
    elsewhere = {**parts.site.environment, "VAR_DIR": str(var), "DATABASE_URL": parts.database.new_database("again")}
    again = Site("", var, parts.site.process, elsewhere)
    again.manage("restore", str(folder))
    again.manage("check_consistency", "--seed", "1")
    assert again.shell(BOARD) == parts.site.shell(BOARD)
