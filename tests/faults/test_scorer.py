"""Faults of what reads the files, with the real processes: files that die, hang or eat, and a lease that is lost."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings

from leaderboard.accounts.models import User
from leaderboard.common.claims import Claim
from leaderboard.competitions.models import Competition, DailyAttempts, Submission
from leaderboard.notifications.models import Notice
from leaderboard.scoring import client
from leaderboard.submissions import claims, outside_queue, score, submitting
from leaderboard.submissions import tasks as submission_tasks
from tests.conftest import answers, broken_promises, enter, make_competition, submissions_in_turn
from tests.processes import below
from tests.running_site import patience, until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("hostile_scorer", "woken_for")]


@pytest.fixture
def alone() -> None:
    """Whoever keeps the ground truths of earlier tests ends; PostgreSQL never gives the number of a ground truth
    twice."""
    client.close_scorer()


@pytest.fixture
def pets(ada: User, bo: User, cy: User) -> Competition:
    competition = make_competition(ada, daily_attempts=50)
    enter(competition, bo), enter(competition, cy)
    return competition


def upload(competition: Competition, user: User, word: str = "") -> Submission:
    data = f"id,label\n{word},\n".encode() if word else answers()
    return submitting.submit_file(competition=competition, user=user, file_name="a.csv", chunks=[data])


def again(submission: Submission) -> Submission:
    submission.refresh_from_db()
    return submission


def checks_hold() -> None:
    assert broken_promises() == []


@pytest.mark.fault(1)
def test_01_a_scorer_that_is_killed_is_rung_for_at_once_and_this_process_lives(
    pets: Competition, bo: User, woken_for: list[str]
) -> None:
    submission = upload(pets, bo, "die")
    begun = time.monotonic()
    submission_tasks.score_next_submissions(str(submission.pk), pets.ground_truth_id)
    assert time.monotonic() - begun < 4 * patience(), "the goal is 2 s on a quiet machine"
    assert (again(submission).status, submission.tries, submission.deaths) == ("pending", 1, 1)
    assert submission.lease_until is None
    assert woken_for[-1] == str(submission.pk)


@pytest.mark.fault(5)
def test_05_whoever_loses_the_lease_ends_its_child_and_writes_nothing(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.common.claims.LEASE", timedelta(seconds=0.6))
    monkeypatch.setattr(claims, "on_lease_lost", client.stop_scorer)
    # It is lost once the file is in work.
    monkeypatch.setattr(Claim, "extend", lambda _: not below(client._running[0].process.pid))
    submission = upload(pets, bo, "sleep")
    assert score.score_one(submission.pk) == "busy"
    root = client._running[0].process
    assert root.poll() is not None or until(lambda: root.poll() is not None, seconds=5)
    assert again(submission).status == "pending"
    assert submission.deaths == 0


@pytest.mark.parametrize("word", ["spin", "ponder", "sleep"])
@pytest.mark.fault(23, 24, 25)
def test_23_24_25_a_file_that_never_ends_is_stopped_at_its_time_and_not_tried_again(
    pets: Competition, bo: User, settings: LazySettings, word: str
) -> None:
    """In Python, in C, and without the processor."""
    assert score.score_one(upload(pets, bo).pk) == "scored"
    settings.SCORING_TIME_LIMIT = 1
    submission = upload(pets, bo, word)
    begun = time.monotonic()
    assert score.score_one(submission.pk) == "failed"
    assert time.monotonic() - begun < 5 * patience()
    assert again(submission).failure.startswith("Scoring took longer than 1 s.")
    assert DailyAttempts.objects.get(team__name="bo").used == 1
    checks_hold()


@pytest.mark.fault(26)
def test_26_a_file_that_eats_all_memory_is_stopped_alone(
    pets: Competition, bo: User, cy: User, settings: LazySettings
) -> None:
    settings.SCORING_MEMORY_MB = 400
    eater, good = upload(pets, bo, "eat"), upload(pets, cy)
    if (ended := score.score_one(eater.pk)) == "slow":  # a busy machine needs more time to fill the memory
        ended = score.score_one(eater.pk, in_queue=False)
    assert ended == "invalid"
    assert "400 MB" in again(eater).problems[0]["message"]
    assert score.score_one(good.pk) == "scored"
    checks_hold()


@pytest.mark.fault(27)
def test_27_twenty_files_that_kill_each_child_fail_after_three_deaths_and_hold_nobody_up(
    alone: None, pets: Competition, bo: User, cy: User
) -> None:
    assert score.score_one(upload(pets, cy).pk) == "scored"
    poison = [upload(pets, bo, "die") for _ in range(20)]
    good = [upload(pets, cy) for _ in range(5)]
    served: list[Any] = []
    for turn in submissions_in_turn():
        score.score_one(turn.pk)
        served.append(turn.pk)
    assert {(again(one).status, one.deaths) for one in poison} == {("failed", 3)}
    assert {again(one).status for one in good} == {"scored"}
    assert DailyAttempts.objects.get(team__name="bo").used == 0
    assert max(served.index(one.pk) for one in good) < 25, "nobody waits for a second death"
    until(lambda: len(below(client._running[0].process.pid)) <= 1, what="the end of all of them")
    checks_hold()


def test_a_candidate_ground_truth_that_kills_its_child_refuses_the_file_after_three(
    pets: Competition, bo: User
) -> None:
    submission = upload(pets, bo, "die")
    assert pets.ground_truth is not None
    found = outside_queue.compute_outside_queue(submission, pets.ground_truth)
    assert found.failure == claims.OUR_FAULT


def test_a_process_that_is_killed_twice_with_a_file_in_hand_costs_it_one_death(
    alone: None, pets: Competition, bo: User, cy: User
) -> None:
    """Killed by Olga, or for want of memory: no fault of Bo's file, and Cy's is scored meanwhile."""
    submission, other = upload(pets, bo, "later die"), upload(pets, cy)
    assert score.score_one(submission.pk) == "died"
    assert again(submission).deaths == 1
    assert score.score_one(other.pk) == "scored"
    checks_hold()


@pytest.mark.fault(27)
def test_27_a_file_that_breaks_its_reader_is_invalid_and_its_host_is_told_nothing(pets: Competition, bo: User) -> None:
    submission = upload(pets, bo, "abort")
    assert score.score_one(submission.pk) == "invalid"
    assert again(submission).problems[0]["code"] == "unreadable"
    assert DailyAttempts.objects.get(team__name="bo").used == 0
    assert not Notice.objects.filter(competition=pets).exists()
    checks_hold()
