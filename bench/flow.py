"""Upload over HTTP → score visible, and a burst of uploads, on a whole site started by `manage.py up`.

    .venv/bin/python -m bench.flow [--uploads 100] [--burst 200]

Latency: one student after another uploads through the API and reads the submission until it is final. Baseline of the
same run: the time of the same upload and reads against the same server, without the wait for the score. Burst: eight
students upload at once; the rate is counted from the first receipt to the last finish by the database's own times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.site import Site, running_site, until

SET_UP = """
from leaderboard.accounts.models import ApiToken
from leaderboard.competitions.models import Competition
from tests.conftest import enter, make_competition, person
ada = person("ada", can_host=True)
for slug, rows in (("small", 1000), ("large", 100_000)):
    truth = "id,label,Usage\\n" + "".join(
        f"row{i},{'abc'[i % 3]},{'Public' if i % 4 else 'Private'}\\n" for i in range(rows))
    make_competition(ada, slug=slug, truth=truth, daily_attempts=1000)
for n in range(8):
    user = person(f"student{n}")
    for competition in Competition.objects.all():
        enter(competition, user)
    print(ApiToken.issue(user, "bench")[1])
"""


def submission(rows: int) -> bytes:
    return ("id,label\n" + "".join(f"row{i},{'abcab'[i % 5]}\n" for i in range(rows))).encode()


def seconds_to_score(site: Site, slug: str, token: str, data: bytes) -> tuple[float, float]:
    """(until the score could be read, until the upload was answered)."""
    begun = time.perf_counter()
    status, answer = site.upload(slug, token, data)
    assert status == 201, answer
    answered = time.perf_counter()

    until(lambda: _status(site, answer["id"], token) == "scored", every=0.005, what="the score")
    return time.perf_counter() - begun, answered - begun


def _status(site: Site, submission_id: object, token: str) -> str:
    return str(json.loads(site.get(f"/api/v1/submissions/{submission_id}", token)[1])["status"])


def latency(site: Site, slug: str, rows: int, tokens: list[str], uploads: int, goal: float) -> None:
    data = submission(rows)
    for _ in range(3):
        seconds_to_score(site, slug, tokens[0], data)
    measured = [seconds_to_score(site, slug, tokens[n % len(tokens)], data) for n in range(uploads)]
    visible = sorted(total for total, _ in measured)
    p95 = visible[int(0.95 * len(visible)) - 1]
    answered = statistics.median(answer for _, answer in measured)
    print(
        f"{rows:>7} rows: upload → score visible p50 {statistics.median(visible) * 1000:.0f} ms, "
        f"p95 {p95 * 1000:.0f} ms (goal ≤ {goal * 1000:.0f} ms); baseline, upload answered: {answered * 1000:.0f} ms; "
        f"ratio {statistics.median(visible) / answered:.2f}"
    )


def burst(site: Site, tokens: list[str], uploads: int) -> None:
    data = submission(1000)
    with ThreadPoolExecutor(len(tokens)) as pool:
        begun = time.perf_counter()
        answers = list(pool.map(lambda n: site.upload("small", tokens[n % len(tokens)], data), range(uploads)))
        uploaded = time.perf_counter() - begun
    assert all(status == 201 for status, _ in answers)
    ids = json.dumps([answer["id"] for _, answer in answers])
    code = (
        "import json\nfrom leaderboard.competitions.models import Submission\n"
        f"rows = list(Submission.objects.filter(pk__in={ids}).values_list('status', 'received_at', 'finished_at'))\n"
        "done = [r for r in rows if r[0] == 'scored']\n"
        "print(len(done), (max(r[2] for r in done) - min(r[1] for r in done)).total_seconds() if done else 0)"
    )
    # Asked of the site and seldom: whoever starts a process for each look takes a processor from the scoring.
    waiting = [(answer["id"], tokens[n % len(tokens)]) for n, (_, answer) in enumerate(answers)]

    def all_final() -> bool:
        while waiting and _status(site, *waiting[-1]) != "pending":
            waiting.pop()
        return not waiting

    until(all_final, seconds=60, every=0.2, what="all scores")
    scored, taken = site.shell(code).split()
    print(
        f"burst: {scored} of {uploads} scored, {int(scored) / float(taken):.0f} per second, one worker (goal ≥ 40); "
        f"baseline, uploads alone: {uploads / uploaded:.0f} per second"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=100)
    parser.add_argument("--burst", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_site(Path(folder) / "var") as site:
        tokens = site.shell(SET_UP).splitlines()
        latency(site, "small", 1000, tokens, options.uploads, 0.3)
        latency(site, "large", 100_000, tokens, max(20, options.uploads // 3), 0.5)
        burst(site, tokens, options.burst)


if __name__ == "__main__":
    main()
