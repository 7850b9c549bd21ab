"""Kill web server, workers and platform at random while marks are sent: `python -m bench.marks`.

    python -m bench.marks [--students 500] [--kills 50] [--seed 7]

A release and a correction of it want a mark of each student. Prints what the platform has at the end; exit status 1 if
a mark is lost, an older one is over a newer one, or one came twice without a kill that could have lost its answer.
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
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from tests import processes
from tests.lti.platforms import FakePlatform, serving
from tests.running_site import Site, free_port, running_site, until

SET_UP = """
from django.utils import timezone
from leaderboard.accounts.models import User
from leaderboard.lti.models import Deployment, LtiLink, LtiPerson, Platform, Seat
from tests.conftest import make_competition, person
pets = make_competition(person("ada", can_host=True))
address = {address!r}
platform = Platform.objects.create(issuer=address, client_id="bench", auth_url=address + "/auth",
    token_url=address + "/token", keys_url=address + "/keys", name="Bench", approved_at=timezone.now(),
    keys_fetched_at=timezone.now())
deployment = Deployment.objects.create(platform=platform, name="1", approved_at=timezone.now())
link = LtiLink.objects.create(deployment=deployment, context="c", resource="r", competition=pets,
    lineitems_url=address + "/lineitems")
users = User.objects.bulk_create(User(username=f"s{{n}}", password="!") for n in range({students}))
LtiPerson.objects.bulk_create(LtiPerson(platform=platform, subject=u.username, user=u) for u in users)
Seat.objects.bulk_create(Seat(link=link, competition=pets, user=u, subject=u.username) for u in users)
"""
RELEASE = """
from django.db import transaction
from leaderboard.competitions.models import Competition
from leaderboard.lti.marks import want_marks
from leaderboard.lti.models import LtiPerson
with transaction.atomic():
    marks = {{one.user_id: ({points} + int(one.subject[1:]), "") for one in LtiPerson.objects.all()}}
    want_marks(competition=Competition.objects.get(), marks=marks, out_of=1000.0)
"""
WAITING = "SELECT count(*) FROM lti_platformmark WHERE state != 'sent'"


@dataclass
class Platform:
    """A platform in a process of its own, which keeps what it took in a file and so survives being killed."""

    port: int
    file: Path
    process: subprocess.Popen[bytes] | None = None
    kills: Counter[str] = field(default_factory=Counter)

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.marks", "--serve", str(self.port), str(self.file)]
        )

    def kill(self) -> None:
        assert self.process is not None, "the platform was started"
        self.process.kill()
        self.process.wait()
        self.start()

    def marks(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for line in self.file.read_text().splitlines():
            entry = json.loads(line)
            if "userId" in entry:
                found.setdefault(entry["userId"], []).append(entry["scoreGiven"])
        return found


class KeptPlatform(FakePlatform):
    """The fake platform of the tests; each column and mark is on the disk before it is acknowledged."""

    file: Path

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        known = len(self.scores), len(self.lineitems)
        answer = super().answer(method, path, query, body)
        with self.file.open("a") as file:
            for _column, mark in self.scores[known[0] :]:
                file.write(json.dumps(mark) + "\n")
            for made in list(self.lineitems.values())[known[1] :]:
                file.write(json.dumps({"column": made}) + "\n")
        return answer

    def restore(self) -> None:
        for line in self.file.read_text().splitlines() if self.file.exists() else ():
            entry = json.loads(line)
            if "column" in entry:
                self.lineitems[entry["column"]["id"]] = entry["column"]
            else:
                self.scores.append((next(iter(self.lineitems)), entry))


def serve(port: int, file: Path) -> None:
    platform = KeptPlatform(quirks="moodle")
    platform.file = file
    with serving(platform, port=port):
        platform.restore()
        signal.pause()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--serve", nargs=2)
    asked = parser.parse_args()
    if asked.serve:
        serve(int(asked.serve[0]), Path(asked.serve[1]))
        return 0
    with tempfile.TemporaryDirectory() as name:
        return _measure(asked, Path(name))


def _measure(asked: argparse.Namespace, folder: Path) -> int:
    chance, platform = random.Random(asked.seed), Platform(free_port(), folder / "platform.jsonl")
    platform.file.touch()
    platform.start()
    try:
        with running_site(folder / "var", LTI_PLATFORM_HOSTS="127.0.0.1") as site:
            site.shell(SET_UP.format(address=f"http://127.0.0.1:{platform.port}", students=asked.students))
            begun = time.monotonic()
            for points in (1, 2):
                site.shell(RELEASE.format(points=points))
                for _ in range(asked.kills // 2):
                    time.sleep(chance.uniform(0.05, 0.6))
                    _kill_one(site, platform, chance)
            until(lambda: site.sql(WAITING)[0][0] == 0, seconds=600, what="all marks")
            return _report(asked, platform, time.monotonic() - begun)
    finally:
        assert platform.process is not None, "the platform was started"
        platform.process.kill()


def _kill_one(site: Site, platform: Platform, chance: random.Random) -> None:
    part = chance.choice(("web", "worker", "pages", "platform"))
    platform.kills[part] += 1
    if part == "platform":
        platform.kill()
        return
    find = {"web": processes.web_server, "worker": processes.worker, "pages": processes.pages_worker}[part]
    with suppress(ProcessLookupError, StopIteration, ValueError, IndexError, AssertionError):
        os.kill(find(site), signal.SIGKILL)


def _report(asked: argparse.Namespace, platform: Platform, seconds: float) -> int:
    marks = platform.marks()
    wanted = {f"s{n}": 2.0 + n for n in range(asked.students)}
    lost = sum(marks.get(name, [None])[-1] != points for name, points in wanted.items())
    older = sum(sent != sorted(sent) for sent in marks.values())
    doubled = sum(len(sent) - len(set(sent)) for sent in marks.values())
    lossy = sum(platform.kills.values()) - platform.kills["web"]
    figures = {"students": asked.students, "kills": dict(platform.kills), "lost": lost, "older over newer": older}
    print(json.dumps({**figures, "doubled": doubled, "at most": lossy, "seconds": round(seconds, 1)}))
    return 1 if lost or older or doubled > lossy else 0


if __name__ == "__main__":
    sys.exit(main())
