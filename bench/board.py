"""A competition with many teams, for the benches of pages and of load."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import numpy as np

from leaderboard.accounts.models import User
from leaderboard.competitions.models import (
    Competition,
    GroundTruth,
    Membership,
    Score,
    Standing,
    Submission,
    Team,
    Uncertainty,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import standings as standings_module
from leaderboard.competitions.services import competitions as competitions_services

PER_TEAM = 20


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
        [Team(competition=competition, name=f"Team {i:05d} of {slug}", captain=p) for i, p in enumerate(people)]
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
                scores.append(Score(submission=file, ground_truth=ground_truth, split=split, value=value))
    Submission.objects.bulk_create(files, batch_size=2000)
    Score.objects.bulk_create(scores, batch_size=2000)
    standings_module.rebuild_standings(GroundTruth.objects.get(pk=ground_truth.pk))
    add_uncertainties(ground_truth, seed)
    return Competition.objects.get(pk=competition.pk)


def add_uncertainties(ground_truth: GroundTruth, seed: int) -> None:
    """Doubts of the scores that stand on the board: nobody reads the others'."""
    chance = np.random.default_rng(seed)
    stands = Standing.objects.filter(ground_truth=ground_truth).values("submission")
    for scores in batched(
        Score.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC, submission__in=stands), 500
    ):
        Uncertainty.objects.bulk_create(
            Uncertainty(
                score=score,
                standard_error=0.02,
                low=score.value - 0.04,
                high=score.value + 0.04,
                replicates=(score.value + chance.normal(0, 0.02, 200)).astype("<f8").tobytes(),
            )
            for score in scores
        )


def batched(found: Iterable[Score], size: int) -> Iterator[list[Score]]:
    rows = iter(found)
    while batch := list(islice(rows, size)):
        yield batch
