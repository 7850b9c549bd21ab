"""A hundred thousand submissions that something happened to, each read by us and by the `csv` module.

    python -m bench.inputs [--files 100000] [--seed 1] [--processes 2]

Every file must be refused by both readings, or accepted by both with the same cells and the same scores. A crash, a
misreading, a good file that is refused and a message that tells a secret are printed with the seed that makes the file
again. Ends with 1 if there was any.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter

from tests.inputs.agreement import WORLDS, Disagreement, compare, one

PIECES = 1_000
SHOWN = 20


def verdicts_of(piece: tuple[int, int, int]) -> tuple[Counter[str], list[str]]:
    """What became of the files of a range of numbers, and what went wrong."""
    seed, start, stop = piece
    results: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(start, stop):
        name, data = one(f"{seed}-{number}")
        try:
            results[compare(WORLDS[name], data)] += 1
        except Disagreement as error:
            wrong.append(f"{seed}-{number}, {name}: {error}\n    {data!r}")
        except Exception as error:
            wrong.append(f"{seed}-{number}, {name}: crashed with {error!r}\n    {data!r}")
    return results, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    begun = time.perf_counter()
    results: Counter[str] = Counter()
    wrong: list[str] = []
    ranges = [(given.seed, at, min(at + PIECES, given.files)) for at in range(0, given.files, PIECES)]
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for some, faults in pool.imap_unordered(verdicts_of, ranges):
            results += some
            wrong += faults
    for fault in wrong[:SHOWN]:
        print(fault)
    for result, count in results.most_common():
        print(f"{result:24} {count:8,}")
    print(f"{given.files:,} files in {time.perf_counter() - begun:.0f} s: {len(wrong):,} read wrongly, goal 0")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
