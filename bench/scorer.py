"""One submission scored by the sealed processes and in this process, and good files among some that kill the scorer.

    .venv/bin/python -m bench.scorer [--times 60] [--rows 10000 100000 1000000] [--metric accuracy]

Both ways score the same file again and again, in turns, so that a busy machine slows both. By processes means: fork,
limit and seal a child, read and score in it, read its answer. Memory is the maximum of the scorer and all processes
below it; shared pages count once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from leaderboard.scoring import client
from leaderboard.scoring.scorer_answer import ScoringLimits, TruthSpec
from tests.scorer_in_process import score_here

LIMITS = ScoringLimits(seconds=120, memory_mb=3072)


def files(folder: Path, rows: int) -> tuple[Path, Path]:
    truth, sent = folder / f"truth-{rows}.csv", folder / f"sent-{rows}.csv"
    with truth.open("w") as file:
        file.write("id,label,Usage\n")
        file.writelines(f"row{i},{'abc'[i % 3]},{'Public' if i % 4 else 'Private'}\n" for i in range(rows))
    with sent.open("w") as file:
        file.write("id,label\n")
        file.writelines(f"row{i},{'abcab'[i % 5]}\n" for i in range(rows))
    return truth, sent


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def race(spec: TruthSpec, sent: Path, times: int) -> tuple[list[float], list[float]]:
    """Seconds in the sealed processes, and seconds in this process, each sorted."""
    there, here = [], []
    for n in range(times + 3):
        pair = (
            seconds(lambda: client.score_file(spec, sent, LIMITS)),
            seconds(lambda: score_here(spec, sent, LIMITS)),
        )
        if n >= 3:
            there.append(pair[0])
            here.append(pair[1])
    return sorted(there), sorted(here)


def processes_below(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
            found += [child, *processes_below(child)]
    return found


def proportional_mb(pids: list[int]) -> float:
    """Memory of processes in MB; a shared page is divided among those that share it."""
    total = 0
    for pid in pids:
        with suppress(OSError, IndexError):
            total += int(Path(f"/proc/{pid}/smaps_rollup").read_text().split("\nPss:")[1].split()[0])
    return total / 1024


def highest_mb(work: Callable[[], object]) -> float:
    """The maximum memory in MB of all processes below this one while `work` runs."""
    highest, is_over = 0.0, threading.Event()

    def look() -> None:
        nonlocal highest
        while not is_over.wait(0.002):
            highest = max(highest, proportional_mb(processes_below(os.getpid())))

    looker = threading.Thread(target=look)
    looker.start()
    work()
    is_over.set()
    looker.join()
    return highest


def compare(folder: Path, rows: int, metric: str, times: int) -> None:
    truth, sent = files(folder, rows)
    spec = TruthSpec(str(rows), metric, str(truth), {}, "id")
    first = seconds(lambda: client.score_file(spec, sent, LIMITS))
    there, here = race(spec, sent, times)
    ours, base = statistics.median(there), statistics.median(here)
    print(
        f"{rows:>9,} rows: by processes {ours * 1000:.1f} ms, in one process {base * 1000:.1f} ms, "
        f"ratio {ours / base:.2f}, {1000 * (ours - base):+.1f} ms (least {1000 * (there[0] - here[0]):+.1f} ms; "
        f"goal ≤ +15 ms at 10,000); with reading the truth {first * 1000:.0f} ms"
    )
    if rows >= 1_000_000:
        peak = highest_mb(lambda: client.score_file(spec, sent, LIMITS))
        print(f"           memory of the scorer at its highest {peak:.0f} MB (goal ≤ 400); goal < 3 s")


def poison(folder: Path, times: int) -> None:
    """The 95th percentile of good files alone, and with a file that kills the scorer before every fifth of them."""
    truth, sent = files(folder, 1000)
    bad = folder / "bad.csv"
    bad.write_text("id,label\ndie,\n")
    spec = TruthSpec("poison", "accuracy", str(truth), {}, "id")
    client.close_scorer()
    client._PROGRAM[:] = ["-m", "tests.scorer.hostile_scorer"]
    for _ in range(3):
        client.score_file(spec, sent, LIMITS)

    def kill_one() -> None:
        with suppress(client.ScorerDied):
            client.score_file(spec, bad, LIMITS)

    alone = sorted(seconds(lambda: client.score_file(spec, sent, LIMITS)) for _ in range(times))
    among = []
    for n in range(times):
        if n % 5 == 0:
            kill_one()
        among.append(seconds(lambda: client.score_file(spec, sent, LIMITS)))
    p95 = [sorted(found)[int(0.95 * times) - 1] for found in (alone, among)]
    print(
        f"poison among good files: p95 {p95[1] * 1000:.1f} ms, alone {p95[0] * 1000:.1f} ms, "
        f"ratio {p95[1] / p95[0]:.2f} (goal < 2); a death {seconds(kill_one) * 1000:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--metric", default="accuracy")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in options.rows:
            compare(folder, rows, options.metric, options.times if rows < 1_000_000 else 5)
        poison(folder, options.times)
    client.close_scorer()


if __name__ == "__main__":
    main()
