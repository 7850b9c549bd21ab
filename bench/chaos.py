"""Kill any part of a whole site at random while files are submitted: ``python -m bench.chaos``.

    python -m bench.chaos [--uploads 2000] [--kills 200] [--seconds 900] [--seed 7] [--servers]

Students submit files through the API at an even pace, each under an idempotency key that they send again until the
site has acknowledged it, as the web page does. Meanwhile `kill -9` meets `up` itself (which is started again, as a
service manager would), the web server and its process, the worker, its processes, the scorers below them, and the
broker (whose files are emptied first: it keeps nothing). With `--servers` the site uses PostgreSQL and Redis from the
system's packages, and these die as well: Redis as a whole, of PostgreSQL one process, which takes all its others along.
Afterwards each figure and each promise has a line; the exit status is 1 if one is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from tests.running_site import ROOT, Site, free_port, site_environment, until
from tests.servers import Postgres, Redis, postgres, redis_server

STUDENTS = 40
SENDERS = 8
SIZES = (1_000, 1_000, 1_000, 20_000)
P99_GOAL, FINAL_GOAL = 15.0, 45.0
LONGEST_ANSWER = 120.0
SET_UP = """
from leaderboard.accounts.models import ApiToken
from tests.conftest import enter, make_competition, person
ada = person("ada", can_host=True)
students = [person(f"student{{n}}") for n in range({students})]
for rows in {sizes}:
    truth = "id,label,Usage\\n" + "".join(
        f"row{{i}},{{'abc'[i % 3]}},{{'Public' if i % 4 else 'Private'}}\\n" for i in range(rows))
    competition = make_competition(ada, slug=f"rows-{{rows}}", truth=truth, daily_attempts=1000)
    for student in students:
        enter(competition, student)
for student in students:
    print(ApiToken.issue(student, "chaos")[1])
"""
LOOK = """
import json
from collections import Counter
from leaderboard.competitions.models import Score, Submission
rows = list(Submission.objects.values_list("pk", "status", "received_at", "finished_at", "tries"))
print(json.dumps({
    "status": {str(pk): status for pk, status, *_ in rows},
    "waits": [(end - begin).total_seconds() for _, _, begin, end, _ in rows if end],
    "tries": Counter(tries for *_, tries in rows),
    "scores": Counter(Counter(map(str, Score.objects.values_list("submission", flat=True))).values()),
}))
"""


@dataclass
class Part:
    """A process below `up`, under the name of what it does."""

    name: str
    pid: int


@dataclass
class Chaos:
    """A site whose parts die, who hands in what, and what came of it."""

    folder: Path
    environment: dict[str, str]
    port: int
    chance: random.Random
    servers: tuple[Postgres, Redis] | None = None
    process: subprocess.Popen[bytes] | None = None
    is_over: bool = False
    kills: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[int, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    retries: int = 0

    @property
    def site(self) -> Site:
        assert self.process is not None, "the site was started"
        return Site(f"http://127.0.0.1:{self.port}", self.folder, self.process, self.environment)  # type: ignore[arg-type]

    def start(self) -> None:
        """What a service manager does: `up`, and again whenever it ends."""
        command = [sys.executable, "manage.py", "up", "--no-browser", "--port", str(self.port), "--workers", "2"]
        with (self.folder.parent / "up.log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)

    def keep(self) -> None:
        """Start `up` again when it has died, until the end."""
        while not self.is_over:
            if self.process is not None and self.process.poll() is not None:
                self.start()
            time.sleep(0.2)

    def answers(self) -> bool:
        with suppress(OSError, HTTPException):
            return self.site.get("/healthz")[0] == 200
        return False

    def parts(self) -> list[Part]:
        """Everything alive below `up`, and `up`."""
        assert self.process is not None, "the site was started"
        return [Part("up", self.process.pid), *_parts_below(self.process.pid), *self._parts_of_servers()]

    def _parts_of_servers(self) -> Iterator[Part]:
        if self.servers is not None:
            database, broker = (server.process for server in self.servers)
            assert database is not None, "the servers were started"
            assert broker is not None, "the servers were started"
            yield from (Part("database", pid) for pid in _children().get(database.pid, []))
            yield Part("broker", broker.pid)

    def kill_one(self) -> None:
        """`kill -9` of a kind of part drawn by chance, then of one of its processes."""
        parts = self.parts()
        name = self.chance.choice(sorted({part.name for part in parts}))
        victim = self.chance.choice([part for part in parts if part.name == name])
        with suppress(ProcessLookupError):
            os.kill(victim.pid, signal.SIGKILL)
            self.kills[name] += 1
        if name == "broker" and self.servers is not None:
            self.servers[1].end(signal.SIGKILL)
            self.servers[1].start()

    def send(self, number: int, token: str, rows: int) -> None:
        """Hand one file in, again and again under the same key until it is acknowledged or refused."""
        data = submission(number, rows)
        deadline = time.monotonic() + LONGEST_ANSWER
        while time.monotonic() < deadline:
            try:
                status, answer = self.site.upload(f"rows-{rows}", token, data, key=f"chaos-{number}")
            except (OSError, HTTPException, ValueError):
                self.retries += 1
                time.sleep(0.5)
                continue
            if status in (200, 201):
                self.acknowledged[number] = str(answer["id"])
                return
            if status < 500 and status != 429:
                self.refused.append(f"{status} {answer}")
                return
            self.retries += 1
            time.sleep(0.5)
        self.refused.append(f"no answer within {LONGEST_ANSWER:g} s")


def submission(number: int, rows: int) -> bytes:
    """A different file for each number."""
    labels = "abcab"
    return ("id,label\n" + "".join(f"row{i},{labels[(i + i // (number + 1)) % 5]}\n" for i in range(rows))).encode()


def _children() -> dict[int, list[int]]:
    """Process → the processes that it started, of all that run."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                parent = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    return children


def _parts_below(top: int) -> Iterator[Part]:
    children = _children()
    for child in children.get(top, []):
        name = _name_of(child)
        if not name:
            continue
        yield Part(name, child)
        for grandchild in children.get(child, []):
            yield Part(f"process of {name}", grandchild)
            yield from (Part("scorer", pid) for pid in _all_below(grandchild, children))


def _all_below(top: int, children: dict[int, list[int]]) -> Iterator[int]:
    for child in children.get(top, []):
        yield child
        yield from _all_below(child, children)


def _name_of(pid: int) -> str:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        known = {"granian": "web", "valkey-server": "broker", "run_workers": "worker"}
        return next((name for word, name in known.items() if word in words), "")
    return ""


@contextmanager
def running(chaos: Chaos) -> Iterator[None]:
    """The site, started again whenever it dies; all its processes have ended after the block."""
    chaos.start()
    keeper = threading.Thread(target=chaos.keep)
    try:
        until(chaos.answers, seconds=120, every=0.2, what="the site's first answer")
        keeper.start()
        yield
    finally:
        chaos.is_over = True
        if keeper.is_alive():
            keeper.join()
        if chaos.process is not None and chaos.process.poll() is None:
            chaos.process.send_signal(signal.SIGINT)
            chaos.process.wait(timeout=30)


def disturb(chaos: Chaos, uploads: int, kills: int, seconds: float, tokens: list[str]) -> float:
    """Upload at an even pace and meanwhile kill at random moments; returns the time of the last kill."""
    begun = time.monotonic()
    plan = [(number, chaos.chance.choice(SIZES)) for number in range(uploads)]
    lock = threading.Lock()

    def submit() -> None:
        while True:
            with lock:
                if not plan:
                    return
                number, rows = plan.pop(0)
            time.sleep(max(0.0, begun + seconds * number / uploads - time.monotonic()))
            chaos.send(number, tokens[number % len(tokens)], rows)

    senders = [threading.Thread(target=submit) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    for moment in sorted(chaos.chance.uniform(0, seconds) for _ in range(kills)):
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        chaos.kill_one()
    last = time.monotonic()
    for sender in senders:
        sender.join()
    return last


def facts_of_site(chaos: Chaos) -> dict[str, object]:
    found: dict[str, object] = json.loads(chaos.site.shell(LOOK))
    return found


def wait_for_the_end(chaos: Chaos, last_kill: float) -> tuple[dict[str, object], float]:
    """Wait until no file is pending; returns the facts of `LOOK` and the seconds since the last kill."""
    deadline = last_kill + 4 * FINAL_GOAL
    while True:
        seen = time.monotonic()
        found = facts_of_site(chaos)
        status = found["status"]
        assert isinstance(status, dict)
        if "pending" not in status.values() or seen > deadline:
            return found, seen - last_kill
        time.sleep(0.5)


def say(what: str, found: str, *, holds: bool) -> bool:
    print(f"{'holds ' if holds else 'BROKEN'}  {what}: {found}", flush=True)
    return holds


def results(chaos: Chaos, uploads: int, found: dict[str, object], after: float) -> list[bool]:
    """One line for each figure; whether each was reached."""
    status, waits, scores = found["status"], found["waits"], found["scores"]
    assert isinstance(status, dict)
    assert isinstance(waits, list)
    assert isinstance(scores, dict)
    lost = [number for number, pk in chaos.acknowledged.items() if pk not in status]
    ends = Counter(status.values())
    ordered = sorted(waits) or [0.0]
    p99, middle = ordered[int(0.99 * len(ordered))], ordered[len(ordered) // 2]
    twice = {int(number): count for number, count in scores.items() if int(number) != 2}
    print(f"        kills: {dict(sorted(chaos.kills.items()))}; answers that did not come: {chaos.retries}")
    print(f"        tries: {found['tries']}")
    return [
        say("every upload was acknowledged", f"{len(chaos.acknowledged)} of {uploads}; refused {chaos.refused[:3]}",
            holds=len(chaos.acknowledged) == uploads),
        say("lost", f"{len(lost)} {lost[:5]}", holds=not lost),
        say("stored twice", str(len(status) - len(set(chaos.acknowledged.values()))),
            holds=len(status) == len(set(chaos.acknowledged.values())) == len(chaos.acknowledged)),
        say("scored twice or by half", str(twice or 0), holds=not twice),
        say("stuck", str(ends["pending"]), holds=not ends["pending"]),
        say("failed or invalid", str(ends["failed"] + ends["invalid"]), holds=ends["scored"] == len(status)),
        say(f"from receipt to score, p99 ≤ {P99_GOAL:g} s", f"{p99:.1f} s, median {middle:.2f} s",
            holds=p99 <= P99_GOAL),
        say(f"all final ≤ {FINAL_GOAL:g} s after the last kill", f"{after:.1f} s", holds=after <= FINAL_GOAL),
    ]  # fmt: skip


def checks(chaos: Chaos) -> bool:
    """The promises that a crash could break, as the site itself proves them."""
    command = [sys.executable, "manage.py", "check_consistency", "--seed", "7"]
    return subprocess.run(command, cwd=ROOT, env=chaos.environment, check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--servers", action="store_true", help="on PostgreSQL and Redis from the system's packages")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "var"
        folder.mkdir()
        servers, variables = None, {}
        if given.servers:
            servers = (stack.enter_context(postgres()), stack.enter_context(redis_server()))
            variables = {"DATABASE_URL": servers[0].new_database("chaos"), "REDIS_URL": servers[1].url}
        chaos = Chaos(folder, site_environment(folder, **variables), free_port(), random.Random(given.seed), servers)
        stack.enter_context(running(chaos))
        sizes = sorted(set(SIZES))
        tokens = chaos.site.shell(SET_UP.format(students=STUDENTS, sizes=sizes)).splitlines()
        last_kill = disturb(chaos, given.uploads, given.kills, given.seconds, tokens)
        until(chaos.answers, seconds=60, every=0.2, what="the site's answer after the last kill")
        found, after = wait_for_the_end(chaos, last_kill)
        print(f"seed {given.seed}: {given.uploads} uploads, {sum(chaos.kills.values())} kills, {given.seconds:g} s")
        hold = results(chaos, given.uploads, found, after)
        hold.append(checks(chaos))
    raise SystemExit(0 if all(hold) else 1)


if __name__ == "__main__":
    main()
