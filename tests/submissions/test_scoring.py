"""The worker measures a file once, whoever rings and however often."""

from __future__ import annotations

import errno
import math
import os
import uuid
from datetime import timedelta

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

import metrics
from leaderboard.accounts.models import User
from leaderboard.boards import standings
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import (
    Competition,
    DailyAttempts,
    GroundTruth,
    Score,
    Standing,
    Submission,
)
from leaderboard.competitions.models.ground_truth import ImmutableRow
from leaderboard.scoring.scorer_answer import ScorerAnswer
from leaderboard.submissions import outcomes, submitting, sweep
from leaderboard.submissions import score as score_module
from tests.conftest import answers, enter, submit


def waiting_file(competition: Competition, user: User, data: bytes | None = None) -> Submission:
    enter(competition, user)
    return submitting.submit_file(competition=competition, user=user, file_name="a.csv", chunks=[data or answers()])


def test_both_scores_are_written_in_full_precision(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers(public=2, private=1))
    values = dict(Score.objects.filter(submission=submission).values_list("split", "value"))
    assert values == {"public": 4 / 6, "private": 5 / 6}
    assert submission.status == Submission.Status.SCORED
    assert submission.finished_at is not None


def test_each_score_comes_with_its_interval(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers(public=2, private=1))
    for score in Score.objects.filter(submission=submission):
        assert score.low is not None
        assert score.high is not None
        assert score.low <= score.value <= score.high <= 1.0
        assert 0 < (score.standard_error or 0) < 0.3


def test_where_a_scale_has_no_end_the_interval_has_none() -> None:
    endless = metrics.Uncertainty(None, 0.0, math.inf, np.zeros(200))
    assert outcomes.stored_interval(endless) == {"standard_error": None, "low": 0.0, "high": None}
    assert outcomes.stored_interval(None) == {}


@pytest.mark.fault(14)
def test_ringing_ten_times_scores_once(pets: Competition, bo: User) -> None:
    submission = waiting_file(pets, bo)
    assert [score_module.score_one(submission.pk) for _ in range(10)] == ["scored"] + ["busy"] * 9
    assert Score.objects.count() == 2


def test_a_wake_up_for_a_row_that_is_gone_harms_nobody(pets: Competition, bo: User) -> None:
    assert score_module.score_one(uuid.uuid4()) == "busy"


def test_a_row_in_somebodys_hands_is_left_alone(pets: Competition, bo: User) -> None:
    submission = waiting_file(pets, bo)
    Submission.objects.filter(pk=submission.pk).update(
        claim=uuid.uuid4(), lease_until=timezone.now() + timedelta(seconds=20)
    )
    assert score_module.score_one(submission.pk) == "busy"
    assert sweep.sweep_queue() == ([], [])


@pytest.mark.fault(4)
def test_a_lease_that_ran_out_is_taken_over(pets: Competition, bo: User) -> None:
    submission = waiting_file(pets, bo)
    Submission.objects.filter(pk=submission.pk).update(
        claim=uuid.uuid4(), lease_until=timezone.now() - timedelta(seconds=1), tries=1
    )
    assert [pk for pk, _ in sweep.sweep_queue()[0]] == [submission.pk]
    assert score_module.score_one(submission.pk) == "scored"


@pytest.mark.fault(5)
def test_who_lost_the_claim_cannot_finish(pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    submission = waiting_file(pets, bo)
    measure = outcomes.compute_outcome

    def slow(*arguments: object) -> ScorerAnswer:
        Submission.objects.filter(pk=submission.pk).update(claim=uuid.uuid4())
        return measure(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(score_module, "compute_outcome", slow)
    assert score_module.score_one(submission.pk) == "busy"
    assert not Score.objects.exists()


def test_after_five_tries_a_row_fails_and_the_attempt_comes_back(pets: Competition, bo: User) -> None:
    submission = waiting_file(pets, bo)
    Submission.objects.filter(pk=submission.pk).update(tries=5)
    assert score_module.score_one(submission.pk) == "busy"
    sweep.sweep_queue()
    submission.refresh_from_db()
    assert submission.status == Submission.Status.FAILED
    assert DailyAttempts.objects.get().used == 0


def test_a_bug_in_a_metric_is_our_fault_and_says_nothing_of_the_truth(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    submission = waiting_file(pets, bo)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("truth is cat")

    monkeypatch.setattr(metrics.Truth, "evaluate", broken)
    assert score_module.score_one(submission.pk) == "failed"
    submission.refresh_from_db()
    assert "cat" not in submission.failure + caplog.text
    assert DailyAttempts.objects.get().used == 0
    assert "could not be scored: RuntimeError (test_scoring.py" in caplog.text


def test_a_truth_that_takes_too_much_memory_is_not_the_students_fault(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    submission = waiting_file(pets, bo)

    def too_large(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(metrics, "prepare", too_large)
    assert score_module.score_one(submission.pk) == "failed"
    assert DailyAttempts.objects.get().used == 0
    assert "could not be scored: MemoryError" in caplog.text


@pytest.mark.fault(21)
def test_a_missing_file_is_called_damaged(pets: Competition, bo: User, caplog: pytest.LogCaptureFixture) -> None:
    submission = waiting_file(pets, bo)
    path_of(submission.file_key).unlink()
    score_module.score_one(submission.pk)
    submission.refresh_from_db()
    assert submission.failure == outcomes.DAMAGED_FILE_TEXT


@pytest.mark.parametrize("lacks", ["ENOSPC", "EMFILE", "EAGAIN", "EACCES", "ENOMEM"])
@pytest.mark.parametrize("where", ["path_of", "client.score_file", "hashlib.file_digest"])
def test_what_a_machine_lacks_for_a_while_costs_no_file(
    pets: Competition, bo: User, lacks: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, no descriptor, no process more: nobody reads that a file is damaged, or has to hand it in again."""
    submission = waiting_file(pets, bo)

    def lacking(*_: object, **__: object) -> None:
        raise OSError(getattr(errno, lacks), os.strerror(getattr(errno, lacks)))

    with monkeypatch.context() as patch:
        patch.setattr(f"leaderboard.submissions.outcomes.{where}", lacking)
        assert score_module.score_one(submission.pk) == "waiting"
    submission.refresh_from_db()
    assert (submission.status, submission.tries) == ("pending", 0)
    assert score_module.score_one(submission.pk) == "scored"


def test_waiting_files_are_rung_in_turn_over_competitions(ada: User, bo: User, cy: User) -> None:
    from tests.conftest import make_competition

    first, second = make_competition(ada, slug="one"), make_competition(ada, slug="two")
    enter(first, bo), enter(second, cy)
    burst = [waiting_file(first, bo) for _ in range(3)]
    late = waiting_file(second, cy)
    rung = [pk for pk, _ in sweep.sweep_queue()[0]]
    assert rung == [burst[0].pk, late.pk, burst[1].pk, burst[2].pk]


def test_the_ground_truth_is_never_edited(pets: Competition) -> None:
    ground_truth = GroundTruth.objects.get()
    ground_truth.metric = "f1"
    with pytest.raises(ImmutableRow):
        ground_truth.save()


def test_the_database_refuses_a_second_score_and_an_infinite_one(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers())
    ground_truth = GroundTruth.objects.get()
    for value, split in ((0.5, "public"), (float("inf"), "private"), (float("nan"), "private")):
        Score.objects.filter(submission=submission, split="private").delete()
        with pytest.raises(IntegrityError), transaction.atomic():
            Score.objects.create(submission=submission, ground_truth=ground_truth, split=split, value=value)


def test_standings_are_what_the_scores_say(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    for wrong in (3, 1, 2):
        submit(pets, bo, answers(public=wrong))
        submit(pets, cy, answers(public=wrong + 1))
    ground_truth = GroundTruth.objects.get()
    assert standings.standing_differences(ground_truth) == []
    before = list(Standing.objects.order_by("team").values_list("team", "submission", "value"))
    standings.rebuild_standings(ground_truth)
    assert list(Standing.objects.order_by("team").values_list("team", "submission", "value")) == before
    Standing.objects.update(value=0.123)
    assert len(standings.standing_differences(ground_truth)) == 2
