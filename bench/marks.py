"""Kill web server, workers and platform at random while grades are released: `python -m bench.marks`.

    python -m bench.marks [--students 500] [--kills 50] [--seed 7]

A host releases the grades of a class on the page, and again after a correction, and looks after each broken answer
whether it came about. Prints what site and platform have at the end; exit status 1 if a grade, notice or mark is lost
or doubled, an older mark is over a newer one, or a mark came twice without a kill that could have lost its answer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django
import requests

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from tests import processes
from tests.lti.platforms import FakePlatform, serving
from tests.running_site import Site, free_port, running_site, until

SET_UP = """
from django.test import Client
from django.utils import timezone
from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Membership, Team
from leaderboard.grades.services import set_grade_rules
from leaderboard.lti.models import Deployment, LtiLink, LtiPerson, Platform, Seat
from tests.conftest import close, make_competition, person
ada = person("ada", can_host=True)
pets = make_competition(ada)
close(pets)
Competition.objects.update(revealed_at=timezone.now())
set_grade_rules(graded=pets, user=ada, values={{"out_of": 5000, "no_file": "rest", "decimals": 0,
    "terms": [{{"name": "Report", "of": "by_hand"}}]}})
address = {address!r}
platform = Platform.objects.create(issuer=address, client_id="bench", auth_url=address + "/auth",
    token_url=address + "/token", keys_url=address + "/keys", name="Bench", approved_at=timezone.now(),
    keys_fetched_at=timezone.now())
deployment = Deployment.objects.create(platform=platform, name="1", approved_at=timezone.now())
link = LtiLink.objects.create(deployment=deployment, context="c", resource="r", competition=pets,
    lineitems_url=address + "/lineitems")
users = User.objects.bulk_create(User(username=f"s{{n}}", password="!") for n in range({students}))
teams = Team.objects.bulk_create(Team(competition=pets, name=u.username, invitation=u.username) for u in users)
Membership.objects.bulk_create(Membership(competition=pets, user=u, team=t) for u, t in zip(users, teams))
LtiPerson.objects.bulk_create(LtiPerson(platform=platform, subject=u.username, user=u) for u in users)
Seat.objects.bulk_create(Seat(link=link, competition=pets, user=u, subject=u.username) for u in users)
client = Client()
client.force_login(ada)
print(client.cookies["sessionid"].value)
"""
POINTS = """
from fractions import Fraction
from leaderboard.competitions.models import Competition, Membership
from leaderboard.grades.by_hand import set_hand_points
points = {{(one.user_id, "Report"): Fraction({points} + int(one.user.username[1:])) for one in
    Membership.objects.select_related("user")}}
set_hand_points(graded=Competition.objects.get(), points=points, user=None)
"""
RELEASES = "SELECT count(*) FROM grades_graderelease"
GRADES = "SELECT points FROM grades_grade"
NOTICES = "SELECT count(*) FROM notifications_notice WHERE kind = 'grade'"
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
            set_up = SET_UP.format(address=f"http://127.0.0.1:{platform.port}", students=asked.students)
            session = site.shell(set_up).splitlines()[-1]
            begun, broken = time.monotonic(), 0
            for number in (1, 2):
                site.shell(POINTS.format(points=number))
                with ThreadPoolExecutor() as host:
                    release = host.submit(_release, site, session, number)
                    for _ in range(asked.kills // 2):
                        time.sleep(chance.uniform(0.05, 0.6))
                        _kill_one(site, platform, chance)
                    broken += release.result()
            until(lambda: site.sql(WAITING)[0][0] == 0, seconds=600, what="all marks")
            return _report(asked, site, platform, broken, time.monotonic() - begun)
    finally:
        assert platform.process is not None, "the platform was started"
        platform.process.kill()


def _release(site: Site, session: str, number: int) -> int:
    """Release on the page until the site has so many releases; returns how many answers were broken."""
    address, broken = f"{site.address}/host/pets/grades/release/", 0
    while site.sql(RELEASES)[0][0] < number:
        try:
            with requests.Session() as browser:
                browser.cookies["sessionid"] = session
                token = re.findall('name="csrfmiddlewaretoken" value="(.+?)"', browser.get(address, timeout=60).text)[0]
                browser.post(address, {"action": "release", "csrfmiddlewaretoken": token}, timeout=60)
        except (requests.RequestException, IndexError):
            broken += 1
            time.sleep(0.1)
    return broken


def _kill_one(site: Site, platform: Platform, chance: random.Random) -> None:
    part = chance.choice(("web", "worker", "pages", "platform"))
    platform.kills[part] += 1
    if part == "platform":
        platform.kill()
        return
    find = {"web": processes.web_server, "worker": processes.worker, "pages": processes.pages_worker}[part]
    with suppress(ProcessLookupError, StopIteration, ValueError, IndexError, AssertionError):
        os.kill(find(site), signal.SIGKILL)


def _report(asked: argparse.Namespace, site: Site, platform: Platform, broken: int, seconds: float) -> int:
    marks, found = platform.marks(), Counter(points for (points,) in site.sql(GRADES))
    expected = Counter(float(number + n) for number in (1, 2) for n in range(asked.students))
    stored = {
        "releases": site.sql(RELEASES)[0][0],
        "grades lost": (expected - found).total(),
        "grades doubled": (found - expected).total(),
        "notices": site.sql(NOTICES)[0][0],
        "broken answers": broken,
    }
    wanted = {f"s{n}": 2.0 + n for n in range(asked.students)}
    lost = sum(marks.get(name, [None])[-1] != points for name, points in wanted.items())
    older = sum(sent != sorted(sent) for sent in marks.values())
    doubled = sum(len(sent) - len(set(sent)) for sent in marks.values())
    lossy = sum(platform.kills.values()) - platform.kills["web"]
    figures = {"students": asked.students, "kills": dict(platform.kills), "lost": lost, "older over newer": older}
    print(json.dumps({**stored, **figures, "doubled": doubled, "at most": lossy, "seconds": round(seconds, 1)}))
    is_whole = found == expected and stored["notices"] == 2 * asked.students
    return 1 if not is_whole or lost or older or doubled > lossy else 0


if __name__ == "__main__":
    sys.exit(main())
