"""How long `check_consistency` takes on a big site, each promise next to its time.

    python -m bench.invariants [--submissions 50000] [--rows 200]

A temporary site gets classes of 500 teams whose files lie on the disk; a few real files are measured first, and what
they scored is what all copies of them have. The goal is a minute for 50,000 submissions.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import tempfile
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

FOLDER = tempfile.TemporaryDirectory(prefix="bench-invariants-")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
os.environ.setdefault("LOG_LEVEL", "ERROR")
if __name__ == "__main__":
    os.environ["VAR_DIR"] = FOLDER.name
    os.environ.pop("DATABASE_URL", None)

import django

django.setup()

from django.core.management import call_command

from leaderboard import scorer
from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, DailyAttempts, Membership, Score, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import standings
from leaderboard.competitions.scoring import score
from leaderboard.competitions.services import boards, competitions, launches, publishing, truth_drafts
from leaderboard.operations import consistency

GOAL = 60.0
TEAMS = 500
PER_DAY = 10
PATTERNS = 12


def table(answers: list[str]) -> bytes:
    return ("id,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(answers))).encode()


def competition_of(host: User, number: int, rows: int) -> Competition:
    now = datetime.now(UTC)
    competition = competitions.create_competition(
        user=host, slug=f"class-{number}", title=f"Class {number}", overview="Which is it?",
        opens_at=now - timedelta(days=400), closes_at=now + timedelta(days=3), daily_attempts=PER_DAY,
    )  # fmt: skip
    usage = ("Public", "Private")
    truth = "id,label,Usage\n" + "".join(f"{i},{'abc'[i % 3]},{usage[i % 2]}\n" for i in range(rows))
    truth_drafts.draft_truth(
        competition=competition, metric="accuracy", params={}, file_name="t.csv", chunks=[truth.encode()]
    )
    publishing.publish_draft(competition=competition, user=host)
    launches.launch_competition(competition=competition)
    return competition


def patterns(competition: Competition, rows: int, chance: random.Random) -> list[tuple[Path, str, int, float, float]]:
    """Files as competitors send them, measured: path, SHA-256, size, public and private score."""
    found = []
    for number in range(PATTERNS):
        answers = ["abc"[i % 3] if chance.random() < 0.4 + 0.04 * number else "d" for i in range(rows)]
        sent = boards.add_baseline(
            competition=competition, user=None, name=str(number), file_name="b.csv", chunks=[table(answers)]
        )
        score.score_submission(sent.pk)
        value = dict(Score.objects.filter(submission=sent).values_list("split", "value"))
        found.append((path_of(sent.file_key), sent.sha256, sent.size, value["public"], value["private"]))
    return found


def fill(competition: Competition, number: int, rows: int, chance: random.Random) -> None:
    """`number` scored submissions of 500 teams, each with a file of its own."""
    people = User.objects.bulk_create([User(username=f"{competition.slug}-{i}", password="!") for i in range(TEAMS)])
    teams = Team.objects.bulk_create([Team(competition=competition, name=p.username, captain=p) for p in people])
    Membership.objects.bulk_create(
        [Membership(team=t, competition=competition, user=p) for t, p in zip(teams, people, strict=True)]
    )
    known, now = patterns(competition, rows, chance), datetime.now(UTC)
    files, scores, days = [], [], Counter[tuple[int, date]]()
    for index in range(number):
        team, (source, sha256, size, public, private) = teams[index % TEAMS], chance.choice(known)
        round_ = index // TEAMS
        received = now - timedelta(days=1 + round_ // PER_DAY, seconds=index % TEAMS)
        key = f"submissions/{competition.pk}/{index % 256:02x}/{index}"
        path_of(key).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path_of(key))
        file = Submission(
            competition=competition, team=team, file_name="mine.csv", file_key=key, sha256=sha256, size=size,
            received_at=received, upload_key=str(index), status="scored", finished_at=received, tries=1,
        )  # fmt: skip
        days[team.pk, received.date()] += 1
        files.append(file)
        values = {Split.PUBLIC: public, Split.PRIVATE: private}
        scores += [
            Score(submission=file, ground_truth=competition.ground_truth, split=split, value=value)
            for split, value in values.items()
        ]
    Submission.objects.bulk_create(files, batch_size=2000)
    Score.objects.bulk_create(scores, batch_size=2000)
    DailyAttempts.objects.bulk_create(
        [DailyAttempts(team_id=team, day=day, used=used, limit=PER_DAY) for (team, day), used in days.items()]
    )
    assert competition.ground_truth is not None
    standings.rebuild_standings(competition.ground_truth)


def processor_seconds() -> float:
    """Of this process, and of those below it that have ended."""
    return sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=50_000)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    call_command("migrate", verbosity=0)
    chance = random.Random(given.seed)
    ada = User.objects.create_user("ada", can_host=True)
    for number in range(given.classes):
        competition = competition_of(ada, number, given.rows)
        fill(competition, given.submissions // given.classes, given.rows, chance)
    began, worked = time.monotonic(), processor_seconds()
    for result in consistency.run_checks(seed=given.seed):
        print(result.line)
        for example in result.examples:
            print(f"     {example}")
    scorer.close_scorer()  # what it did counts once it has ended
    took, worked = time.monotonic() - began, processor_seconds() - worked
    state = "reached" if took <= GOAL else "MISSED"
    files = f"{Submission.objects.count()} submissions in {took:.1f} s ({worked:.1f} s of a processor)"
    print(f"{files}   goal ≤ {GOAL:.0f} s for 50,000   {state}")


if __name__ == "__main__":
    main()
