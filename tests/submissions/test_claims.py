"""Whose turn it is, who holds what, and what becomes of files whose scorer dies."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from celery.exceptions import TimeLimitExceeded, WorkerLostError
from django.conf import LazySettings
from django.core import mail
from django.db import OperationalError
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common import child_processes, outbox
from leaderboard.common.claims import Claim, claim_key, end_claims_of_place
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions import tasks, wake_ups
from leaderboard.competitions.models import (
    Competition,
    DailyAttempts,
    GroundTruth,
    Limits,
    Score,
    Standing,
    Submission,
)
from leaderboard.notifications import events as failures_module
from leaderboard.operations.supervisor import supervisor
from leaderboard.submissions import claims, outcomes, score, submitting, sweep, worker
from leaderboard.submissions import queue as queue_module
from leaderboard.submissions import tasks as submission_tasks
from tests.conftest import (
    answers,
    broken_promises,
    claim,
    enter,
    make_competition,
    person,
    submissions_in_turn,
    submit,
)


def upload(competition: Competition, user: User) -> Submission:
    return submitting.submit_file(competition=competition, user=user, file_name="a.csv", chunks=[answers()])


def held(submission: Submission, *, seconds: float = 20, **fields: Any) -> None:
    """Somebody measures this file."""
    fields = {"claim": uuid.uuid4(), "tries": 1, **fields}
    Submission.objects.filter(pk=submission.pk).update(
        lease_until=timezone.now() + timedelta(seconds=seconds), **fields
    )


def again(submission: Submission) -> Submission:
    submission.refresh_from_db()
    return submission


def turns() -> list[list[Submission]]:
    """The turns that one look at the queue gives."""
    found: list[list[Submission]] = []
    for turn in queue_module.turns_of_submissions():
        found.append(turn)
        if sum(map(len, found)) >= Submission.objects.filter(status="pending").count():
            break
    return found


@pytest.fixture
def mine(pets: Competition, bo: User) -> Submission:
    enter(pets, bo)
    return upload(pets, bo)


# --- whose turn -------------------------------------------------------------------------------------------------


@pytest.mark.fault(35)
def test_competitions_take_turns_and_each_serves_its_oldest_first(ada: User, bo: User, cy: User) -> None:
    one, two = make_competition(ada, slug="one", daily_attempts=20), make_competition(ada, slug="two")
    enter(one, bo), enter(two, cy)
    burst = [upload(one, bo) for _ in range(4)]
    others = [upload(two, cy) for _ in range(2)]
    queue_module._served["last"] = one.pk
    served = []
    for turn in submissions_in_turn():
        score.score_one(turn.pk)
        served.append(turn.pk)
    assert served == [others[0].pk, burst[0].pk, others[1].pk, burst[1].pk, burst[2].pk, burst[3].pk]


@pytest.mark.parametrize("greedy", [1, 2, 3])
@pytest.mark.attack("teams that fill the queue, alone or together, so that others wait")
def test_however_many_files_others_have_waiting_cys_waits_for_one_of_each(
    pets: Competition, ada: User, cy: User, greedy: int
) -> None:
    """Also where several teams agree to fill the queue, and one of their files came last."""
    Limits.objects.update(daily_attempts=100)
    pets.refresh_from_db()
    teams = [person(f"greedy-{number}") for number in range(greedy)]
    for one in teams:
        enter(pets, one)
    enter(pets, cy)
    ask = [upload(pets, one) for _ in range(10) for one in teams]
    ask.append(upload(pets, cy))
    order = []
    for turn in submissions_in_turn():
        order.append(turn.pk)
        Submission.objects.filter(pk=turn.pk).update(status=Submission.Status.INVALID, finished_at=timezone.now())
    assert set(order) == {one.pk for one in ask}
    assert order.index(ask[-1].pk) <= greedy


def test_a_team_has_at_most_one_file_in_work_and_the_next_follows_at_its_end(
    pets: Competition, bo: User, cy: User, mine: Submission, woken_for: list[str]
) -> None:
    enter(pets, cy)
    second, others = upload(pets, bo), upload(pets, cy)
    held(mine)
    assert claim(second.pk) is None
    assert sweep.sweep_queue()[0] == [(others.pk, pets.ground_truth_id)]
    woken_for.clear()
    submission_tasks.score_next_submissions(str(second.pk), 1)
    assert again(others).status == "scored"
    assert again(second).status == "pending"
    Submission.objects.filter(pk=mine.pk).update(lease_until=None, claim=None)
    submission_tasks.score_next_submissions(str(mine.pk), 1)
    assert (again(mine).status, again(second).status) == ("scored", "scored")
    assert woken_for == []


def test_who_is_awake_stays_awake_and_lets_other_messages_in_between(
    pets: Competition, bo: User, cy: User, mine: Submission, woken_for: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of which nobody rang waits for no sweep, and letters do not wait until the queue is empty."""
    enter(pets, cy)
    others = upload(pets, cy)
    woken_for.clear()
    monkeypatch.setattr(submission_tasks, "WORK_SECONDS", 0.0)
    monkeypatch.setattr(queue_module, "TURN_SECONDS", 0.0)
    submission_tasks.score_next_submissions("x", 1)
    assert sorted([again(mine).status, again(others).status]) == ["pending", "scored"]
    assert len(woken_for) == 1
    monkeypatch.setattr(submission_tasks, "WORK_SECONDS", 60.0)
    submission_tasks.score_next_submissions(woken_for.pop(), 1)
    assert (again(mine).status, again(others).status, woken_for) == ("scored", "scored", [])


def test_a_file_whose_storage_is_away_is_not_taken_again_and_again(
    mine: Submission, woken_for: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def unreachable(*_: object) -> None:
        asked.append(1)
        raise StorageUnreachable("nobody answers")

    monkeypatch.setattr(score, "compute_outcome", unreachable)
    submission_tasks.score_next_submissions(str(mine.pk), 1)
    assert (len(asked), again(mine).status, again(mine).tries) == (1, "pending", 0)


def test_a_file_needs_no_wake_up_where_many_wait_in_the_broker(
    pets: Competition, bo: User, woken_for: list[str], monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    """An awake worker goes on until no file waits. A broker that has lost all gets a message."""
    Limits.objects.update(daily_attempts=100)
    pets.refresh_from_db()
    enter(pets, bo)
    for waiting, wakes in ((0, 1), (wake_ups.MAX_WAKE_UPS - 1, 1), (wake_ups.MAX_WAKE_UPS, 0)):
        monkeypatch.setattr(wake_ups, "queue_length", lambda waiting=waiting: waiting)
        woken_for.clear()
        with django_capture_on_commit_callbacks(execute=True):
            one = upload(pets, bo)
        assert woken_for == [str(one.pk)] * wakes, waiting


def test_a_sweep_wakes_for_as_many_files_as_help(
    pets: Competition, bo: User, woken_for: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    Limits.objects.update(daily_attempts=100)
    pets.refresh_from_db()
    enter(pets, bo)
    for _ in range(wake_ups.MAX_WAKE_UPS + 1):
        upload(pets, bo)
    assert len(sweep.sweep_queue()[0]) == wake_ups.MAX_WAKE_UPS + 1
    tasks.sweep()
    assert len(woken_for) == wake_ups.MAX_WAKE_UPS


def test_two_baselines_may_be_measured_at_once(pets: Competition, ada: User) -> None:
    one, two = (
        boards.add_baseline(competition=pets, user=ada, name=name, file_name="b.csv", chunks=[answers()])
        for name in ("a", "b")
    )
    assert claim(one.pk)
    assert claim(two.pk)


def test_a_file_that_killed_a_scorer_lets_others_go_first(pets: Competition, cy: User, mine: Submission) -> None:
    enter(pets, cy)
    later = upload(pets, cy)
    Submission.objects.filter(pk=mine.pk).update(deaths=1)
    turn = next(submissions_in_turn(), None)
    assert turn is not None
    assert turn.pk == later.pk
    score.score_one(later.pk)
    turn = next(submissions_in_turn(), None)
    assert turn is not None
    assert turn.pk == mine.pk


def test_after_a_minute_it_waits_no_longer_for_the_others(pets: Competition, cy: User, mine: Submission) -> None:
    enter(pets, cy)
    upload(pets, cy)
    before = timezone.now() - timedelta(seconds=61)
    Submission.objects.filter(pk=mine.pk).update(deaths=1, received_at=before)
    turn = next(submissions_in_turn(), None)
    assert turn is not None
    assert turn.pk == mine.pk


# --- claim and lease --------------------------------------------------------------------------------------------


@pytest.mark.fault(5)
def test_a_claim_is_of_one_wake_up_and_one_try(mine: Submission) -> None:
    assert claim(mine.pk, "bell") == Claim(Submission, mine.pk, claim_key("bell", 1))
    assert claim(mine.pk, "bell") is None
    Submission.objects.filter(pk=mine.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert claim(mine.pk, "bell") == Claim(Submission, mine.pk, claim_key("bell", 2))
    assert claim_key("bell", 1) != claim_key("bell", 2)


@pytest.mark.fault(5)
def test_a_worker_gives_back_at_its_start_what_the_last_one_of_its_place_held(
    mine: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(child_processes.HEARTBEAT_FOLDER, "run/heartbeats")
    assert claim(mine.pk, "bell") is not None
    monkeypatch.setenv(child_processes.HEARTBEAT_FOLDER, "another site's")
    assert end_claims_of_place(Submission.objects.all()) == 0
    monkeypatch.setenv(child_processes.HEARTBEAT_FOLDER, "run/heartbeats")
    assert end_claims_of_place(Submission.objects.all()) == 1
    assert claim(mine.pk, "another bell") == Claim(Submission, mine.pk, claim_key("another bell", 2)), "the try counts"


@pytest.mark.fault(29)
def test_a_lease_from_before_the_clock_was_set_back_holds_nobody_up(mine: Submission) -> None:
    held(mine, seconds=3600)
    assert claim(mine.pk) is not None


@pytest.mark.fault(28)
def test_a_worker_whose_clock_is_wrong_steals_nothing(mine: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are judged by the database, so what this process takes for the time does not matter."""
    held(mine)
    real = timezone.now
    for hours in (-1, 1):
        monkeypatch.setattr(timezone, "now", lambda shift=hours: real() + timedelta(hours=shift))
        assert claim(mine.pk) is None


@pytest.mark.fault(5)
def test_losing_the_lease_stops_the_scorer(mine: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = threading.Event()
    monkeypatch.setattr("leaderboard.common.claims.LEASE", timedelta(seconds=0.03))
    monkeypatch.setattr(claims, "on_lease_lost", stopped.set)
    monkeypatch.setattr(Claim, "extend", lambda _: False)
    with claims.extended_leases([Claim(Submission, mine.pk, uuid.uuid4())]):
        assert stopped.wait(5)


@pytest.mark.fault(20)
def test_a_database_that_is_away_is_no_lost_lease(mine: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    tried_again, times = threading.Event(), iter([1, 2])

    def away(_: Claim) -> bool:
        if next(times, 3) == 3:
            tried_again.set()
        raise OperationalError("the server closed the connection")

    own, stopped = claim(mine.pk), threading.Event()
    assert own is not None
    assert own.extend()
    assert not Claim(Submission, mine.pk, uuid.uuid4()).extend()
    monkeypatch.setattr("leaderboard.common.claims.LEASE", timedelta(seconds=0.03))
    monkeypatch.setattr(claims, "on_lease_lost", stopped.set)
    monkeypatch.setattr(Claim, "extend", away)
    with claims.extended_leases([own]):
        assert tried_again.wait(5)
    assert not stopped.is_set()


# --- several files in one turn ----------------------------------------------------------------------------------


@pytest.fixture
def three(pets: Competition, bo: User, cy: User, dee: User) -> list[Submission]:
    """A file of each of three teams under a ground truth whose files take a moment."""
    for one in (bo, cy, dee):
        enter(pets, one)
    GroundTruth.objects.update(quickest_seconds=0.001)
    return [upload(pets, one) for one in (bo, cy, dee)]


def test_quick_files_of_several_teams_are_scored_in_one_turn_and_stand_on_the_board(
    pets: Competition, three: list[Submission]
) -> None:
    (turn,) = turns()
    assert [one.pk for one in turn] == [one.pk for one in three]
    assert [file.status for file in score.score_turn(turn, "bell")] == ["scored"] * 3
    assert Score.objects.count() == 6
    assert Standing.objects.filter(ground_truth=pets.ground_truth).count() == 3
    assert broken_promises() == []


def test_a_file_that_may_take_long_or_was_tried_before_has_a_turn_to_itself(three: list[Submission]) -> None:
    Submission.objects.filter(pk=three[1].pk).update(tries=1)
    assert [len(turn) for turn in turns()] == [1, 1, 1]
    GroundTruth.objects.update(quickest_seconds=3.0)
    Submission.objects.update(tries=0)
    assert [len(turn) for turn in turns()] == [1, 1, 1]


def test_what_a_turn_has_no_time_for_is_put_back_without_a_try(
    three: list[Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "TURN_SECONDS", 0.0)
    found = [one for one in map(queue_module.find_submission, (one.pk for one in three)) if one]
    assert [file.status for file in score.score_turn(found, "bell")] == ["scored", "busy", "busy"]
    assert [(again(one).status, one.tries, one.claim) for one in three[1:]] == [("pending", 0, None)] * 2


def test_a_claim_that_was_lost_meanwhile_costs_the_others_of_its_turn_nothing(
    three: list[Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = outcomes.compute_outcome

    def lose(submission: Submission, *others: Any) -> Any:
        Submission.objects.filter(pk=three[1].pk).update(claim=uuid.uuid4())
        return real(submission, *others)

    monkeypatch.setattr(score, "compute_outcome", lose)
    found = [one for one in map(queue_module.find_submission, (one.pk for one in three)) if one]
    assert [file.status for file in score.score_turn(found, "bell")] == ["scored", "busy", "scored"]
    assert not Score.objects.filter(submission=three[1]).exists()
    assert again(three[1]).claim is not None


@pytest.mark.fault(2)
def test_a_worker_that_dies_with_several_files_in_hand_counts_a_death_against_none(
    three: list[Submission], woken_for: list[str]
) -> None:
    """Nobody knows which one it died of: each is tried again, in a turn of its own."""
    assert len(claims.claim_submissions(three, "bell")) == 3
    for _ in range(2):
        worker._release_claim_of_failed_task(task_id="bell", exception=WorkerLostError("signal 9"))
    assert [(again(one).tries, one.deaths, one.claim) for one in three] == [(1, 0, None)] * 3
    assert len(woken_for) == 1
    assert [len(turn) for turn in turns()] == [1, 1, 1]


# --- what dies --------------------------------------------------------------------------------------------------


def died(submission: Submission, wake_up_id: str, error: BaseException | None = None) -> None:
    """A worker that `bell` woke claims the file, dies, and Celery says so twice."""
    assert claim(submission.pk, wake_up_id)
    for _ in range(2):
        worker._release_claim_of_failed_task(task_id=wake_up_id, exception=error or WorkerLostError("signal 9"))


@pytest.mark.fault(2)
def test_what_a_dead_scorer_held_is_rung_for_at_once_and_counted_once(mine: Submission, woken_for: list[str]) -> None:
    died(mine, "one")
    assert again(mine).lease_until is None
    assert (mine.tries, mine.deaths) == (1, 1)
    assert woken_for == [str(mine.pk)]
    assert score.score_one(mine.pk) == "scored"


def test_after_three_deaths_a_file_fails_and_its_attempt_comes_back(mine: Submission, woken_for: list[str]) -> None:
    for wake_up_id in "abc":
        died(mine, wake_up_id)
    assert again(mine).status == "failed"
    assert mine.failure == claims.OUR_FAULT
    assert DailyAttempts.objects.get().used == 0
    assert len(woken_for) == 2


def test_a_file_that_took_too_long_fails_with_the_seconds(mine: Submission, settings: LazySettings) -> None:
    died(mine, "one", TimeLimitExceeded(settings.CELERY_TASK_TIME_LIMIT))
    assert again(mine).failure == f"Scoring took longer than {settings.CELERY_TASK_TIME_LIMIT:g} s. " + (
        "We told the host and returned your attempt."
    )
    assert DailyAttempts.objects.get().used == 0


def test_an_ordinary_error_of_a_task_takes_nothing_back(mine: Submission) -> None:
    assert claim(mine.pk, "one")
    worker._release_claim_of_failed_task(task_id="one", exception=ValueError("a bug"))
    assert again(mine).claim is not None


def test_a_death_after_the_file_was_finished_changes_nothing(mine: Submission) -> None:
    assert [file.status for file in score.score_turn([again(mine)], "one")] == ["scored"]
    worker._release_claim_of_failed_task(task_id="one", exception=WorkerLostError("signal 9"))
    assert (again(mine).status, mine.deaths) == ("scored", 0)


def test_what_a_worker_has_in_hand_when_it_is_stopped_costs_no_try(
    mine: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that goes on nevertheless writes nothing, and whoever comes next begins with a first try."""
    own = claim(mine.pk, "one")
    assert own is not None
    monkeypatch.setattr(worker, "active_requests", [SimpleNamespace(id="of a sweep"), SimpleNamespace(id="one")])
    for _ in range(2):
        worker.release_all_claims()
        assert (again(mine).claim, mine.lease_until, mine.tries, mine.deaths) == (None, None, 0, 0)
    assert not own.extend()
    assert [file.status for file in score.score_turn([again(mine)], "two")] == ["scored"]
    worker.release_all_claims()
    assert (again(mine).status, mine.tries) == ("scored", 1)


def test_files_are_put_back_before_up_ends_their_worker() -> None:
    assert worker.RELEASE_AFTER + worker.RELEASE_EVERY < supervisor.TIME_TO_FINISH


# --- a database that is away ------------------------------------------------------------------------------------


@pytest.mark.fault(20)
def test_a_result_waits_for_the_database(mine: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failures = score._write_turn, [OperationalError("away")] * 3
    monkeypatch.setattr(score, "FIRST_PAUSE_SECONDS", 0.001)

    def finish(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        real(*arguments)

    monkeypatch.setattr(score, "_write_turn", finish)
    assert score.score_one(mine.pk) == "scored"
    assert Score.objects.count() == 2


@pytest.mark.fault(20)
def test_a_database_that_stays_away_is_not_waited_for_without_end(
    mine: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finish(*_: Any) -> str:
        raise OperationalError("away")

    monkeypatch.setattr(score, "_write_turn", finish)
    monkeypatch.setattr(score, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(score, "FINISH_SECONDS", 0.01)
    with pytest.raises(OperationalError):
        score.score_one(mine.pk)
    assert again(mine).status == "pending"


# --- messages ---------------------------------------------------------------------------------------------------


@pytest.mark.fault(31)
def test_a_message_of_another_form_is_left_alone(mine: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    for schema in ("2", "x", ""):
        submission_tasks.score_next_submissions.apply(args=(str(mine.pk), 1), headers={"schema": schema}, throw=True)
        assert again(mine).status == "pending"
    submission_tasks.score_next_submissions.apply(
        args=(str(mine.pk), 1), headers={"schema": str(wake_ups.SCHEMA)}, throw=True
    )
    assert again(mine).status == "scored"


@pytest.mark.fault(7)
def test_a_broker_that_takes_nothing_is_asked_once_per_sweep(
    pets: Competition, bo: User, cy: User, mine: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, cy), upload(pets, cy)
    asked: list[object] = []
    monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: asked.append(1))
    tasks.sweep()
    assert len(asked) == 1


# --- hosts are notified ---------------------------------------------------------------------------------------------


@pytest.mark.fault(21)
def test_ada_gets_one_email_an_hour(
    pets: Competition,
    bo: User,
    mine: Submission,
    settings: LazySettings,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.SITE_URL = "https://class.example"
    second = upload(pets, bo)
    for submission in (mine, second):
        Submission.objects.filter(pk=submission.pk).update(tries=5)
    with django_capture_on_commit_callbacks(execute=True):
        claims.fail_spent_submissions()
    outbox.send_due_emails()
    (letter,) = mail.outbox
    assert letter.to == ["ada@example.org"]
    assert "https://class.example/host/pets/submissions/?status=failed" in letter.body
    assert "no fault" in letter.body


def test_without_a_mail_server_ada_reads_it_on_her_pages_alone(
    mine: Submission, client: Any, ada: User, django_capture_on_commit_callbacks: Any
) -> None:
    Submission.objects.filter(pk=mine.pk).update(tries=5)
    with django_capture_on_commit_callbacks(execute=True):
        claims.fail_spent_submissions()
    outbox.send_due_emails()
    assert mail.outbox == []
    client.force_login(ada)
    assert "A submission failed" in client.get("/notifications/").content.decode()
    assert 'id="failed-files"' in client.get("/host/pets/").content.decode()
    assert claims.OUR_FAULT in client.get("/host/pets/submissions/?status=failed").content.decode()


def test_invalid_files_are_nobodys_email(pets: Competition, bo: User, settings: LazySettings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    enter(pets, bo)
    assert failures_module.notify_hosts_of_failure(submission_id=submit(pets, bo, b"id,label\n1,cat\n").pk) is False
    outbox.send_due_emails()
    assert mail.outbox == []
