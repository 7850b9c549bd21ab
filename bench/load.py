"""A class at its worst moment, each figure next to its goal: ``python -m bench.load [NAME …]``.

Names: ``uploads`` (50 a second for ten seconds), ``scoring`` (files of 10,000 rows per second), ``board`` (100 readers
a second of a board with 500 teams and 50,000 submissions, while files are scored), ``signins`` (200 in a minute),
``slow`` (200 clients that send a byte a second), ``fair`` (four of one team hand in ``--queue 500`` files at once; how
long others of its class and of another wait), ``soak`` (``--soak 3600`` seconds at two uploads a second: memory,
threads, descriptors, zombies). Without names all but the soak. The site is the one that
``manage.py up`` starts; who asks shares its processors, so every figure includes the asking.

An open loop: each request has its moment, and is late when the site is; times count from that moment.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import socket
import sqlite3
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from urllib.parse import urlencode

from tests.running_site import Site, running_site, until

STUDENTS = 200
CROWD_SECONDS = 4
BUSY_TEAM_SIZE = 4
"""Members of the team that submits more than all others."""
LARGE_ROWS = 50_000
"""Rows of the files that it submits: they come faster than they are scored."""
PASSWORD = "a-good-pass-phrase"
SET_UP = """
from django.contrib.auth.hashers import make_password
from leaderboard.classroom import joining
from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions.models import Competition, Membership, Team
from tests.conftest import enter, make_competition, person
ada = person("ada", can_host=True)
secret = make_password("{password}")
students = User.objects.bulk_create(
    [User(username=f"student{{n}}", email=f"s{{n}}@example.org", password=secret) for n in range({students})])
from allauth.account.models import EmailAddress
EmailAddress.objects.bulk_create([EmailAddress(user=s, email=s.email, verified=True, primary=True) for s in students])
for slug, rows in (("small", 1000), ("middle", 10_000), ("large", {large})):
    truth = "id,label,Usage\\n" + "".join(
        f"row{{i}},{{'abc'[i % 3]}},{{'Public' if i % 4 else 'Private'}}\\n" for i in range(rows))
    competition = make_competition(ada, slug=slug, truth=truth, daily_attempts=1000, is_listed=True)
    entered = [enter(competition, student) for student in students]
    if slug == "large":
        for student in students[1:{busy_team_size}]:
            joining.join_by_invitation(user=student, invitation=entered[0].team.invitation)
for student in students:
    print(ApiToken.issue(student, "load")[1])
"""
BOARD = """
from bench.board import fill
competition = fill(500, slug="big", per_team=100)
"""
FROM_QUEUE = """
from leaderboard.competitions.models import Submission
files = Submission.objects.filter(team__isnull=False)
queue = files.filter(competition__slug="large", team__memberships__user__username="student0")
def waits(slug):
    first = queue.earliest("received_at").received_at
    others = files.filter(competition__slug=slug, received_at__gt=first).exclude(pk__in=queue)
    return [(end - begin).total_seconds() for begin, end in others.values_list("received_at", "finished_at")]
"""


def submission(rows: int) -> bytes:
    return ("id,label\n" + "".join(f"row{i},{'abcab'[i % 5]}\n" for i in range(rows))).encode()


def p95(times: list[float]) -> float:
    return sorted(times)[max(0, int(0.95 * len(times)) - 1)]


def say(what: str, found: str, goal: str, *, is_met: bool) -> None:
    print(f"{what:<74}{found:>20}   goal {goal:<14}{'reached' if is_met else 'MISSED'}", flush=True)


def at_pace(rate: float, seconds: float, ask: Callable[[int], None], threads: int = 32) -> list[float]:
    """Call `ask(number)` at an even pace; for each the seconds from its planned moment to its end."""
    begun = time.monotonic() + 0.2

    def one(number: int) -> float:
        planned = begun + number / rate
        time.sleep(max(0.0, planned - time.monotonic()))
        ask(number)
        return time.monotonic() - planned

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(int(rate * seconds))))


def wait_until_scored(site: Site, seconds: float = 300) -> None:
    """Ask the database's file once a second; a process with Django would take processor time from the scorers."""
    with closing(sqlite3.connect(f"file:{site.folder / 'leaderboard.sqlite3'}?mode=ro", uri=True)) as link:
        pending = "SELECT count(*) FROM competitions_submission WHERE status = 'pending'"
        until(lambda: link.execute(pending).fetchone() == (0,), seconds=seconds, every=1, what="all scores")


def uploads(site: Site, tokens: list[str]) -> None:
    data, statuses = submission(1000), Counter[int]()

    def send(number: int) -> None:
        statuses[site.upload("small", tokens[number % len(tokens)], data)[0]] += 1

    times = at_pace(50, 10, send)
    wait_until_scored(site)
    accepted = statuses[201] == len(times)
    what = f"50 uploads/s for 10 s: {statuses[201]} of {len(times)} accepted, median {statistics.median(times):.3f} s"
    say(what, f"p95 {p95(times):.3f} s", "< 1 s", is_met=accepted and p95(times) < 1)


def scoring(site: Site, tokens: list[str], files: int = 400) -> None:
    """From the first receipt to the last finish, by the database's own times; uploads go on during the first part."""
    data = submission(10_000)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: site.upload("middle", tokens[n % len(tokens)], data), range(files)))
    assert all(status == 201 for status, _ in answers), Counter(status for status, _ in answers)
    wait_until_scored(site)
    code = (
        "from leaderboard.competitions.models import Submission\n"
        "done = Submission.objects.filter(competition__slug='middle', status='scored')\n"
        "times = list(done.values_list('received_at', 'finished_at'))\n"
        "print(len(times), (max(e for _, e in times) - min(b for b, _ in times)).total_seconds())"
    )
    count, seconds = site.shell(code).split()
    rate = int(count) / float(seconds)
    what = f"files of 10,000 rows, {count} handed in at once and scored"
    say(what, f"{rate:.0f} /s", "≥ 40 /s", is_met=int(count) == files and rate >= 40)


def board(site: Site, tokens: list[str], seconds: float = 20) -> None:
    """Readers of the big board while other files are scored all the time."""
    site.shell(BOARD)
    data, is_over = submission(10_000), threading.Event()

    def keep_scoring() -> None:
        number = 0
        while not is_over.wait(0.1):
            site.upload("middle", tokens[number % len(tokens)], data)
            number += 1
        site.hang_up()

    def read(number: int) -> None:
        status, _ = site.get("/c/big/leaderboard/")
        assert status == 200, status

    read(0)
    for words, is_busy in (("alone", False), ("while 10 files of 10,000 rows a second are scored", True)):
        scorer = threading.Thread(target=keep_scoring)
        if is_busy:
            scorer.start()
        times = at_pace(100, seconds, read)
        is_over.set()
        if is_busy:
            scorer.join()
        what = f"board, 500 teams, 50,000 submissions, 100 requests/s, {words}"
        say(what, f"p95 {p95(times) * 1000:.0f} ms", "< 60 ms", is_met=p95(times) < 0.06)
        is_over.clear()
    wait_until_scored(site)


def sign_in(site: Site, number: int) -> None:
    """As a browser does: the page with its token, then the form."""
    link = http.client.HTTPConnection(site.address.removeprefix("http://"), timeout=90)
    link.request("GET", "/accounts/login/")
    page = link.getresponse()
    text = page.read().decode()
    cookies = "; ".join(value.split(";")[0] for name, value in page.getheaders() if name.lower() == "set-cookie")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)
    assert token, text[:500]
    form = urlencode({"csrfmiddlewaretoken": token[1], "login": f"student{number}", "password": PASSWORD})
    headers = {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded", "Referer": site.address}
    link.request("POST", "/accounts/login/", form, headers)
    answer = link.getresponse()
    answer.read()
    link.close()
    assert answer.status == 302, (answer.status, number)


def signins(site: Site, tokens: list[str]) -> None:
    begun = time.monotonic()
    with ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda number: sign_in(site, number), range(STUDENTS)))
    taken = time.monotonic() - begun
    say(f"{STUDENTS} sign-ins, 50 at once", f"{taken:.1f} s", "≤ 60 s", is_met=taken <= 60)


def slow(site: Site, tokens: list[str], clients: int = 200) -> None:
    """Clients that have sent a header and now send their file a byte a second."""
    host, port = site.address.removeprefix("http://").split(":")
    sleepers = []
    for number in range(clients):
        client = socket.create_connection((host, int(port)))
        client.sendall(
            b"POST /api/v1/competitions/small/submissions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\nAuthorization: Bearer "
            + tokens[number % len(tokens)].encode()
            + b"\r\n\r\n--x\r\nContent-Disposition: form-data"
        )
        sleepers.append(client)
    is_over = threading.Event()

    def drip() -> None:
        while not is_over.wait(1):
            for client in sleepers:
                with suppress(OSError):
                    client.sendall(b";")

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        times = at_pace(20, 10, lambda _: _ok(site.get("/c/small/leaderboard/")[0]))
        site.hang_up()  # the server has closed what was silent since an earlier figure
        status, answer = site.upload("small", tokens[0], submission(1000))
        assert status == 201, answer
    finally:
        is_over.set()
        dripping.join()
        for client in sleepers:
            client.close()
    say(
        f"pages while {clients} clients send a byte a second", f"p95 {p95(times):.3f} s", "< 1 s", is_met=p95(times) < 1
    )


def _ok(status: int) -> None:
    assert status == 200, status


def fair(site: Site, tokens: list[str], queue: int = 500, others: int = 40) -> None:
    """One team fills the queue; while its files wait, 40 others hand in one each, half of them next door."""
    data = {"large": submission(LARGE_ROWS), "small": submission(1000)}

    def send(slug: str, token: str) -> None:
        status, answer = site.upload(slug, token, data[slug])
        assert status == 201, answer

    with ThreadPoolExecutor(2 * BUSY_TEAM_SIZE) as pool:
        list(pool.map(lambda n: send("large", tokens[n % BUSY_TEAM_SIZE]), range(queue)))
    at_pace(8, others / 8, lambda n: send("large" if n % 2 else "small", tokens[BUSY_TEAM_SIZE + n]), threads=8)
    waiting = int(site.shell(FROM_QUEUE + "print(queue.filter(status='pending').count())"))
    wait_until_scored(site, seconds=600)
    for slug in data:
        times = json.loads(site.shell(FROM_QUEUE + f"print(waits('{slug}'))"))
        what = f"{waiting} of one team's {queue} files wait; {len(times)} others submit one, {slug}"
        say(what, f"p95 {p95(times):.1f} s", "< 10 s", is_met=waiting > 0 and p95(times) < 10)


def processes_below(top: int) -> dict[int, tuple[int, str]]:
    """Process → (parent, command) for `top` and all below it; ended ones that were not waited for are "zombie"."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                names[int(entry.name)] = "zombie" if fields[0] == "Z" else " ".join(words[1:6])[:60]
    found, queue = {top: (0, names[top])}, [top]
    while queue:
        one = queue.pop()
        below = [pid for pid, parent in parents.items() if parent == one]
        found |= {pid: (one, names[pid]) for pid in below}
        queue += below
    return found


def usage_of(pid: int) -> tuple[float, int, int]:
    """Anonymous memory in MB, open descriptors and threads of a process; zeros if it has ended.

    Pages that are shared after a fork count too, so that writing to one is no growth. Pages of the database that SQLite
    maps do not: they belong to the kernel's cache.
    """
    with suppress(OSError):
        (own,) = re.findall(r"^Anonymous: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), flags=re.M)
        opened, threads = (len(list(Path(f"/proc/{pid}/{what}").iterdir())) for what in ("fd", "task"))
        return int(own) / 1024, opened, threads
    return 0.0, 0, 0


def soak(site: Site, tokens: list[str], seconds: float) -> None:
    """Compare memory, descriptors and threads of each process before and after `seconds` of uploads.

    The first tenth warms up and ends with a crowd, so that every thread and process has worked. Memory is compared with
    the largest process of its kind (same parent and command), because one of them may do some work for the first time
    only now.
    """
    data = submission(1000)

    def send(number: int) -> None:
        slug = "small" if number % 400 < 390 else "middle"
        status, answer = site.upload(
            slug, tokens[number % len(tokens)], data if slug == "small" else submission(10_000)
        )
        assert status == 201, answer
        if number % 3 == 0:
            _ok(site.get(f"/c/{slug}/leaderboard/")[0])
            json.loads(site.get(f"/api/v1/submissions/{answer['id']}", tokens[number % len(tokens)])[1])

    at_pace(2, seconds / 10, send, threads=4)
    at_pace(50, CROWD_SECONDS, send)
    wait_until_scored(site)
    before = processes_below(site.process.pid)
    were = {pid: usage_of(pid) for pid in before}
    heaviest: dict[tuple[int, str], float] = {}
    for pid, kind in before.items():
        heaviest[kind] = max(heaviest.get(kind, 0.0), were[pid][0])
    at_pace(2, seconds * 0.9, send, threads=4)
    wait_until_scored(site)
    after = processes_below(site.process.pid)
    zombies = [pid for pid, (_, name) in after.items() if name == "zombie"]
    for pid, kind in after.items():
        if kind == before.get(pid):
            (was, open_then, threads_then), (now, open_now, threads_now) = were[pid], usage_of(pid)
            grown = now / heaviest[kind] - 1 if heaviest[kind] else 0.0
            what = f"{kind[1]}: {was:.1f} → {now:.1f} MB, descriptors {open_then} → {open_now}"
            what += f", threads {threads_then} → {threads_now}"
            is_met = (grown < 0.05 or now - heaviest[kind] < 1) and open_now <= open_then + 3
            is_met = is_met and threads_now <= threads_then + 3
            say(what, f"{grown:+.1%}", "< 5 %", is_met=is_met)
    say(f"zombies after {seconds:g} s", str(len(zombies)), "0", is_met=not zombies)


FIGURES = {each.__name__: each for each in (uploads, scoring, board, signins, slow, fair)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*FIGURES, "soak", []])
    parser.add_argument("--soak", type=float, default=3600.0, metavar="SECONDS")
    parser.add_argument("--queue", type=int, default=500, metavar="FILES")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    names = given.names or list(FIGURES)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "var"
        site = stack.enter_context(running_site(folder, up=("--workers", str(given.workers))))
        tokens = site.shell(
            SET_UP.format(students=STUDENTS, password=PASSWORD, large=LARGE_ROWS, busy_team_size=BUSY_TEAM_SIZE)
        ).splitlines()
        for name in names:
            if name == "soak":
                soak(site, tokens, given.soak)
            elif name == "fair":
                fair(site, tokens, given.queue)
            else:
                FIGURES[name](site, tokens)


if __name__ == "__main__":
    main()
