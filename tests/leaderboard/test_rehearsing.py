"""Ada rehearses a term with made-up teams, and nothing of it is left when she wipes it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard import hosting, invariants, ranking, telling
from leaderboard.hosting.rehearsing import MOST_TEAMS
from leaderboard.models import (
    AuditEntry,
    Competition,
    DailyAttempts,
    Deed,
    Score,
    Split,
    Standing,
    Submission,
    Team,
    User,
)
from tests.conftest import TRUTH, make_competition
from tests.leaderboard.test_grades import grades, set_rules

Work = Callable[[], int]


@pytest.fixture
def draft(ada: User) -> Competition:
    return make_competition(ada, launched=False, allows_late=True)


def rows() -> dict[str, int]:
    """How many rows there are of everything but the trail, which forgets nothing."""
    found = {
        model.__name__: model._default_manager.count() for model in apps.get_app_config("leaderboard").get_models()
    }
    del found["AuditEntry"], found["Instrument"]
    return found


def files() -> set[str]:
    return {str(path) for path in Path(settings.FILES_DIR).rglob("*") if path.is_file()}


def measure(work: Work) -> None:
    while work():
        pass


def test_made_up_teams_stand_on_the_board_and_have_grades(draft: Competition, ada: User, work: Work) -> None:
    set_rules(draft, late_percent=10)
    number = hosting.rehearse(competition=draft, user=ada, teams=20, seed=3)
    measure(work)
    assert number == Submission.objects.count() >= 20
    assert not Submission.objects.filter(status="pending").exists()
    found = set(Submission.objects.values_list("status", "is_late").distinct())
    assert {("scored", False), ("invalid", False), ("scored", True)} <= found
    rows = ranking.board(draft, Split.PUBLIC, at=timezone.now()).rows
    assert len({row.value for row in rows}) > 3
    marks = grades_of(draft)
    assert len(marks) == 20
    assert len({points for points in marks.values() if points is not None}) > 3
    assert None in marks.values()


def grades_of(competition: Competition) -> dict[str, float | None]:
    sheet = hosting.grade_sheet(competition, at=timezone.now())
    assert sheet.split == Split.PRIVATE
    return {row.student.name: row.mark.points for row in sheet.rows}


def test_all_promises_hold_during_a_rehearsal(draft: Competition, ada: User, work: Work) -> None:
    hosting.rehearse(competition=draft, user=ada, teams=12)
    assert broken() == []
    measure(work)
    assert broken() == []


def broken() -> list[str]:
    return [sentence for verdict in invariants.verdicts(seed=1) for sentence in verdict.examples]


def test_nothing_of_a_rehearsal_is_left(draft: Competition, ada: User, work: Work) -> None:
    before = (rows(), files())
    hosting.rehearse(competition=draft, user=ada, teams=10)
    measure(work)
    assert Standing.objects.exists()
    assert DailyAttempts.objects.exists()
    hosting.wipe_rehearsal(competition=draft, user=ada)
    assert (rows(), files()) == before
    assert draft.rehearsed_at is None
    assert Score.objects.count() == 0


def test_a_rehearsal_that_is_still_being_scored_can_be_wiped(draft: Competition, ada: User, work: Work) -> None:
    before = (rows(), files())
    hosting.rehearse(competition=draft, user=ada, teams=5)
    hosting.wipe_rehearsal(competition=draft, user=ada)
    assert (rows(), files()) == before
    assert work() == 0


def test_what_was_found_in_made_up_files_goes_with_them(draft: Competition, ada: User, work: Work) -> None:
    before = rows()
    hosting.rehearse(competition=draft, user=ada, teams=4)
    measure(work)
    hosting.find_hard_rows(competition=draft)
    failed = Submission.objects.filter(status=Submission.Status.SCORED).earliest("pk")
    Score.objects.filter(submission=failed).delete()
    Submission.objects.filter(pk=failed.pk).update(status=Submission.Status.FAILED, finished_at=timezone.now())
    assert telling.tell_hosts(failed.pk)
    assert rows()["RowReport"] == rows()["Notice"] == 1
    hosting.wipe_rehearsal(competition=draft, user=ada)
    assert rows() == before


def test_baselines_stay_when_a_rehearsal_is_wiped(draft: Competition, ada: User, work: Work) -> None:
    hosting.add_baseline(competition=draft, user=ada, name="Guess", file_name="b.csv", chunks=[b"id,label\n1,cat\n"])
    hosting.rehearse(competition=draft, user=ada, teams=3)
    measure(work)
    hosting.wipe_rehearsal(competition=draft, user=ada)
    assert [submission.baseline is not None for submission in Submission.objects.all()] == [True]


def test_the_same_seed_makes_the_same_files(draft: Competition, ada: User) -> None:
    hashes = []
    for seed in (7, 7, 8):
        hosting.rehearse(competition=draft, user=ada, teams=6, seed=seed)
        hashes.append(sorted(Submission.objects.values_list("sha256", flat=True)))
        hosting.wipe_rehearsal(competition=draft, user=ada)
    assert hashes[0] == hashes[1] != hashes[2]


def test_no_competition_is_launched_with_a_rehearsal(draft: Competition, ada: User) -> None:
    hosting.rehearse(competition=draft, user=ada, teams=2)
    with pytest.raises(hosting.CannotHost) as refused:
        hosting.launch(competition=draft, user=ada)
    assert refused.value.details == ["Missing: The rehearsal is wiped; its teams are made up."]
    with pytest.raises(IntegrityError), transaction.atomic():
        Competition.objects.filter(pk=draft.pk).update(launched_at=timezone.now())
    hosting.wipe_rehearsal(competition=draft, user=ada)
    hosting.launch(competition=draft, user=ada)
    assert draft.launched_at is not None


def test_what_is_launched_cannot_be_rehearsed(pets: Competition, ada: User) -> None:
    with pytest.raises(hosting.CannotHost, match="Only a draft"):
        hosting.rehearse(competition=pets, user=ada, teams=5)
    assert not Team.objects.exists()
    assert not [name for name in files() if "submissions" in name]


@pytest.mark.parametrize("teams", [1, MOST_TEAMS + 1])
def test_too_few_and_too_many_teams_are_refused(draft: Competition, ada: User, teams: int) -> None:
    with pytest.raises(hosting.CannotHost, match="2 to 100 teams"):
        hosting.rehearse(competition=draft, user=ada, teams=teams)


def test_two_rehearsals_and_one_after_the_deadline_are_refused(draft: Competition, ada: User) -> None:
    hosting.rehearse(competition=draft, user=ada, teams=2)
    with pytest.raises(hosting.CannotHost, match="already"):
        hosting.rehearse(competition=draft, user=ada, teams=2)
    hosting.wipe_rehearsal(competition=draft, user=ada)
    with pytest.raises(hosting.CannotHost, match="no rehearsal"):
        hosting.wipe_rehearsal(competition=draft, user=ada)
    past = timezone.now() - timedelta(minutes=1)
    Competition.objects.filter(pk=draft.pk).update(opens_at=past - timedelta(days=1), closes_at=past)
    draft.refresh_from_db()
    with pytest.raises(hosting.CannotHost, match="deadline lies in the past"):
        hosting.rehearse(competition=draft, user=ada, teams=2)


def test_a_draft_without_a_ground_truth_cannot_be_rehearsed(ada: User) -> None:
    now = timezone.now()
    empty = hosting.create(
        user=ada, slug="empty", title="Empty", opens_at=now, closes_at=now + timedelta(days=1), zone="UTC"
    )
    with pytest.raises(hosting.CannotHost, match="Publish a ground truth first"):
        hosting.rehearse(competition=empty, user=ada, teams=2)


@pytest.mark.parametrize(
    ("metric", "answers"),
    [
        ("rmse", [str(number * 0.5) for number in range(40)]),
        ("roc_auc", [str(number % 3 % 2) for number in range(40)]),
        ("multilabel_f1", [f"a b{number % 5}" for number in range(40)]),
    ],
)
def test_whatever_the_metric_the_files_can_be_read(ada: User, work: Work, metric: str, answers: list[str]) -> None:
    lines = [f"{number},{text},{'Public' if number % 2 else 'Private'}" for number, text in enumerate(answers)]
    truth = "\n".join(["id,y,Usage", *lines])
    draft = make_competition(ada, launched=False, metric=metric, truth=truth)
    hosting.rehearse(competition=draft, user=ada, teams=8)
    measure(work)
    assert Submission.objects.filter(status="scored").count() > 8
    assert not Submission.objects.filter(status="failed").exists()


def test_both_deeds_are_in_the_trail(draft: Competition, ada: User) -> None:
    hosting.rehearse(competition=draft, user=ada, teams=2)
    hosting.wipe_rehearsal(competition=draft, user=ada)
    deeds = AuditEntry.objects.filter(deed__in=[Deed.REHEARSED, Deed.REHEARSAL_WIPED]).order_by("number")
    assert [(entry.deed, entry.by) for entry in deeds] == [("rehearsed", ada.pk), ("rehearsal_wiped", ada.pk)]
    assert TRUTH not in "".join(entry.after for entry in deeds)
    assert grades(draft) == {}
