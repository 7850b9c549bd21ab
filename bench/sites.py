"""The two sites that benches compare, started for a bench: this one and the plain one (`bench/plain.py`)."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from threading import local
from typing import Protocol

from tests.running_site import Site, running_site

from .plain import running_plain

TICKS = os.sysconf("SC_CLK_TCK")
TRUTHS = {
    slug: "id,label,Usage\n"
    + "".join(f"row{i},{'abc'[i % 3]},{'Public' if i % 4 else 'Private'}\n" for i in range(rows))
    for slug, rows in (("small", 1000), ("large", 100_000))
}
SET_UP = """
from bench.sites import TRUTHS
from tests.conftest import make_competition, person
ada = person("ada", can_host=True)
for slug in {slugs!r}:
    make_competition(ada, slug=slug, truth=TRUTHS[slug], daily_attempts=1000, is_listed=True)
"""
JOIN = """
from django.contrib.auth.hashers import make_password
from django.db import transaction
from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions.models import Competition
from tests.conftest import enter
secret, competitions = make_password(None), list(Competition.objects.all())
with transaction.atomic():
    for n in range({first}, {end}):
        user = User.objects.create(username=f"student{{n}}", email=f"s{{n}}@example.org", password=secret)
        for competition in competitions:
            enter(competition, user)
        print(ApiToken.issue(user, "bench")[1])
"""
JOIN_AT_ONCE = 500


class MeasuredSite(Protocol):
    """A site that takes files of several students; `student` is their number."""

    name: str

    def upload(self, competition: str, student: int, data: bytes) -> str:
        """Submit a file; returns the submission's id."""

    def is_over(self, submission_id: str, student: int) -> bool:
        """Whether a file is scored, or has ended otherwise."""

    def board(self, competition: str, known: str) -> str:
        """Read the board, of which the client has the version `known`; returns the version that it has now."""

    def waiting(self) -> int:
        """Number of files without a score; read from the database, so that the site has no work with it."""

    def processor_seconds(self) -> dict[str, float]:
        """Part → processor seconds of its processes so far, those that have ended included."""


@dataclass
class Leaderboard:
    """This site, asked through its API."""

    site: Site
    tokens: list[str]
    name: str = "leaderboard"

    def upload(self, competition: str, student: int, data: bytes) -> str:
        status, answer = self.site.upload(competition, self.tokens[student], data)
        assert status == 201, answer
        return str(answer["id"])

    def is_over(self, submission_id: str, student: int) -> bool:
        status, answer = self.site.get(f"/api/v1/submissions/{submission_id}", self.tokens[student])
        assert status == 200, answer
        return bool(json.loads(answer)["status"] != "pending")

    def board(self, competition: str, known: str) -> str:
        status, version = self.site.news(f"/c/{competition}/leaderboard/", known)
        assert status in (200, 304), status
        return version

    def waiting(self) -> int:
        database = self.site.folder / "leaderboard.sqlite3"
        return rows_in(database, "SELECT count(*) FROM competitions_submission WHERE status = 'pending'")

    def processor_seconds(self) -> dict[str, float]:
        return processor_seconds([self.site.process.pid])


@dataclass
class Plain:
    """The plain site of `bench/plain.py`, without any of our code, for comparison."""

    address: str
    folder: Path
    roots: list[int]
    name: str = "plain"
    _own: local = field(default_factory=local)

    def upload(self, competition: str, student: int, data: bytes) -> str:
        fields = {"competition": competition, "team": f"student{student}"}
        head = "".join(
            f'--part\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        )
        head += '--part\r\nContent-Disposition: form-data; name="file"; filename="mine.csv"\r\n\r\n'
        body = head.encode() + data + b"\r\n--part--\r\n"
        return str(json.loads(self._ask("POST", "/upload/", body))["id"])

    def is_over(self, submission_id: str, student: int) -> bool:
        return bool(json.loads(self._ask("GET", f"/submissions/{submission_id}/"))["status"] == "scored")

    def board(self, competition: str, known: str) -> str:
        self._ask("GET", f"/?competition={competition}")
        return ""

    def waiting(self) -> int:
        return rows_in(
            self.folder / "plain.sqlite3", "SELECT count(*) FROM contenttypes_submission WHERE public IS NULL"
        )

    def processor_seconds(self) -> dict[str, float]:
        return processor_seconds(self.roots)

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        if not hasattr(self._own, "connection"):
            self._own.connection = HTTPConnection(self.address.removeprefix("http://"), timeout=60)
        headers = {"Content-Type": "multipart/form-data; boundary=part"} if body else {}
        self._own.connection.request(method, path, body, headers)
        answer = self._own.connection.getresponse()
        content = bytes(answer.read())
        assert answer.status < 400, (answer.status, (self.folder / "log").read_text()[-2000:])
        return content


@contextmanager
def leaderboard(
    students: int, folder: Path, up: tuple[str, ...] = (), slugs: tuple[str, ...] = tuple(TRUTHS), **variables: str
) -> Iterator[Leaderboard]:
    """This site with so many students in the competitions of these names."""
    with running_site(folder / "var", up=up, **variables) as site:
        yield Leaderboard(site, join(site, students, slugs))


def join(site: Site, students: int, slugs: tuple[str, ...]) -> list[str]:
    """Make the competitions and let the students join; their tokens."""
    site.shell(SET_UP.format(slugs=slugs))
    tokens: list[str] = []
    for first in range(0, students, JOIN_AT_ONCE):
        code = JOIN.format(first=first, end=min(first + JOIN_AT_ONCE, students))
        tokens += site.shell(code).splitlines()
    return tokens


@contextmanager
def plain() -> Iterator[Plain]:
    with tempfile.TemporaryDirectory() as folder, running_plain(Path(folder) / "plain", TRUTHS) as (address, roots):
        yield Plain(address, Path(folder) / "plain", roots)


def rows_in(database: Path, query: str) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as link:
        return int(link.execute(query).fetchone()[0])


def processor_seconds(roots: list[int]) -> dict[str, float]:
    """Of processes and all that they started, also of those that have ended and were waited for: `web`, `worker` with
    what scores for it, and the `rest`."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile; its parent has waited for it
            continue
        process = int(stat.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        used[process] = sum(map(int, fields[11:15])) / TICKS
    todo = [(root, "rest") for root in roots]
    total = {"web": 0.0, "worker": 0.0, "rest": 0.0}
    while todo:
        process, part = todo.pop()
        part = part if part != "rest" else _part_of(process)
        total[part] += used.get(process, 0.0)
        todo += [(child, part) for child in children.get(process, [])]
    return total


def _part_of(process: int) -> str:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return "rest"
    return "web" if b"granian" in command else "worker" if b"worker" in command else "rest"
