"""How long files wait behind slow files of others, with one worker: ``python -m bench.slow_files [--slow 3]``.

Teams hand in files that take many seconds each; one student after another then hands in a file of a tenth of a second
and reads it until it has its score. Printed are the waits of these students next to the goal.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from tests.site import Site, running_site, until

ROWS, LENGTH = 40, 60_000
SET_UP = """
import random
from leaderboard.accounts.models import ApiToken
from tests.conftest import enter, make_competition, person
ada = person("ada", can_host=True)
dice = random.Random(1)
truth = "id,text,Usage\\n" + "".join(
    f"{{i}},{{''.join(dice.choices('abcdefgh', k={length}))}},{{'Public' if i % 2 else 'Private'}}\\n"
    for i in range({rows}))
competition = make_competition(ada, slug="texts", truth=truth, metric="levenshtein", daily_attempts=1000)
for n in range(12):
    user = person(f"student{{n}}")
    enter(competition, user)
    print(ApiToken.issue(user, "bench")[1])
"""


def texts(length: int, seed: int) -> bytes:
    dice = random.Random(seed)
    return ("id,text\n" + "".join(f"{i},{''.join(dice.choices('abcdefgh', k=length))}\n" for i in range(ROWS))).encode()


def status(site: Site, submission: object, token: str) -> str:
    return str(json.loads(site.get(f"/api/v1/submissions/{submission}", token)[1])["status"])


def wait(site: Site, token: str, data: bytes) -> float:
    begun = time.perf_counter()
    code, answer = site.upload("texts", token, data)
    assert code == 201, answer
    until(lambda: status(site, answer["id"], token) == "scored", seconds=300, every=0.05, what="the score")
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slow", type=int, default=3, help="teams that hand in slow files")
    parser.add_argument("--quick", type=int, default=20, help="files of others")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_site(Path(folder) / "var") as site:
        tokens = site.shell(SET_UP.format(rows=ROWS, length=LENGTH)).splitlines()
        others, hostile = tokens[: -options.slow], tokens[-options.slow :]
        alone = statistics.median(wait(site, others[n % len(others)], texts(5, n)) for n in range(5))
        slow = [site.upload("texts", token, texts(LENGTH, n))[1]["id"] for n, token in enumerate(hostile)]
        found = sorted(wait(site, others[n % len(others)], texts(5, 100 + n)) for n in range(options.quick))
        p95 = found[int(0.95 * len(found)) - 1]
        print(
            f"{options.slow} slow files, one worker: others wait p50 {statistics.median(found):.1f} s, "
            f"p95 {p95:.1f} s, at most {found[-1]:.1f} s (goal p95 < 10 s); alone {alone:.1f} s"
        )
        begun = time.perf_counter()
        pairs = list(zip(slow, hostile, strict=True))
        until(lambda: all(status(site, one, token) == "scored" for one, token in pairs), seconds=600, every=1.0)
        print(f"the slow files had their scores {time.perf_counter() - begun:.0f} s later")


if __name__ == "__main__":
    main()
