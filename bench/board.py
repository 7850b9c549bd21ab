"""Leaderboard page against a bare Django view, each figure next to its goal.

    python -m bench.board [--teams 100 1000 10000] [--http]

A temporary database gets a competition with 20 submissions per team. Both sides run in this process through
Django's WSGI handler: ours with all its middleware, the bare one without any, a view that renders 100 rows
from one query. Batches of both are interleaved and the median batch counts. `--http` adds requests of both through a
started server, one after another.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

FOLDER = tempfile.TemporaryDirectory(prefix="bench-board-")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
if __name__ == "__main__":
    os.environ["VAR_DIR"] = FOLDER.name
    os.environ.pop("DATABASE_URL", None)
    os.environ.setdefault("LOG_LEVEL", "WARNING")

import django

django.setup()

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.test import override_settings
from django.urls import include, path

from leaderboard.accounts.models import User
from leaderboard.boards import board_cache
from leaderboard.boards import standings as standings_module
from leaderboard.competitions import services as competitions_services
from leaderboard.competitions.models import (
    Competition,
    GroundTruth,
    Membership,
    Score,
    Standing,
    Submission,
    Team,
)
from leaderboard.competitions.models.competition import Split

PER_TEAM = 20
ROWS = """<!doctype html><title>Board</title><table>{% for s in standings %}<tr><td>{{ forloop.counter }}</td>
<td>{{ s.team.name }}</td><td>{{ s.value|floatformat:5 }}</td>
<td>{{ s.received_at|date:"j M H:i" }}</td></tr>{% endfor %}
</table>"""


def bare(request: HttpRequest, slug: str) -> HttpResponse:
    """What the goal compares with: one query, one template, no middleware."""
    found = Standing.objects.filter(ground_truth__competition__slug=slug, split=Split.PUBLIC)
    standings = found.select_related("team").order_by("sort_key", "received_at")[:100]
    return HttpResponse(TEMPLATE.render({"standings": standings}))


TEMPLATE = engines["django"].from_string(ROWS)
urlpatterns = [path("bare/<slug:slug>/", bare), path("", include("leaderboard.urls"))]


def fill(teams: int, *, slug: str, seed: int = 7, per_team: int = PER_TEAM) -> Competition:
    """A live competition with `teams` teams of `per_team` scored submissions each, two a day until now."""
    chance, now = random.Random(seed), datetime.now(UTC)
    host, _is_new = User.objects.get_or_create(username=f"host-of-{slug}")
    competition = competitions_services.create_competition(
        user=host,
        slug=slug,
        title=f"{teams} teams",
        overview="What is it?",
        is_listed=True,
        opens_at=now - timedelta(days=10),
        closes_at=now + timedelta(days=3),
    )
    ground_truth = GroundTruth(
        competition=competition, number=1, file_key="none", file_name="truth.csv", sha256="0" * 64, metric="accuracy",
        metric_version="0" * 12, id_column="id", submission_columns=["id", "label"], rows=1000, public_rows=300,
        private_rows=700,
    )  # fmt: skip
    ground_truth.save()
    Competition.objects.filter(pk=competition.pk).update(
        ground_truth=ground_truth, launched_at=now - timedelta(days=10)
    )
    people = User.objects.bulk_create([User(username=f"{slug}-{i}", password="!") for i in range(teams)])
    squads = Team.objects.bulk_create(
        [Team(competition=competition, name=f"Team {i:05d} of {slug}") for i in range(len(people))]
    )
    Membership.objects.bulk_create(
        [Membership(team=t, competition=competition, user=p) for t, p in zip(squads, people, strict=True)]
    )
    files, scores = [], []
    for squad in squads:
        level = chance.uniform(0.4, 0.9)
        for number in range(per_team):
            received = now - timedelta(hours=12 * (per_team - number), seconds=chance.uniform(0, 40_000))
            file = Submission(
                competition=competition, team=squad, file_name="mine.csv", file_key="none", size=1,
                sha256=f"{squad.pk:032x}{number:032x}", received_at=received, upload_key=f"{squad.pk}-{number}",
                status="scored", finished_at=received,
            )  # fmt: skip
            files.append(file)
            for split in Split:
                value = min(1.0, level + 0.08 * number / per_team + chance.uniform(-0.02, 0.02))
                interval = {"standard_error": 0.02, "low": value - 0.04, "high": value + 0.04}
                scores.append(Score(submission=file, ground_truth=ground_truth, split=split, value=value, **interval))
    Submission.objects.bulk_create(files, batch_size=2000)
    Score.objects.bulk_create(scores, batch_size=2000)
    standings_module.rebuild_standings(GroundTruth.objects.get(pk=ground_truth.pk))
    return Competition.objects.get(pk=competition.pk)


def asking(handler: WSGIHandler, target: str, **headers: str) -> Callable[[], bytes]:
    """A function that sends one request to a WSGI handler and gives the body."""
    address, _, query = target.partition("?")

    def ask() -> bytes:
        environ = {
            "REQUEST_METHOD": "GET", "PATH_INFO": address, "QUERY_STRING": query, "SERVER_NAME": "localhost",
            "SERVER_PORT": "80", "HTTP_HOST": "localhost", "wsgi.url_scheme": "http", "wsgi.input": BytesIO(),
            "wsgi.errors": sys.stderr, "SCRIPT_NAME": "", "REMOTE_ADDR": "127.0.0.1", "SERVER_PROTOCOL": "HTTP/1.1",
            **headers,
        }  # fmt: skip
        said: list[str] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Any:
            said.append(status)

        answer: Any = handler(environ, start)
        body = b"".join(answer)
        answer.close()
        assert said[0].startswith("200"), said
        return body

    return ask


def cost(ask: Callable[[], bytes], number: int) -> tuple[float, float]:
    """Seconds of wall clock and of CPU per request."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(number):
        ask()
    return (time.perf_counter() - wall) / number, (time.process_time() - cpu) / number


def interleaved(asks: dict[str, Callable[[], bytes]], *, rounds: int, number: int) -> dict[str, tuple[float, float]]:
    """Median seconds of wall clock and CPU per request of each, batch by batch in turn."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in asks}
    for ask in asks.values():
        cost(ask, 5)
    for _ in range(rounds):
        for name, ask in asks.items():
            found[name].append(cost(ask, number))
    return {
        name: (statistics.median(w for w, _ in times), statistics.median(c for _, c in times))
        for name, times in found.items()
    }


def first_reads(competition: Competition, ask: Callable[[], bytes], number: int = 15) -> list[float]:
    """Seconds of the first read after each of `number` new scores, each of which improves a team on page one."""
    ground_truth, chance = GroundTruth.objects.get(competition=competition, number=1), random.Random(11)
    first = list(Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC).order_by("sort_key")[:100])
    times = []
    for standing in chance.sample(first, number):
        improve(ground_truth, standing, chance.uniform(0.0, 0.01))
        competition.bump_board_version()
        begin = time.perf_counter()
        ask()
        times.append(time.perf_counter() - begin)
    return times


def improve(ground_truth: GroundTruth, standing: Standing, by: float) -> None:
    """Store a better file of a team, with its scores and standing."""
    now, value = datetime.now(UTC), min(1.0, standing.value + by)
    file = Submission.objects.create(
        competition=ground_truth.competition, team=standing.team, file_name="better.csv", file_key="none", size=1,
        sha256=f"{standing.team_id:064x}", received_at=now, upload_key=f"better-{standing.team_id}", status="scored",
        finished_at=now,
    )  # fmt: skip
    Score.objects.bulk_create(
        Score(submission=file, ground_truth=ground_truth, split=split, value=value) for split in Split
    )
    standings_module.update_standings([(file, ground_truth, value)])


def first_page_is_right(competition: Competition, body: bytes) -> bool:
    """Compare page one with ranks worked out from the scores alone."""
    best: dict[str, tuple[float, datetime]] = {}
    scores = Score.objects.filter(submission__competition=competition, split=Split.PUBLIC).values_list(
        "submission__team__name", "value", "submission__received_at"
    )
    for name, value, received in scores:
        best[name] = min(best.get(name, (1.0, received)), (-value, received)) if name in best else (-value, received)
    expected = sorted(best, key=lambda name: best[name])[:100]
    shown = re.findall(r"</i>([^<]+?)\s*<", body.decode().partition("<tbody>")[2])
    return shown == expected


def result(text: str, value: float, goal: float, *, is_least: bool, unit: str = "") -> None:
    is_reached = value >= goal if is_least else value <= goal
    sign = "≥" if is_least else "≤"
    print(f"  {text:<58} {value:9.2f}{unit}   goal {sign} {goal}{unit}   {'reached' if is_reached else 'MISSED'}")


@contextmanager
def served(interface: str, application: str, port: int = 8791) -> Iterator[str]:
    """A site through granian, one worker."""
    command = [sys.executable, "-m", "granian", "--interface", interface, "--port", str(port), "--workers", "1",
               "--log-level", "error", application]  # fmt: skip
    process = subprocess.Popen(command, cwd=Path(__file__).parent.parent, env=os.environ)
    try:
        for _ in range(300):
            time.sleep(0.1)
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def seconds_of_requests(site: str, path: str, number: int) -> list[float]:
    """Seconds of `number` requests over one connection, shortest first; twenty earlier ones warm it up."""
    link, times = http.client.HTTPConnection(site), []
    for _ in range(number + 20):
        begin = time.perf_counter()
        link.request("GET", path)
        answer = link.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        times.append(time.perf_counter() - begin)
    link.close()
    return sorted(times[20:])


def over_http(slug: str, number: int = 300) -> None:
    with served("wsgi", "bench.bare:application") as site:
        bare = seconds_of_requests(site, f"/bare/{slug}/", number)
    with served("asginl", "leaderboard.asgi:application") as site:
        ours = seconds_of_requests(site, f"/c/{slug}/leaderboard/", number)
    for name, times in (("ours", ours), ("bare", bare)):
        middle, slow = times[number // 2], times[int(number * 0.95)]
        print(f"  {name} through the started server: median {1000 * middle:.2f} ms, p95 {1000 * slow:.2f} ms")
    ratio = statistics.median(bare) / statistics.median(ours)
    result("requests through the started server against the bare view", ratio, 8, is_least=True, unit=" x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teams", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--http", action="store_true")
    given = parser.parse_args()
    call_command("migrate", verbosity=0)
    settings.ROOT_URLCONF = __name__
    ours = WSGIHandler()
    with override_settings(MIDDLEWARE=[]):
        plain = WSGIHandler()
    competitions = {teams: fill(teams, slug=f"of-{teams}") for teams in given.teams}
    gc.collect()
    gc.freeze()  # as `leaderboard/asgi.py` does before the first request
    pages = {teams: asking(ours, f"/c/{c.slug}/leaderboard/") for teams, c in competitions.items()}
    for teams, competition in competitions.items():
        page, reference = pages[teams], asking(plain, f"/bare/{competition.slug}/")
        print(f"{teams} teams, {teams * PER_TEAM} submissions")
        result("page of 100 rows", len(page()) / 1000, 60, is_least=False, unit=" kB")
        packed = asking(ours, f"/c/{competition.slug}/leaderboard/", HTTP_ACCEPT_ENCODING="gzip, br")
        result("the same compressed", len(packed()) / 1000, 8, is_least=False, unit=" kB")
        found = interleaved({"ours": page, "bare": reference}, rounds=given.rounds, number=40)
        (wall, _), (bare_wall, _) = found["ours"], found["bare"]
        print(f"  ours {1 / wall:.0f} requests/s ({1000 * wall:.2f} ms)")
        print(f"  bare {1 / bare_wall:.0f} requests/s ({1000 * bare_wall:.2f} ms)")
        result("requests per second against the bare view", bare_wall / wall, 10, is_least=True, unit=" x")
        firsts = first_reads(competition, page)
        middle = 1000 * statistics.median(firsts)
        result("first read after a new score, median", middle, 40, is_least=False, unit=" ms")
        print(f"    slowest of {len(firsts)}: {1000 * max(firsts):.1f} ms")
        board_cache.boards.clear()
        result("page one equals the rebuild (1 = yes)", first_page_is_right(competition, page()), 1, is_least=True)
    least, most = min(given.teams), max(given.teams)
    both = interleaved({"least": pages[least], "most": pages[most]}, rounds=given.rounds, number=60)
    share = both["most"][1] / both["least"][1]
    result(f"CPU per request, {most} teams against {least}", share, 1.2, is_least=False, unit=" x")
    if given.http:
        over_http(f"of-{most}")


if __name__ == "__main__":
    main()
