"""Upload over HTTP → score visible, and a burst of uploads: this site beside the plain one (`bench/plain.py`).

    .venv/bin/python -m bench.flow [--uploads 100] [--burst 400]

Latency: one student after another uploads and asks until the score is there. Burst: eight students upload at once; the
rate is counted from the first upload to the last score, with one worker. The processor time is that of all processes
of the site, divided by the files of the burst; the client is not in it, but shares the machine.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.site import until

from . import sites

STUDENTS = 8


@dataclass
class Measured:
    """Seconds until a score is visible per competition, and of the burst files per second and seconds per file."""

    name: str
    visible: dict[str, list[float]]
    per_second: float
    processor: float


def p95(seconds: list[float]) -> float:
    return sorted(seconds)[int(0.95 * len(seconds)) - 1]


def in_ms(seconds: list[float]) -> str:
    return f"p50 {1000 * statistics.median(seconds):.0f} ms, p95 {1000 * p95(seconds):.0f} ms"


def submission(rows: int) -> bytes:
    return ("id,label\n" + "".join(f"row{i},{'abcab'[i % 5]}\n" for i in range(rows))).encode()


def seconds_to_score(site: sites.MeasuredSite, slug: str, student: int, data: bytes) -> float:
    begun = time.perf_counter()
    submission_id = site.upload(slug, student, data)
    until(lambda: site.is_over(submission_id, student), every=0.005, what="the score")
    return time.perf_counter() - begun


def latency(site: sites.MeasuredSite, slug: str, rows: int, uploads: int) -> list[float]:
    data = submission(rows)
    for _ in range(3):
        seconds_to_score(site, slug, 0, data)
    return [seconds_to_score(site, slug, n % STUDENTS, data) for n in range(uploads)]


def burst(site: sites.MeasuredSite, uploads: int) -> tuple[float, float]:
    """(files scored per second, seconds of processor time per file)."""
    data, used = submission(1000), site.processor_seconds()
    begun = time.perf_counter()
    with ThreadPoolExecutor(STUDENTS) as pool:
        list(pool.map(lambda n: site.upload("small", n % STUDENTS, data), range(uploads)))
    until(lambda: not site.waiting(), seconds=120, every=0.1, what="all scores")
    taken = time.perf_counter() - begun
    return uploads / taken, (site.processor_seconds() - used) / uploads


def measure(site: sites.MeasuredSite, uploads: int, files: int) -> Measured:
    visible = {
        "small": latency(site, "small", 1000, uploads),
        "large": latency(site, "large", 100_000, max(20, uploads // 3)),
    }
    return Measured(site.name, visible, *burst(site, files))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=100)
    parser.add_argument("--burst", type=int, default=400)
    options = parser.parse_args()
    with sites.plain() as site:
        plain = measure(site, options.uploads, options.burst)
    with tempfile.TemporaryDirectory() as folder, sites.leaderboard(STUDENTS, Path(folder)) as site:
        ours = measure(site, options.uploads, options.burst)
    for slug, rows in (("small", "1,000"), ("large", "100,000")):
        print(
            f"{rows:>7} rows: upload → score visible {in_ms(ours.visible[slug])}; plain {in_ms(plain.visible[slug])}; "
            f"ratio of p95 {p95(ours.visible[slug]) / p95(plain.visible[slug]):.2f} (goal ≤ 1.5)"
        )
    print(
        f"burst of {options.burst}, one worker: {ours.per_second:.0f} scored per second, plain {plain.per_second:.0f}; "
        f"ratio {ours.per_second / plain.per_second:.2f} (goal ≥ 1.2, and ≥ 75 per second)"
    )
    print(
        f"processor time of all processes per file: {ours.processor * 1000:.1f} ms, plain "
        f"{plain.processor * 1000:.1f} ms (goal ≤ 13 ms)"
    )


if __name__ == "__main__":
    main()
