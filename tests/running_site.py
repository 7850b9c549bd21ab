"""A whole site in a folder of its own: `manage.py up` with its real broker, worker and web server."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from tests import databases

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "a-long-one-for-tests-4711"
SILENCE = 5.0
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
Found = TypeVar("Found")
_own = threading.local()
_ports = count(random.randrange(20_000, 30_000))
_reserved: list[socket.socket] = []


def patience() -> float:
    """How many times longer than on a quiet machine things may take on this one, as busy as it is now."""
    return 1 + max(os.getloadavg()[0], _running()) / (os.cpu_count() or 1)


def _running() -> int:
    """How many threads of all processes run at this moment; the average of a minute comes late."""
    with suppress(OSError):
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    return 0


def until(condition: Callable[[], Found | None], *, seconds: float = 30, every: float = 0.02, what: str = "") -> Found:
    """Wait for a condition to hold and give what it gave; a busy machine has longer."""
    begun, longest = time.monotonic(), seconds
    while time.monotonic() - begun < (longest := max(longest, seconds * patience())):
        if found := condition():
            return found
        time.sleep(every)
    raise AssertionError(f"not within {longest:.0f} s: {what or condition}")


def free_port() -> int:
    """A port that no program gets by asking for any, and no other tests on this machine get: it stays free until used.

    Several workers and clones look at the same time. So the port of the same number for UDP, which no server of the
    tests uses, is kept until this process ends.
    """
    for port in _ports:
        reservation = socket.socket(type=socket.SOCK_DGRAM)
        try:
            reservation.bind(("127.0.0.1", port))
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            reservation.close()
            continue
        _reserved.append(reservation)
        return port
    raise AssertionError("count has no end")


@dataclass
class Site:
    """A running site; `shell` runs Python with its models, `stop` is Ctrl-C."""

    address: str
    folder: Path
    process: subprocess.Popen[str]
    environment: dict[str, str]

    def shell(self, code: str) -> str:
        """Run Python in a process that has the site's database; gives what it prints."""
        run = subprocess.run(
            [sys.executable, "-c", "import django; django.setup()\n" + code],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120 * patience(),
        )
        if run.returncode:
            raise AssertionError(run.stderr)
        return run.stdout.strip()

    def manage(self, *arguments: str) -> str:
        """A command of the operator, which must succeed; gives what it prints."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def make_class(self, *people: str, rows: int = 0, **fields: object) -> list[str]:
        """Ada's class, as `tests.classes.make_class` has it: Bo and Cy, unless others are named; their tokens."""
        given = {"people": people or ("bo", "cy"), "rows": rows, **fields}
        code = f"from tests.classes import make_class\nmake_class(**{given!r})"
        tokens: list[str] = json.loads(self.shell(code).splitlines()[-1])
        return tokens

    def sql(self, statement: str) -> list[Any]:
        """The rows of a statement in the site's SQLite."""
        with closing(sqlite3.connect(self.folder / "leaderboard.sqlite3", timeout=20)) as database, database:
            return database.execute(statement).fetchall()

    def submissions(self, condition: str = "1") -> list[dict[str, Any]]:
        """Submissions as the database has them."""
        columns = [column[1] for column in self.sql("PRAGMA table_info(competitions_submission)")]
        rows = self.sql(f"SELECT * FROM competitions_submission WHERE {condition}")
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def until_all_is_scored(self, seconds: float = 60) -> None:
        until(lambda: not self.submissions("status = 'pending'"), seconds=seconds, what="the last score")

    def check_promises(self) -> None:
        """Nothing waits any more, and every promise holds."""
        self.until_all_is_scored()
        self.manage("check_consistency")

    def empty(self) -> None:
        """Everything but the operator's account goes, for the next tests."""
        self.until_all_is_scored()
        self.shell("from tests.classes import empty_site\nempty_site()")

    def get(self, path: str, token: str = "") -> tuple[int, str]:
        """Status and body of a GET."""
        status, body, _ = self._ask("GET", path, None, {"Authorization": f"Bearer {token}"} if token else {})
        return status, body.decode()

    def news(self, path: str, known: str) -> tuple[int, str]:
        """Status and version of a part of a page that an open page asks for, having the version `known`."""
        headers = {"HX-Request": "true", **({"If-None-Match": known} if known else {})}
        status, _, version = self._ask("GET", path, None, headers)
        return status, version

    def upload(
        self, slug: str, token: str, data: bytes, name: str = "mine.csv", key: str = ""
    ) -> tuple[int, dict[str, object]]:
        """Hand in a file through the API; `key` is its idempotency key."""
        boundary = "----leaderboard-test"
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: text/csv\r\n\r\n"
        )
        body = head.encode() + data + f"\r\n--{boundary}--\r\n".encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={boundary}"}
        if key:
            headers["Idempotency-Key"] = key
        status, answer, _ = self._ask("POST", f"/api/v1/competitions/{slug}/submissions", body, headers)
        return status, json.loads(answer)

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes, str]:
        """Status, body and ETag of one request over this thread's connection, which stays open as a browser's does.
        After a silence it is a new one: by then the server may have closed the old."""
        now, last = time.monotonic(), f"{self.address} last"
        if now - getattr(_own, last, now) > SILENCE:
            self.hang_up()
        setattr(_own, last, now)
        connection = getattr(_own, self.address, None)
        if connection is None:
            connection = HTTPConnection(self.address.removeprefix("http://"), timeout=60)
            setattr(_own, self.address, connection)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers.get("ETag", "")
        except (HTTPException, OSError):
            connection.close()
            delattr(_own, self.address)
            raise

    def hang_up(self) -> None:
        """Close this thread's connection, for a thread that ends before the site does."""
        if (connection := getattr(_own, self.address, None)) is not None:
            connection.close()
            delattr(_own, self.address)

    def stop(self) -> float:
        """Ctrl-C; gives the seconds until everything had stopped."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=20 * patience())
        except subprocess.TimeoutExpired:
            self.process.kill()  # its parts end with it, and the tests that follow have the machine for themselves
            raise
        return time.monotonic() - begun


def site_environment(folder: Path, **variables: str) -> dict[str, str]:
    """The variables of a site of its own in `folder`, with Olga as its operator."""
    return {
        **{name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "DATABASE_URL")},
        "VAR_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        "ADMIN_USERNAME": "olga",
        "ADMIN_PASSWORD": PASSWORD,
        "ADMIN_EMAIL": "olga@example.org",
        **variables,
    }


@contextmanager
def running_site(folder: Path, *, up: tuple[str, ...] = (), **variables: str) -> Iterator[Site]:
    """Start everything in `folder` and stop it at the end; `up` are more options of the command.

    A site that has no database yet finds one with empty tables.
    """
    port = free_port()
    environment = site_environment(folder, **variables)
    if "DATABASE_URL" not in variables:
        databases.put_into(folder)
    log = folder.parent / f"{folder.name}.up.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--no-browser", "--port", str(port), *up],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    site = Site(f"http://127.0.0.1:{port}", folder, process, environment)
    try:

        def is_up() -> bool:
            assert process.poll() is None, log.read_text()
            return site.address in log.read_text()

        until(is_up, seconds=60, what="the box with the address")
        yield site
    finally:
        if process.poll() is None:
            site.stop()
