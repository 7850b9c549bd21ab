"""The last hour before a deadline, in ten minutes: this site beside the plain one (`bench/plain.py`).

    .venv/bin/python -m bench.last_hour [--accounts 2000] [--minutes 10] [--boards 500] [--no-plain]
    .venv/bin/python -m bench.last_hour --postgres        700 accounts, two workers, PostgreSQL and Redis

Each account hands in five files of 1,000 rows at moments drawn at random; a hundred of all files miss rows. Meanwhile
so many people have the board open, which asks for news every 15 seconds. An open loop: each request has its moment, and
times count from that moment. A score is asked for as the page does: every 0.3 seconds, every second once four have
passed. PostgreSQL and Redis are those of the system's packages, started for this run.
"""

from __future__ import annotations

import argparse
import heapq
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from queue import SimpleQueue

from tests import servers

from . import sites
from .figures import Report, in_seconds, share
from .flow import submission

FILES, BAD, ROWS = 5, 100, 1000
NEWS_EVERY, SCORE_EVERY, LATE_SCORE_EVERY, FRESH = 15.0, 0.3, 1.0, 4.0
PATIENCE = 120.0
"""Seconds after the last upload in which every file must have its score."""
THREADS = 64
P95_SECONDS = {700: 0.5, 2000: 0.5, 5000: 2.0}
"""Until a score is seen, with so many accounts; more have the last."""
P95_SECONDS_ON_POSTGRES = 1.0


class Agenda:
    """What is to be done at which moment, by many threads; what is done may add to it."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._added: SimpleQueue[tuple[float, int, Callable[[], None]]] = SimpleQueue()
        self._number = count()

    def add(self, moment: float, work: Callable[[], None]) -> None:
        self._added.put((moment, next(self._number), work))

    def run(self, until: float) -> None:
        """Do everything that is due by a moment."""
        with ThreadPoolExecutor(THREADS) as pool:
            while time.monotonic() < until:
                while not self._added.empty():
                    heapq.heappush(self._due, self._added.get())
                if self._due and self._due[0][0] <= time.monotonic():
                    pool.submit(heapq.heappop(self._due)[2])
                else:
                    time.sleep(0.005)


class LastHour:
    """Everybody hands in and looks at the board of one site; what was seen of it, in seconds."""

    def __init__(self, site: sites.MeasuredSite) -> None:
        self.site = site
        self.agenda = Agenda()
        self.uploads: list[float] = []
        self.scores: list[float] = []
        self.boards: list[float] = []
        self.failures: Counter[str] = Counter()
        self.processor = 0.0

    def play(self, accounts: int, seconds: float, boards: int) -> None:
        """Let so many accounts hand in for so many seconds, while so many boards are open."""
        draw, begin = random.Random(7), time.monotonic() + 1
        end = begin + seconds
        good, bad = submission(ROWS), submission(ROWS - 10)
        uploads = [(begin + draw.random() * seconds, account) for account in range(accounts) for _ in range(FILES)]
        spoiled = set(draw.sample(range(len(uploads)), min(BAD, len(uploads) // 10)))
        for number, (moment, account) in enumerate(uploads):
            self.at(moment, partial(self.submit, account, moment, bad if number in spoiled else good))
        for _ in range(boards):
            moment = begin + draw.random() * NEWS_EVERY
            self.at(moment, partial(self.look, moment, "", end))
        used = sum(self.site.processor_seconds().values())
        self.agenda.run(end)
        last = time.monotonic() + PATIENCE
        while self.without_score and time.monotonic() < last:
            self.agenda.run(time.monotonic() + 1)
        self.processor = sum(self.site.processor_seconds().values()) - used

    @property
    def without_score(self) -> int:
        return len(self.uploads) - len(self.scores)

    def at(self, moment: float, work: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as error:
                self.failures[f"{type(error).__name__}: {error}"[:100]] += 1

        self.agenda.add(moment, guarded)

    def submit(self, account: int, moment: float, data: bytes) -> None:
        name = self.site.upload("small", account, data)
        self.uploads.append(time.monotonic() - moment)
        self.ask(name, account, moment)

    def ask(self, name: str, account: int, moment: float) -> None:
        if self.site.is_over(name, account):
            self.scores.append(time.monotonic() - moment)
        else:
            now = time.monotonic()
            pause = SCORE_EVERY if now - moment < FRESH else LATE_SCORE_EVERY
            self.at(now + pause, partial(self.ask, name, account, moment))

    def look(self, moment: float, known: str, end: float) -> None:
        version = self.site.board("small", known)
        self.boards.append(time.monotonic() - moment)
        following = moment + NEWS_EVERY
        if following < end:
            self.at(following, partial(self.look, following, version, end))


def play(site: sites.MeasuredSite, accounts: int, seconds: float, boards: int) -> LastHour:
    seen = LastHour(site)
    seen.play(accounts, seconds, boards)
    return seen


def print_seen(report: Report, seen: LastHour, limit: float, plain: LastHour | None) -> None:
    """The figures of this site, beside those of the plain one."""
    for what, ours, theirs in (
        ("upload → answer", seen.uploads, plain and plain.uploads),
        ("upload → score seen", seen.scores, plain and plain.scores),
        ("board", seen.boards, plain and plain.boards),
    ):
        report.print_figure(what, in_seconds(ours), plain=in_seconds(theirs) if theirs else "")
    report.most("upload → score seen, p95", share(seen.scores, 0.95), limit)
    report.most("board, p95", share(seen.boards, 0.95), 0.3)
    lost = f"{plain.without_score}" if plain else ""
    report.print_figure("without a score", str(seen.without_score), "0", is_met=seen.without_score == 0, plain=lost)
    failures = str(dict(seen.failures.most_common(3)) or "none")
    report.print_figure("failures", failures, "none", is_met=not seen.failures)
    report.print_figure(
        "processor time of all processes",
        f"{seen.processor:.0f} s",
        plain=f"{plain.processor:.0f} s" if plain else "",
    )


def limit_for(accounts: int) -> float:
    return next((limit for most, limit in P95_SECONDS.items() if accounts <= most), P95_SECONDS[5000])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accounts", type=int, default=700)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--boards", type=int, default=500)
    parser.add_argument("--up", default="", help="what `manage.py up` is told, for example “--workers 2”")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL and Redis, with two workers")
    parser.add_argument("--no-plain", action="store_true", help="measure this site alone")
    options = parser.parse_args()
    given = (options.accounts, 60 * options.minutes, options.boards)
    report, plain = Report(), None
    report.print_machine()
    if not options.no_plain:
        with sites.plain() as other:
            plain = play(other, *given)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        up, services = tuple(options.up.split()), {}
        if options.postgres:
            services = {
                "DATABASE_URL": stack.enter_context(servers.postgres()).new_database("bench"),
                "REDIS_URL": stack.enter_context(servers.redis_server()).url,
                "SECRET_KEY": "a key for benches alone",
            }
            up = up or ("--workers", "2")
        ours = stack.enter_context(sites.leaderboard(options.accounts, folder, up, ("small",), **services))
        seen = play(ours, *given)
    print(f"{len(seen.uploads)} files of {options.accounts} accounts, {len(seen.boards)} looks at the board")
    print_seen(report, seen, P95_SECONDS_ON_POSTGRES if options.postgres else limit_for(options.accounts), plain)
    report.print_machine()
    raise SystemExit(bool(report.missed))


if __name__ == "__main__":
    main()
