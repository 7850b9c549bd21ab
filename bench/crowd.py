"""A class that opens a fresh site in the same second, and one that is signed in.

    .venv/bin/python -m bench.crowd [--students 60] [--signed-in 300] [--seconds 60] [--no-plain]

Each student opens the join page, makes an account with the code, joins, reads overview, data and metric, submits a
file of 1,000 rows and looks at the board. The site has just started, so nothing is cached. Then others, who are signed
in, ask for a page every ten seconds: an open loop, times count from the planned moment. Five times a second the site
is asked whether it is well. The clients share the processors with the site. Of the plain site a student asks as many
pages (its board) and uploads one file; nobody signs up there.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.running_site import Site, running_site, until
from tests.visitors import BOUNDARY, Visitor, sign_up, submit

from . import sites
from .figures import Report, in_seconds, share
from .flow import submission

PASSWORD = "a-good-pass-phrase"
PAGE_EVERY_SECONDS, HEALTH_EVERY_SECONDS = 10.0, 0.2
SIGN_UP_SECONDS = 10.0
SIGN_UP = "POST /join/"
"""Counted by itself: passwords are hashed a few at a time, and the last of a class has a goal of its own."""
TRUTH = sites.TRUTHS["small"]
PAGES = (
    "/c/crowd/", "/c/crowd/data/", "/c/crowd/leaderboard/", "/c/crowd/submit/", "/c/crowd/submissions/",
    "/metrics/accuracy/", "/",
)  # fmt: skip
SET_UP = """
from bench.crowd import TRUTH
from tests.conftest import make_competition, person
competition = make_competition(person("ada", can_host=True), slug="crowd", truth=TRUTH, is_listed=True)
print(competition.admission.join_code)
"""
SESSIONS = """
from django.contrib.auth.hashers import make_password
from django.test import Client
from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.conftest import enter
competition, secret = Competition.objects.get(slug="crowd"), make_password(None)
for n in range({number}):
    user, client = User.objects.create(username=f"regular{{n}}", password=secret), Client()
    enter(competition, user)
    client.force_login(user)
    print(client.cookies["sessionid"].value)
"""


@dataclass
class Seen:
    """What the clients of one part saw: seconds of each page, of each look whether the site is well, and failures."""

    pages: list[float] = field(default_factory=list)
    named: list[tuple[str, float]] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    joined: list[float] = field(default_factory=list)

    async def guard(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            self.failures[f"{type(error).__name__}: {error}"[:120]] += 1

    def take(self, visitor: Visitor) -> None:
        self.named += visitor.pages
        self.pages += [seconds for _, seconds in visitor.pages]
        visitor.hang_up()


@contextmanager
def health_watched(address: str, seen: Seen) -> Iterator[None]:
    """Ask `/healthz` from a thread of its own until the end; a look that fails counts as a failure."""
    is_over = threading.Event()

    def watch() -> None:
        asyncio.run(_watch_health(Visitor(address, time_limit=30), seen, is_over))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


async def _watch_health(visitor: Visitor, seen: Seen, is_over: threading.Event) -> None:
    while not is_over.is_set():
        begun = time.monotonic()
        try:
            answer = await visitor.ask("GET", "/healthz")
            if answer.status != 200:
                seen.failures[f"/healthz {answer.status}"] += 1
        except (OSError, asyncio.IncompleteReadError) as error:
            visitor.hang_up()
            seen.failures[f"/healthz {type(error).__name__}"] += 1
        seen.health.append(time.monotonic() - begun)
        await asyncio.sleep(max(0.0, HEALTH_EVERY_SECONDS - (time.monotonic() - begun)))
    visitor.hang_up()


async def _get(visitor: Visitor, path: str) -> None:
    answer = await visitor.get(path)
    assert answer.status == 200, f"{path} {answer.status}"


async def student(address: str, code: str, number: int, seen: Seen, begun: float) -> None:
    """One of the class, from the join code to the board."""
    visitor, data = Visitor(address), submission(1000)
    try:
        await sign_up(visitor, code, f"student{number}", PASSWORD)
        seen.joined.append(time.monotonic() - begun)
        for path in ("/c/crowd/", "/c/crowd/data/", "/metrics/accuracy/"):
            await _get(visitor, path)
        page = await submit(visitor, "crowd", data)
        assert page.status == 200, f"submit {page.status}"
        await _get(visitor, "/c/crowd/leaderboard/")
    finally:
        seen.take(visitor)


async def plain_student(address: str, number: int, seen: Seen, begun: float) -> None:
    """As many requests to the plain site."""
    visitor = Visitor(address)
    fields = {"competition": "small", "team": f"student{number}"}
    head = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    head += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="mine.csv"\r\n\r\n'
    body = head.encode() + submission(1000) + f"\r\n--{BOUNDARY}--\r\n".encode()
    try:
        for _ in range(8):
            await _get(visitor, "/?competition=small")
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        answer = await visitor.ask("POST", "/upload/", body, kind)
        assert answer.status == 201, f"upload {answer.status}"
        await _get(visitor, "/?competition=small")
    finally:
        seen.take(visitor)


Student = Callable[[int, Seen, float], Awaitable[None]]


def play_crowd(address: str, students: int, one: Student) -> Seen:
    """All begin in the same moment."""
    seen = Seen()

    async def play() -> None:
        begun = time.monotonic()
        await asyncio.gather(*(seen.guard(one(number, seen, begun)) for number in range(students)))

    with health_watched(address, seen):
        asyncio.run(play())
    return seen


async def regular(visitor: Visitor, begun: float, seconds: float, paths: tuple[str, ...], seen: Seen) -> None:
    """One who is signed in and asks for a page every ten seconds; times count from the planned moment."""
    draw = random.Random(visitor.cookies.get("sessionid", visitor.source))
    planned = begun + draw.random() * PAGE_EVERY_SECONDS
    while planned < begun + seconds:
        await asyncio.sleep(max(0.0, planned - time.monotonic()))
        await seen.guard(_get(visitor, draw.choice(paths)))
        seen.pages.append(time.monotonic() - planned)
        planned += PAGE_EVERY_SECONDS
    seen.named += visitor.pages
    visitor.hang_up()


def play_regulars(address: str, sessions: list[str], seconds: float, paths: tuple[str, ...]) -> Seen:
    seen = Seen()

    async def play() -> None:
        begun = time.monotonic() + 0.5
        visitors = [Visitor(address, cookies={"sessionid": session}) for session in sessions]
        await asyncio.gather(*(regular(visitor, begun, seconds, paths, seen) for visitor in visitors))

    with health_watched(address, seen):
        asyncio.run(play())
    return seen


def report_crowd(report: Report, seen: Seen, students: int, plain: Seen | None) -> None:
    p95_goal = 1.0 if students <= 60 else 5.0
    plain_pages = in_seconds(plain.pages) if plain else ""
    sign_ups = [seconds for name, seconds in seen.named if name.startswith(SIGN_UP)]
    pages = [seconds for name, seconds in seen.named if not name.startswith(SIGN_UP)]
    report.print_figure(f"{students} at once on a cold site: pages", in_seconds(pages), plain=plain_pages)
    report.most("  pages, p95", share(pages, 0.95), p95_goal)
    report.print_figure("  forms for an account", in_seconds(sign_ups))
    everybody = len(seen.joined) == students
    last = max(seen.joined, default=float("inf")) if everybody else float("inf")
    if students <= 60:
        report.most(f"  all {students} signed up and joined", last, SIGN_UP_SECONDS)
    else:
        report.print_figure(f"  all {students} signed up and joined", f"{last:.2f} s")
    report_health(report, seen, is_goal=students <= 60, plain=plain)
    slowest = sorted(seen.named, key=lambda one: -one[1])[:5]
    print("  slowest: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in slowest))


def report_health(report: Report, seen: Seen, *, is_goal: bool, plain: Seen | None = None) -> None:
    p99, longest = share(seen.health, 0.99), max(seen.health)
    if is_goal:
        report.most("  /healthz, p99", p99, 0.3)
        report.most("  /healthz, longest", longest, 1.0)
    else:
        report.print_figure("  /healthz", f"p99 {p99:.2f} s, longest {longest:.2f} s")
    failures = sum(seen.failures.values())
    told = f"{failures} {dict(seen.failures.most_common(3))}" if failures else "0"
    plain_told = str(sum(plain.failures.values())) if plain else ""
    report.print_figure("  failures", told, "0", is_met=failures == 0, plain=plain_told)


def wait_for_scores(site: Site, files: int, report: Report) -> None:
    database = site.folder / "leaderboard.sqlite3"
    scored = "SELECT count(*) FROM competitions_submission WHERE status = 'scored'"
    begun = time.monotonic()
    with suppress(AssertionError):
        until(lambda: sites.rows_in(database, scored) >= files, seconds=60, every=0.2, what="all scores")
    found = sites.rows_in(database, scored)
    what = f"  scored, {time.monotonic() - begun:.1f} s after the last page"
    report.print_figure(what, f"{found} of {files}", "all", is_met=found >= files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--signed-in", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60, help="how long those who are signed in go on")
    parser.add_argument("--no-plain", action="store_true", help="measure this site alone")
    options = parser.parse_args()
    report = Report()
    report.print_machine()
    plain = plain_regulars = None
    if not options.no_plain:
        with sites.plain() as other:
            someone = partial(plain_student, other.address)
            plain = _without_health(lambda: play_crowd(other.address, options.students, someone))
            names = [str(number) for number in range(options.signed_in)]
            board = ("/?competition=small",)
            plain_regulars = _without_health(lambda: play_regulars(other.address, names, options.seconds, board))
    with tempfile.TemporaryDirectory() as folder, running_site(Path(folder) / "var") as site:
        code = site.shell(SET_UP)
        seen = play_crowd(site.address, options.students, partial(student, site.address, code))
        report_crowd(report, seen, options.students, plain)
        wait_for_scores(site, options.students, report)
        if options.signed_in:
            sessions = site.shell(SESSIONS.format(number=options.signed_in)).splitlines()
            seen = play_regulars(site.address, sessions, options.seconds, PAGES)
            told = in_seconds(plain_regulars.pages) if plain_regulars else ""
            what = f"{options.signed_in} signed in, a page each every 10 s"
            report.print_figure(what, in_seconds(seen.pages), plain=told)
            report.most("  pages, p95", share(seen.pages, 0.95), 0.5)
            report_health(report, seen, is_goal=False, plain=plain_regulars)
    report.print_machine()
    raise SystemExit(bool(report.missed))


def _without_health(play: Callable[[], Seen]) -> Seen:
    """Of the plain site, which has no page that says whether it is well."""
    seen = play()
    for name in [name for name in seen.failures if name.startswith("/healthz")]:
        del seen.failures[name]
    return seen


if __name__ == "__main__":
    main()
