"""Sixteen at the same moment, on a database that lets them: there is one winner, and nothing counts twice."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TypeVar

import pytest
from django.db import connection
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.celery import app
from leaderboard.competitions.models import Competition, DailyAttempts, Score, Submission
from leaderboard.scoring.scorer_answer import ScorerAnswer
from leaderboard.submissions import claims, outcomes, score, submit_conditions, submitting, sweep
from leaderboard.submissions import tasks as submission_tasks
from tests.conftest import answers, broken_promises, claim, enter, make_competition, person, submissions_in_turn

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

AT_ONCE = 16
Result = TypeVar("Result")


def at_once(verb: Callable[[int], Result], number: int = AT_ONCE) -> list[Result]:
    """Do the same thing in so many threads, each with a connection of its own, begun together."""
    ready = threading.Barrier(number)

    def begin(place: int) -> Result:
        connection.ensure_connection()
        ready.wait(20)
        try:
            return verb(place)
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(begin, range(number)))


def submit(competition: Competition, user: User, key: str | None = None) -> Submission | str:
    try:
        return submitting.submit_file(
            competition=competition, user=user, file_name="a.csv", chunks=[answers()], upload_key=key
        )
    except submit_conditions.SubmissionRefused as refusal:
        return refusal.code


@pytest.fixture(autouse=True)
def checks() -> Iterator[None]:
    yield
    assert broken_promises() == []


def test_one_of_sixteen_workers_gets_the_claim(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo)
    assert isinstance(submission, Submission)
    assert len(list(filter(None, at_once(lambda _: claim(submission.pk))))) == 1
    submission.refresh_from_db()
    assert submission.tries == 1


def test_a_team_never_has_two_files_in_work(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    files = [submit(pets, bo) for _ in range(4)]
    keys = [one.pk for one in files if isinstance(one, Submission)]
    assert len(list(filter(None, at_once(lambda n: claim(keys[n % 4]))))) == 1


def test_sixteen_workers_measure_each_file_once_and_serve_every_class(ada: User) -> None:
    classes = [make_competition(ada, slug=slug) for slug in ("one", "two", "three")]
    for number in range(8):
        user = person(f"student-{number}")
        for competition in classes:
            enter(competition, user)
            assert isinstance(submit(competition, user), Submission)

    def work(_: int) -> int:
        done = 0
        for turn in submissions_in_turn():
            done += score.score_one(turn.pk) == "scored"
        return done

    assert sum(at_once(work)) == 24
    assert Score.objects.count() == 48
    assert set(Submission.objects.values_list("status", "tries")) == {("scored", 1)}


def test_sixteen_uploads_at_once_get_five_attempts(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    answered = Counter(str(one) if isinstance(one, str) else "taken" for one in at_once(lambda _: submit(pets, bo)))
    assert answered == {"taken": 5, "attempts": 11}
    assert DailyAttempts.objects.get().used == Submission.objects.count() == 5


def test_sixteen_clicks_on_one_button_are_one_submission(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    given = at_once(lambda _: submit(pets, bo, key="form"))
    assert len({one.pk for one in given if isinstance(one, Submission)}) == 1
    assert DailyAttempts.objects.get().used == Submission.objects.count() == 1


def test_many_sweeps_at_once_give_an_attempt_back_once(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    for _ in range(2):
        submit(pets, bo)
    spent = Submission.objects.order_by("received_at")[0]
    Submission.objects.filter(pk=spent.pk).update(tries=5)
    at_once(lambda _: sweep.sweep_queue())
    spent.refresh_from_db()
    assert spent.status == "failed"
    assert DailyAttempts.objects.get().used == 1


def test_sixteen_notes_of_one_death_count_one(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo)
    assert isinstance(submission, Submission)
    assert claim(submission.pk, "bell")
    at_once(lambda _: claims.end_claims_of_worker("bell"))
    submission.refresh_from_db()
    assert (submission.tries, submission.deaths) == (1, 1)


def test_a_worker_that_slept_through_its_lease_loses_to_the_one_that_came_after(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own clock goes wrong meanwhile; that of the database decides."""
    enter(pets, bo)
    submission, measure = submit(pets, bo), outcomes.compute_outcome
    assert isinstance(submission, Submission)
    real = timezone.now

    def slowly(*arguments: object) -> ScorerAnswer:
        monkeypatch.setattr(score, "compute_outcome", measure)
        monkeypatch.setattr(timezone, "now", lambda: real() + timedelta(hours=1))
        assert claim(submission.pk) is None, "no clock but the database's ends a lease"
        monkeypatch.setattr(timezone, "now", real)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE competitions_submission SET lease_until = now() - interval '1 second'")
        assert at_once(lambda _: score.score_one(submission.pk), 1) == ["scored"]
        return measure(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(score, "compute_outcome", slowly)
    assert score.score_one(submission.pk) == "busy"
    assert Score.objects.count() == 2


def test_ten_deliveries_of_one_message_at_once_give_one_score(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo)
    assert isinstance(submission, Submission)
    app.finalize()  # as a worker does before its first message
    at_once(
        lambda _: submission_tasks.score_next_submissions.apply(args=(str(submission.pk), 1), task_id=uuid.uuid4().hex),
        10,
    )
    assert Score.objects.count() == 2
