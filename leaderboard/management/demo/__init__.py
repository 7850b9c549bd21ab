"""Three competitions to look at, made by code: one live, one finished, one that opens next week.

Everything is marked: competitions by `is_demo`, people by an address in `demo.invalid`. Nobody of them can sign in.
A competition is launched last, so one that is not launched was interrupted and is made again.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from leaderboard import hosting, ranking, scoring, tasks
from leaderboard.models import Competition, Submission, User

from . import bikes, digits, plants
from .common import EMAIL_DOMAIN

Say = Callable[[str], None]


def make(*, teams: int, say: Say) -> list[Competition]:
    """Make what is missing and queue its files; gives the competitions that were made."""
    made = []
    for slug, build in (
        (plants.SLUG, plants.build),
        (bikes.SLUG, bikes.build),
        (digits.SLUG, lambda: digits.build(teams)),
    ):
        if _is_wanted(slug, say):
            competition = build()
            say(f"Made “{competition}”.")
            made.append(competition)
    if made:
        tasks.ring(tasks.sweep)
    return made


def score_here() -> int:
    """Measure what waits in the demo competitions in this process, and reveal what is due."""
    waiting = Submission.objects.filter(competition__is_demo=True, status=Submission.Status.PENDING)
    keys = list(waiting.order_by("received_at").values_list("pk", flat=True))
    for key in keys:
        scoring.score(key)
    for competition in Competition.objects.filter(is_demo=True, slug=digits.SLUG, revealed_at=None):
        ranking.reveal(competition, competition.closes_at)
    return len(keys)


def remove() -> int:
    """Delete everything that a demo ever made; gives the number of competitions."""
    competitions = list(Competition.objects.filter(is_demo=True))
    for competition in competitions:
        hosting.remove(competition=competition)
    User.objects.filter(email__endswith=f"@{EMAIL_DOMAIN}").delete()
    return len(competitions)


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other process makes or removes the demo; it would take our half for an interrupted one."""
    folder = Path(settings.FILES_DIR).parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "demo.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_wanted(slug: str, say: Say) -> bool:
    existing = Competition.objects.filter(slug=slug).first()
    if existing is None:
        return True
    if existing.is_demo and existing.launched_at is None:
        hosting.remove(competition=existing)
        return True
    say(f"“{existing}” is there already.")
    return False
