"""Several machines: web, workers and servers each in a network of their own, with no folder in common."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from leaderboard.operations.supervisor import processes
from leaderboard.operations.supervisor.place import SiteFolders
from tests.classes import big_file
from tests.conftest import answers
from tests.machines.bucket import bucket
from tests.machines.network import HUB, Machine, NotHere, machines
from tests.running_site import ROOT, Site, until
from tests.servers import Postgres, Redis, postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

PORT = 8000
BIG_ROWS = 60_000


@dataclass
class Cluster:
    """A web host and two worker hosts; `folder` holds a folder for each, which the others never see."""

    web: Machine
    workers: list[Machine]
    folder: Path
    database: Postgres
    broker: Redis
    hub: Machine
    variables: dict[str, str]
    uploaded: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    parts: list[tuple[Machine, processes.ManagedProcess, Path]] = field(default_factory=list)

    def environment(self, host: str) -> dict[str, str]:
        foreign = ("REDIS_URL", "DATABASE_URL", "STORAGE_URL")
        own = {name: value for name, value in os.environ.items() if name not in foreign}
        return {**own, **self.variables, "VAR_DIR": str(self.folder / host)}

    def manage(self, *arguments: str, **variables: str) -> None:
        """A command of the operator on the web host."""
        command = [sys.executable, "manage.py", *arguments]
        environment = {**self.environment("web"), **variables}
        with self.web.inside():
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self, machine: Machine, host: str, child: processes.ManagedProcess) -> None:
        """A part of the site, as a service of that host would start it."""
        log = SiteFolders(self.folder / host).log_of(child.name)
        self.parts.append((machine, child, log))
        with machine.inside():
            child.start(log, {**processes.THRIFT, **self.environment(host)})

    def until_all_answer(self) -> None:
        for machine, child, log in self.parts:
            with machine.inside():
                until(lambda child=child, log=log: _is_ready(child, log), seconds=90, what=child.name)  # type: ignore[misc]

    def end(self) -> None:
        for _, part, _ in self.parts:
            part.end(signal.SIGKILL)
            if part.process is not None:
                part.process.wait(timeout=20)

    def start_worker(self, number: int) -> None:
        host = f"worker-{number}"
        place = SiteFolders(self.folder / host)
        place.make()
        self.start(self.workers[number], host, processes.worker_process(place, 1))

    @property
    def site(self) -> Site:
        process: Any = None
        return Site(f"http://{self.web.address}:{PORT}", self.folder / "web", process, self.environment("web"))

    def upload(self, slug: str = "pets", data: bytes = b"") -> str:
        with self.web.inside():
            token = self.tokens[len(self.uploaded) % 2]
            status, made = self.site.upload(slug, token, data or answers(public=len(self.uploaded) % 5))
            self.site.hang_up()
        assert status == 201, made
        self.uploaded.append(str(made["id"]))
        return self.uploaded[-1]

    def run(self, statement: str) -> list[Any]:
        with self.hub.inside():
            return self.database.run(statement, "site")

    def until_all_are_scored(self) -> None:
        waits = "SELECT 1 FROM competitions_submission WHERE status = 'pending'"
        until(lambda: not self.run(waits), seconds=60, every=0.1, what="the last score")
        rows = self.run("SELECT id::text, status FROM competitions_submission")
        assert dict(rows) == dict.fromkeys(self.uploaded, "scored")


def _is_ready(child: processes.ManagedProcess, log: Path) -> bool:
    assert child.process is not None
    assert child.process.poll() is None, log.read_text()
    child.check(time.monotonic())
    return child.is_ready


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        try:
            hub, web, *workers = stack.enter_context(machines("web", "one", "two"))
        except NotHere as reason:
            pytest.skip(str(reason))
        with hub.inside():
            database = stack.enter_context(postgres(host=HUB))
            broker = stack.enter_context(redis_server(host=HUB))
            files = stack.enter_context(bucket(tmp_path, host=HUB))
            address = database.new_database("site")
        variables = {
            "DATABASE_URL": address,
            "REDIS_URL": broker.url,
            "STORAGE_URL": files.url,
            "SECRET_KEY": "the same on all machines",
            "ALLOWED_HOSTS": f"localhost,{web.address}",
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        }
        made = Cluster(web, workers, tmp_path, database, broker, hub, variables)
        stack.callback(made.end)
        place = SiteFolders(tmp_path / "web")
        place.make()
        with web.inside():
            prepare = [sys.executable, "-m", "leaderboard.operations.supervisor.prepare"]
            subprocess.run(prepare, cwd=ROOT, env=made.environment("web"), check=True, stdout=subprocess.DEVNULL)
            made.tokens = made.site.make_class(rows=BIG_ROWS, daily_attempts=200)
        made.start(web, "web", processes.web_process(web.address, PORT))
        for number in range(2):
            made.start_worker(number)
        made.until_all_answer()
        yield made


def test_a_worker_host_dies_in_mid_work_and_every_file_is_scored(cluster: Cluster) -> None:
    for _ in range(6):
        cluster.upload()
    cluster.until_all_are_scored()
    assert len(cluster.run("SELECT 1 FROM competitions_worker")) >= 2, "both hosts are at work"

    one, two = cluster.workers
    two.signal(signal.SIGSTOP)
    held = cluster.upload("big", big_file(BIG_ROWS))
    is_claimed = f"SELECT 1 FROM competitions_submission WHERE id = '{held}' AND claim IS NOT NULL"
    until(lambda: cluster.run(is_claimed), every=0.005, what="a claim of the first host")
    one.signal(signal.SIGKILL)
    assert one.processes == []
    for _ in range(4):
        cluster.upload()
    # Nobody waits here for the thirty seconds of a lease.
    cluster.run("UPDATE competitions_submission SET lease_until = now() WHERE claim IS NOT NULL")
    two.signal(signal.SIGCONT)
    cluster.until_all_are_scored()
    assert cluster.run(f"SELECT tries FROM competitions_submission WHERE id = '{held}'") == [(2,)]

    cluster.manage("check_consistency")
    assert list(cluster.folder.glob("*/files")) == [], "nothing but copies lies on the hosts"

    # What lies in the bucket is part of a backup, and comes back into another one.
    cluster.manage("backup", str(cluster.folder / "backup"))
    with cluster.hub.inside():
        empty = cluster.database.new_database("again")
    again = {
        "VAR_DIR": str(cluster.folder / "again"),
        "DATABASE_URL": empty,
        "STORAGE_URL": cluster.variables["STORAGE_URL"].replace("/class?", "/again?"),
    }
    cluster.manage("restore", str(cluster.folder / "backup"), **again)
    cluster.manage("check_consistency", **again)
