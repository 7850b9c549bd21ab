"""A file that takes far longer than usual leaves the queue: the files of others do not wait for it."""

from __future__ import annotations

import math
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions import tasks
from leaderboard.competitions.models import Competition, GroundTruth, Submission
from leaderboard.scoring import client as scorer_client
from leaderboard.scoring.scorer_answer import ScorerAnswer, ScoringLimits, TruthSpec
from leaderboard.submissions import outcomes, outside_queue, queue, queue_health, score, submitting
from leaderboard.submissions import tasks as submission_tasks
from tests.conftest import answers, claim, enter
from tests.scorer_in_process import score_here

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A file that ends with a blank line takes longer than the queue waits; the processes that a worker starts."""
    commands: list[str] = []

    def measure(ground_truth: TruthSpec, file: Path, limits: ScoringLimits, alone: bool = False) -> ScorerAnswer:
        if file.read_bytes().endswith(b"\n\n") and limits.file_seconds < math.inf:
            raise scorer_client.JobTimedOut
        return score_here(ground_truth, file, limits)

    monkeypatch.setattr(scorer_client, "score_file", measure)
    monkeypatch.setattr(submission_tasks, "run_command", lambda *command, **_: commands.append(command[0]))
    return commands


def submit(competition: Competition, user: User, *, slow: bool = False) -> Submission:
    data = answers() + (b"\n" if slow else b"")
    return submitting.submit_file(competition=competition, user=user, file_name="a.csv", chunks=[data])


def statuses(*submissions: Submission) -> list[str]:
    for one in submissions:
        one.refresh_from_db()
    return [one.status for one in submissions]


@pytest.mark.attack("files that take minutes to score, so that others wait")
def test_cys_file_does_not_wait_for_bos_slow_one_which_is_scored_beside(
    pets: Competition, bo: User, cy: User, started: list[str]
) -> None:
    enter(pets, bo), enter(pets, cy)
    slow, quick = submit(pets, bo, slow=True), submit(pets, cy)
    submission_tasks.score_next_submissions("x", 1)
    assert statuses(slow, quick) == ["pending", "scored"]
    assert (slow.is_slow, slow.tries, slow.deaths, slow.lease_until) == (True, 0, 0, None)
    assert started == ["score_slow_files"]
    outside_queue.score_slow_files()
    assert statuses(slow) == ["scored"]


@pytest.mark.attack("files that take minutes to score, so that others wait")
def test_the_sweep_starts_again_what_was_killed(pets: Competition, bo: User, started: list[str]) -> None:
    enter(pets, bo)
    slow = submit(pets, bo, slow=True)
    submission_tasks.score_next_submissions("x", 1)
    started.clear()
    tasks.sweep()
    assert started == ["score_slow_files"]
    Submission.objects.filter(pk=slow.pk).update(
        claim=uuid.uuid4(), lease_until=timezone.now() + timedelta(seconds=20), tries=1
    )
    tasks.sweep()
    assert started == ["score_slow_files"], "while one is measured no other is begun"
    Submission.objects.filter(pk=slow.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    tasks.sweep()
    assert started == 2 * ["score_slow_files"]


@pytest.mark.attack("files that take minutes to score, so that others wait")
def test_one_slow_file_is_measured_at_a_time_the_oldest_first(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    first, second = submit(pets, bo, slow=True), submit(pets, cy, slow=True)
    submission_tasks.score_next_submissions("x", 1)
    assert queue.next_slow_file() == first.pk
    assert claim(first.pk)
    assert queue.next_slow_file() is None
    Submission.objects.filter(pk=first.pk).update(claim=None, lease_until=None)
    outside_queue.score_slow_files()
    assert statuses(first, second) == ["scored", "scored"]


def test_the_first_file_of_a_competition_is_measured_against_the_perfect_one(pets: Competition) -> None:
    """Else a slow file that came first would say what is usual."""
    ground_truth = pets.ground_truth
    assert ground_truth is not None
    assert ground_truth.quickest_seconds is not None
    assert outcomes.seconds_in_queue(ground_truth) <= 8.0


def test_a_file_leaves_the_queue_after_twenty_times_what_the_quickest_took(pets: Competition, bo: User) -> None:
    ground_truth = pets.ground_truth
    assert ground_truth is not None
    for quickest, seconds in ((None, 8.0), (0.01, 2.0), (0.2, 4.0), (3.0, 8.0), (30.0, math.inf)):
        ground_truth.quickest_seconds = quickest
        assert outcomes.seconds_in_queue(ground_truth) == pytest.approx(seconds)
    enter(pets, bo)
    GroundTruth.objects.filter(pk=ground_truth.pk).update(quickest_seconds=1000.0)
    score.score_one(submit(pets, bo).pk)
    ground_truth.refresh_from_db()
    assert ground_truth.quickest_seconds is not None
    assert ground_truth.quickest_seconds < 1000


def test_slow_files_that_wait_for_each_other_are_not_called_overdue(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    measured, _ = submit(pets, bo, slow=True), submit(pets, cy, slow=True)
    submission_tasks.score_next_submissions("x", 1)
    long_ago = timezone.now() - timedelta(minutes=10)
    Submission.objects.update(received_at=long_ago)
    assert claim(measured.pk)
    assert queue_health.pending_files().oldest is None
