"""Upload over HTTP → score visible, and a burst of uploads: this site beside the plain one (`bench/plain.py`).

    .venv/bin/python -m bench.flow [--uploads 100] [--burst 400] [--teams 20]

Latency: one student after another uploads and asks until the score is there. Burst: twenty teams upload at once; the
rate is counted from the first upload to the last score, with one worker. The processor time is that of all processes
of the site, divided by the files of the burst; the client is not in it, but shares the machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.running_site import until

from . import sites
from .figures import Report, in_seconds, share

TEAMS = 20
LEAST_RATE, MOST_PROCESSOR_MS, MOST_LATENCY = 0.8, 16.0, 2.0


@dataclass
class Measured:
    """Seconds until a score is visible per competition, and of the burst files per second and, for each part of the
    site, milliseconds of a processor per file."""

    name: str
    visible: dict[str, list[float]]
    per_second: float
    processor_ms: dict[str, float]

    @property
    def all_ms(self) -> float:
        return sum(self.processor_ms.values())

    @property
    def parts(self) -> str:
        return ", ".join(f"{name} {ms:.1f}" for name, ms in self.processor_ms.items())


def submission(rows: int) -> bytes:
    return ("id,label\n" + "".join(f"row{i},{'abcab'[i % 5]}\n" for i in range(rows))).encode()


def seconds_to_score(site: sites.MeasuredSite, slug: str, student: int, data: bytes) -> float:
    begun = time.perf_counter()
    submission_id = site.upload(slug, student, data)
    until(lambda: site.is_over(submission_id, student), every=0.005, what="the score")
    return time.perf_counter() - begun


def latency(site: sites.MeasuredSite, slug: str, rows: int, uploads: int, teams: int) -> list[float]:
    data = submission(rows)
    for _ in range(3):
        seconds_to_score(site, slug, 0, data)
    return [seconds_to_score(site, slug, n % teams, data) for n in range(uploads)]


def burst(site: sites.MeasuredSite, uploads: int, teams: int) -> tuple[float, dict[str, float]]:
    """Files scored per second, and milliseconds of a processor per file in each part of the site."""
    data, used = submission(1000), site.processor_seconds()
    begun = time.perf_counter()
    with ThreadPoolExecutor(teams) as pool:
        list(pool.map(lambda n: site.upload("small", n % teams, data), range(uploads)))
    until(lambda: not site.waiting(), seconds=120, every=0.1, what="all scores")
    taken = time.perf_counter() - begun
    now = site.processor_seconds()
    return uploads / taken, {part: 1000 * (now[part] - used[part]) / uploads for part in now}


def measure(site: sites.MeasuredSite, uploads: int, files: int, teams: int) -> Measured:
    visible = {
        "small": latency(site, "small", 1000, uploads, teams),
        "large": latency(site, "large", 100_000, max(20, uploads // 3), teams),
    }
    return Measured(site.name, visible, *burst(site, files, teams))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=100)
    parser.add_argument("--burst", type=int, default=400)
    parser.add_argument("--teams", type=int, default=TEAMS)
    options = parser.parse_args()
    given = (options.uploads, options.burst, options.teams)
    report = Report()
    report.print_machine()
    with sites.plain() as other:
        plain = measure(other, *given)
    with tempfile.TemporaryDirectory() as folder, sites.leaderboard(options.teams, Path(folder)) as site:
        ours = measure(site, *given)
    for slug, rows in (("small", "1,000"), ("large", "100,000")):
        mine, theirs = ours.visible[slug], plain.visible[slug]
        report.print_figure(f"{rows} rows: upload → score visible", in_seconds(mine), plain=in_seconds(theirs))
        ratio = share(mine, 0.95) / share(theirs, 0.95)
        if slug == "small":
            report.most("  ratio of p95", ratio, MOST_LATENCY, unit="×")
        else:
            report.print_figure("  ratio of p95", f"{ratio:.2f} ×")
    what = f"burst of {options.burst} by {options.teams} teams, one worker"
    report.print_figure(what, f"{ours.per_second:.0f} scored a second", plain=f"{plain.per_second:.0f}")
    report.least("  ratio of scored a second", ours.per_second / plain.per_second, LEAST_RATE, unit="×")
    report.print_figure("processor time per file by part", f"{ours.parts} ms", plain=f"{plain.parts} ms")
    report.most("  together", ours.all_ms, MOST_PROCESSOR_MS, unit="ms", plain=f"{plain.all_ms:.1f} ms")
    report.print_machine()
    raise SystemExit(bool(report.missed))


if __name__ == "__main__":
    main()
