"""What the benches of a whole site measure: this one and the plain one, by the same client."""

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

from tests.site import Site, running_site

from .plain import running_plain

TICKS = os.sysconf("SC_CLK_TCK")
TRUTHS = {
    slug: "id,label,Usage\n"
    + "".join(f"row{i},{'abc'[i % 3]},{'Public' if i % 4 else 'Private'}\n" for i in range(rows))
    for slug, rows in (("small", 1000), ("large", 100_000))
}
SET_UP = """
import sys
from leaderboard.accounts.models import ApiToken
from leaderboard.competitions.models import Competition
from bench.sites import TRUTHS
from tests.conftest import enter, make_competition, person
ada = person("ada", can_host=True)
for slug, truth in TRUTHS.items():
    make_competition(ada, slug=slug, truth=truth, daily_attempts=1000, is_listed=True)
for n in range(STUDENTS):
    user = person(f"student{n}")
    for competition in Competition.objects.all():
        enter(competition, user)
    print(ApiToken.issue(user, "bench")[1])
"""


class MeasuredSite(Protocol):
    """A site that takes files of several students; `student` is their number."""

    name: str

    def upload(self, competition: str, student: int, data: bytes) -> str:
        """Hand a file in; gives the submission's id."""

    def is_over(self, submission_id: str, student: int) -> bool:
        """Whether a file has its score, or what else became of it."""

    def board(self, competition: str, known: str) -> str:
        """Look at the board, of which the version `known` is at hand; gives the version that was seen."""

    def waiting(self) -> int:
        """How many files have no score yet; asked of the database, so that the site has no work with it."""

    def processor_seconds(self) -> float:
        """What all processes of the site have used so far, those that ended included."""


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

    def processor_seconds(self) -> float:
        return processor_seconds([self.site.process.pid])


@dataclass
class Plain:
    """The baseline."""

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

    def processor_seconds(self) -> float:
        return processor_seconds(self.roots)

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        if not hasattr(self._own, "connection"):
            self._own.connection = HTTPConnection(self.address.removeprefix("http://"), timeout=60)
        headers = {"Content-Type": "multipart/form-data; boundary=part"} if body else {}
        self._own.connection.request(method, path, body, headers)
        return bytes(self._own.connection.getresponse().read())


@contextmanager
def leaderboard(students: int, folder: Path, up: tuple[str, ...] = (), **variables: str) -> Iterator[Leaderboard]:
    with running_site(folder / "var", up=up, **variables) as site:
        yield Leaderboard(site, site.shell(SET_UP.replace("STUDENTS", str(students))).splitlines())


@contextmanager
def plain() -> Iterator[Plain]:
    with tempfile.TemporaryDirectory() as folder, running_plain(Path(folder) / "plain", TRUTHS) as (address, roots):
        yield Plain(address, Path(folder) / "plain", roots)


def rows_in(database: Path, query: str) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as link:
        return int(link.execute(query).fetchone()[0])


def processor_seconds(roots: list[int]) -> float:
    """Of processes and all that they started, also of those that have ended and were waited for."""
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
    todo, total = list(roots), 0.0
    while todo:
        process = todo.pop()
        total += used.get(process, 0.0)
        todo += children.get(process, [])
    return total
