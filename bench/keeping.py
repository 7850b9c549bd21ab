"""Backing up and restoring a site with many submissions, each figure next to its goal.

    python -m bench.keeping [--submissions 10000] [--rows 1000]

A site of its own is filled: one truth, 100 teams, files of so many rows, their scores and boards. Then `backup` runs as
a command, everything is wiped, and `restore` runs as a command with all of its checks. Afterwards the board must be the
same to the byte, and every file must have the hash of its row.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

GOAL = 180.0
TEAMS = 100
ROOT = Path(__file__).resolve().parent.parent


def fill(submissions: int, rows: int) -> None:
    """Rows are written in bulk, as the scorer would have; the files are real."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from leaderboard.accounts.models import User
    from leaderboard.boards import standings
    from leaderboard.common.storage import store_file
    from leaderboard.competitions import services as competitions
    from leaderboard.competitions.models import Membership, Score, Submission, Team
    from leaderboard.competitions.models.competition import Split
    from leaderboard.ground_truths.services import drafts, publishing
    from leaderboard.ground_truths.specs import GroundTruthSpec

    call_command("migrate", verbosity=0)
    now = timezone.now()
    ada = User.objects.create_user("ada", "ada@example.org", None, can_host=True)
    pets = competitions.create_competition(
        user=ada, slug="pets", title="Cats or dogs", overview="Which?", opens_at=now - timedelta(days=9),
        closes_at=now + timedelta(days=9),
    )  # fmt: skip
    truth = "id,label,Usage\n" + "".join(f"{i},{i % 3},{'Public' if i % 2 else 'Private'}\n" for i in range(rows))
    drafts.save_draft(
        competition=pets, spec=GroundTruthSpec(metric="accuracy", file_name="t.csv", chunks=[truth.encode()])
    )
    ground_truth = publishing.publish_draft(competition=pets, user=ada)
    publishing.launch_competition(competition=pets)
    people = User.objects.bulk_create(User(username=f"p{i}", email=f"p{i}@example.org") for i in range(TEAMS))
    teams = Team.objects.bulk_create(Team(competition=pets, name=user.username) for user in people)
    pairs = list(zip(teams, people, strict=True))
    Membership.objects.bulk_create(Membership(team=team, competition=pets, user=user) for team, user in pairs)
    made = []
    for number in range(submissions):
        team, user = pairs[number % TEAMS]
        data = "id,label\n" + "".join(f"{i},{(i * number) % 3}\n" for i in range(rows))
        stored = store_file([data.encode()], f"submissions/{pets.pk}")
        made.append(
            Submission(
                competition=pets, team=team, user=user, file_name="s.csv", file_key=stored.key, sha256=stored.sha256,
                size=stored.size, received_at=now - timedelta(seconds=submissions - number), upload_key=str(number),
                status="scored", finished_at=now,
            )
        )  # fmt: skip
    Submission.objects.bulk_create(made, batch_size=500)
    Score.objects.bulk_create(
        (
            Score(
                submission=submission, ground_truth=ground_truth, split=split, value=(number % 997) / 997,
                metric_version=ground_truth.metric_version,
            )
            for number, submission in enumerate(made)
            for split in Split
        ),
        batch_size=500,
    )  # fmt: skip
    standings.rebuild_standings(ground_truth)


def look() -> None:
    """The board, and the number of files whose bytes are those of their rows."""
    import django

    django.setup()
    from leaderboard.boards import board_table
    from leaderboard.common.storage import path_of
    from leaderboard.competitions.models import Competition, Submission
    from leaderboard.competitions.models.competition import Split

    whole = sum(
        hashlib.sha256(path_of(key).read_bytes()).hexdigest() == sha256
        for key, sha256 in Submission.objects.values_list("file_key", "sha256")
    )
    print(whole, board_table.board_csv(Competition.objects.get(), Split.PUBLIC))


def command(var: Path, *arguments: str) -> tuple[float, str]:
    """Run a command with the site in `var`; seconds, and what it printed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "METRICS_DIR")}
    environment |= {"VAR_DIR": str(var), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    begun = time.monotonic()
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"{arguments} failed: {done.stdout}")
    return time.monotonic() - begun, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--part", choices=("fill", "look"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        fill(given.submissions, given.rows) if given.part == "fill" else look()
        return 0
    with tempfile.TemporaryDirectory(prefix="bench-keeping-") as name:
        var, folder = Path(name) / "var", Path(name) / "backup"
        size = [f"--submissions={given.submissions}", f"--rows={given.rows}"]
        filled, _ = command(var, "-m", "bench.keeping", "--part=fill", *size)
        _, before = command(var, "-m", "bench.keeping", "--part=look")
        print(f"filled in {filled:.1f} s: {given.submissions:,} submissions of {given.rows:,} rows", flush=True)
        saved, words = command(var, "manage.py", "backup", str(folder))
        print(words.strip())
        shutil.rmtree(var)
        restored, words = command(var, "manage.py", "restore", str(folder))
        print(words.strip())
        _, after = command(var, "-m", "bench.keeping", "--part=look")
        is_same = before == after and before.startswith(f"{given.submissions} ")
        print(f"backup   {saved:7.1f} s")
        print(f"restore  {restored:7.1f} s   goal: under {GOAL:.0f} s   {'reached' if restored < GOAL else 'MISSED'}")
        print(f"board and files {'equal to the byte' if is_same else 'DIFFER'}")
        return 0 if is_same and restored < GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
