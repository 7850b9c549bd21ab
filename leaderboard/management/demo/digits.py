"""“Digits: read the handwriting”: a finished competition of a whole class on scikit-learn's own images."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from django.db import transaction
from django.utils import timezone

from leaderboard import hosting
from leaderboard.models import Competition, DailyAttempts, Membership, Submission, Team, User
from leaderboard.storage import store

from .classroom import Digits, Try, answer_file, predict, tries
from .common import add_baselines, add_files, demo_user, draft, table
from .people import TEAMS

SLUG = "digits"
TRAINING = 897

OVERVIEW = """
# Which digit is it?

Each row is a handwritten digit, scanned at 8 × 8 pixels: 64 grey values from 0 (paper) to 16 (ink), from the upper left
corner to the lower right. Say for each test image which digit from 0 to 9 it shows. The score is the share of images
that you read correctly.

The images come with scikit-learn (`load_digits`, from the UCI set “Optical Recognition of Handwritten Digits”).

# How it went

24 teams of one class, three weeks, models from a decision tree of depth three to support-vector machines. The deadline
has passed and the private board is open: see who rose, who fell, and why. Between the first ten teams lie a few images.
"""


def images() -> tuple[Digits, list[int]]:
    """The images in a fixed random order, and the answers for the test part."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = list(range(len(found.target)))
    random.Random(1797).shuffle(order)  # noqa: S311
    pixels, labels = found.data[order], found.target[order]
    test_ids = tuple(f"digit_{number:04}" for number in range(TRAINING + 1, len(order) + 1))
    digits = Digits(pixels[:TRAINING], labels[:TRAINING], pixels[TRAINING:], test_ids)
    return digits, [int(value) for value in labels[TRAINING:]]


def build(teams: int) -> Competition:
    """The whole competition; `teams` of the 24 take part."""
    digits, answers = images()
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    opens_at, closes_at = now - timedelta(days=23), now - timedelta(days=2)
    chosen = dict(islice(TEAMS.items(), teams))
    handed_in = [
        each for team, members in chosen.items() for each in tries(team, len(members), digits, opens_at, closes_at)
    ]
    competition = draft(
        slug=SLUG,
        title="Digits: read the handwriting",
        subtitle="A class of 24 teams, three weeks, and what the private board made of it.",
        overview=OVERVIEW.strip(),
        opens_at=opens_at,
        closes_at=now + timedelta(days=1),
        truth=answer_file(digits, answers),
        metric="accuracy",
        params={},
        public_share=0.3,
        seed=64,
    )
    add_files(competition, _data_files(digits))
    add_baselines(competition, _baselines(digits))
    with transaction.atomic():
        _enrol(competition, chosen, opens_at)
        _receive(competition, handed_in)
    hosting.launch(competition=competition)
    Competition.objects.filter(pk=competition.pk).update(launched_at=opens_at, closes_at=closes_at)
    competition.refresh_from_db()
    return competition


def _data_files(digits: Digits) -> dict[str, tuple[str, bytes]]:
    pixels = [f"pixel_{number:02}" for number in range(64)]
    training = (
        (f"digit_{number:04}", int(label), *(int(value) for value in row))
        for number, (row, label) in enumerate(zip(digits.train, digits.labels, strict=True), start=1)
    )
    test = ((name, *(int(value) for value in row)) for name, row in zip(digits.test_ids, digits.test, strict=True))
    return {
        "train.csv": ("Images with their digit.", table(["id", "digit", *pixels], training)),
        "test.csv": ("Images to read.", table(["id", *pixels], test)),
    }


def _baselines(digits: Digits) -> dict[str, bytes]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import NearestCentroid

    everything = len(digits.labels)
    return {
        "always 3": answer_file(digits, [3] * len(digits.test_ids)),
        "nearest average image": answer_file(digits, predict(NearestCentroid(), digits, everything, 0)),
        "logistic regression": answer_file(
            digits, predict(LogisticRegression(C=0.01, max_iter=200), digits, everything, 0)
        ),
    }


def _enrol(competition: Competition, teams: dict[str, tuple[str, ...]], opens_at: datetime) -> None:
    for name, members in teams.items():
        users: list[User] = [demo_user(member) for member in members]
        team = Team.objects.create(competition=competition, name=name, captain=users[0])
        Membership.objects.bulk_create(
            Membership(
                team=team,
                competition=competition,
                user=user,
                rules_version=competition.rules_version,
                rules_accepted_at=opens_at,
                joined_at=opens_at,
            )
            for user in users
        )


def _receive(competition: Competition, handed_in: Iterable[Try]) -> None:
    """Store files as they were received in the past: `submitting` knows only the present."""
    teams = {team.name: team for team in competition.teams.prefetch_related("memberships")}
    used: list[tuple[int, date]] = []
    for each in handed_in:
        team = teams[each.team]
        stored = store([each.data], f"submissions/{competition.pk}")
        Submission.objects.create(
            competition=competition,
            team=team,
            user_id=list(team.memberships.all())[each.member].user_id,
            note=each.note,
            file_name=each.file_name,
            file_key=stored.key,
            sha256=stored.sha256,
            size=stored.size,
            received_at=each.received_at,
            upload_key=f"demo:{team.pk}:{each.file_name}",
            is_selected=each.is_selected,
        )
        used.append((team.pk, each.received_at.astimezone(UTC).date()))
    # The worker gives the attempts of invalid files back, as it does for any file.
    DailyAttempts.create_for(used, competition.daily_attempts)
