"""Faults that need no process to be killed; the number of each is in its name."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.boards import tasks as board_tasks
from leaderboard.celery import app
from leaderboard.classroom import teams
from leaderboard.common import clock
from leaderboard.competitions import services as competitions
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Competition, DailyAttempts, Membership, Score, Submission
from leaderboard.scoring.scorer_answer import ScorerAnswer
from leaderboard.submissions import outcomes, score, submitting, sweep
from leaderboard.submissions import tasks as submission_tasks
from tests.conftest import answers, broken_promises, enter, make_competition, person, submissions_in_turn
from tests.running_site import patience

pytestmark = pytest.mark.thorough

WAKE_WORKERS = wake_ups.wake_workers  # before a test takes its place


def upload(competition: Competition, user: User, data: bytes = b"") -> Submission:
    return submitting.submit_file(competition=competition, user=user, file_name="a.csv", chunks=[data or answers()])


def no_check_fails() -> None:
    assert broken_promises() == []


@pytest.mark.fault(7)
def test_07_while_the_broker_is_down_uploads_are_answered_and_the_page_says_waiting(
    client: Client,
    pets: Competition,
    bo: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise ConnectionRefusedError("nobody listens")

    monkeypatch.setattr(wake_ups, "wake_workers", WAKE_WORKERS)
    monkeypatch.setattr(app, "send_task", refused)
    enter(pets, bo)
    with django_capture_on_commit_callbacks(execute=True) as rung:
        begun = time.monotonic()
        submission = upload(pets, bo)
        assert time.monotonic() - begun < 2 * patience()
    assert len(rung) == 1
    assert submission.status == "pending"
    client.force_login(bo)
    assert "Waiting for its score." in client.get(f"/c/pets/submissions/{submission.pk}/").content.decode()
    assert score.score_one(submission.pk) == "scored"


@pytest.mark.fault(15)
def test_15_messages_in_the_wrong_order_serve_the_oldest_file_first(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    files = [upload(pets, bo) for _ in range(4)]
    for submission in reversed(files):
        submission_tasks.score_next_submissions(str(submission.pk), pets.ground_truth_id)
    ended = list(Submission.objects.order_by("finished_at").values_list("pk", flat=True))
    assert ended == [submission.pk for submission in files]


@pytest.mark.parametrize("hint", ["12345678-1234-4234-8234-123456789012", "no id at all", "", None, 7])
@pytest.mark.fault(16)
def test_16_a_message_for_a_row_that_is_gone_harms_nobody(pets: Competition, bo: User, hint: Any) -> None:
    enter(pets, bo)
    submission = upload(pets, bo)
    submission_tasks.score_next_submissions(hint, 1)
    submission.refresh_from_db()
    assert submission.status == "scored"


def test_28_machines_whose_clocks_are_wrong_open_no_board_early_and_take_no_pick_late(
    client: Client, pets: Competition, ada: User, bo: User, cy: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database's clock is right; those of the worker and of the web server are two days ahead, then behind."""
    real = timezone.now
    monkeypatch.setattr(clock, "timezone", SimpleNamespace(now=real))
    enter(pets, bo)
    submission = upload(pets, bo)
    score.score_one(submission.pk)
    monkeypatch.setattr(timezone, "now", lambda: real() + timedelta(days=2))
    board_tasks.reveal_due()
    pets.refresh_from_db()
    assert pets.revealed_at is None
    with pytest.raises(competitions.CannotHost, match="You can open the final ranking after the deadline"):
        boards.reveal_competition(competition=pets, user=ada)
    assert enter(pets, cy).team.name == "cy"
    client.force_login(bo)
    Competition.objects.filter(pk=pets.pk).update(closes_at=real() - timedelta(seconds=1))
    monkeypatch.setattr(timezone, "now", lambda: real() - timedelta(days=2))
    assert (
        "deadline has passed"
        in client.post("/c/pets/finals/", {"final": str(submission.pk)}, follow=True).content.decode()
    )
    submission.refresh_from_db()
    assert not submission.is_selected
    with pytest.raises(teams.CannotJoin, match="deadline has passed"):
        teams.rename_team(membership=Membership.objects.get(user=bo), name="Others")


@pytest.mark.fault(34)
def test_34_two_sweeps_at_once_ring_twice_score_once_and_give_one_attempt_back(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    spent = upload(pets, bo)
    Submission.objects.filter(pk=spent.pk).update(tries=5)
    waiting = upload(pets, bo)
    first, second = sweep.sweep_queue(), sweep.sweep_queue()
    assert first == second
    for pk, _ in (*first[0], *second[0]):
        score.score_one(pk)
    assert DailyAttempts.objects.get().used == 1
    assert Score.objects.filter(submission=waiting).count() == 2
    no_check_fails()


@pytest.mark.fault(35)
def test_35_a_thousand_waiting_files_are_served_in_turn_and_oldest_first(ada: User) -> None:
    """Four classes, one of them with most of the files; the order is what is measured, so nothing is."""
    sizes = {"a": 850, "b": 50, "c": 50, "d": 50}
    now, classes = timezone.now(), {}
    for slug, size in sizes.items():
        classes[slug] = competition = make_competition(ada, slug=slug)
        team = enter(competition, person(f"student-{slug}")).team
        Submission.objects.bulk_create(
            Submission(
                competition=competition, team=team, file_name=f"{n:04}", file_key="none", sha256="", size=1,
                received_at=now - timedelta(seconds=size - n), upload_key=f"{n}",
            )
            for n in range(size)
        )  # fmt: skip
    served: list[tuple[int, str]] = []
    begun = time.monotonic()
    for turn in submissions_in_turn():
        row = Submission.objects.get(pk=turn.pk)
        served.append((row.competition_id, row.file_name))
        Submission.objects.filter(pk=row.pk).update(status="invalid", finished_at=now)
        if len(served) == 210:
            break
    assert time.monotonic() - begun < 10 * patience(), "looking for the next file takes milliseconds"
    rounds = [{competition for competition, _ in served[n : n + 4]} for n in range(0, 200, 4)]
    assert all(len(one) == 4 for one in rounds)
    for competition in classes.values():
        names = [name for pk, name in served if pk == competition.pk]
        assert names == sorted(names)


def test_a_team_with_five_hundred_files_keeps_no_other_team_waiting(pets: Competition, bo: User) -> None:
    """In the same competition, behind all of them: one file of the flood goes first, then one of each of the others. At
    40 files a second the fifth waits for an eighth of a second, and nobody waits longer for a larger flood."""
    team = enter(pets, bo).team
    now = timezone.now()
    Submission.objects.bulk_create(
        Submission(competition=pets, team=team, file_name="flood", file_key="none", sha256="", size=1,
                   received_at=now - timedelta(seconds=500 - n), upload_key=f"{n}")
        for n in range(500)
    )  # fmt: skip
    others = []
    for number in range(5):
        user = person(f"student-{number}")
        enter(pets, user)
        others.append(upload(pets, user).pk)
    served: list[uuid.UUID] = []
    for turn in islice(submissions_in_turn(), 12):
        Submission.objects.filter(pk=turn.pk).update(status="invalid", finished_at=now)
        served.append(turn.pk)
    assert [pk for pk in served if pk in others] == others, "the oldest first"
    assert [served.index(pk) for pk in others] == [1, 2, 3, 4, 5]
    assert len(served) == 12, "and where nobody else waits the team goes on"


@pytest.mark.fault(37)
def test_37_a_competition_that_is_deleted_while_its_file_is_measured(
    pets: Competition, ada: User, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    submission, measure = upload(pets, bo), outcomes.compute_outcome

    def meanwhile(*arguments: Any) -> ScorerAnswer:
        outcome = measure(*arguments)
        competitions.delete_competition(competition=pets, user=ada)
        return outcome

    monkeypatch.setattr(score, "compute_outcome", meanwhile)
    assert score.score_one(submission.pk) == "busy"
    assert not Score.objects.exists()
    no_check_fails()
