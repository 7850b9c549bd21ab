"""The demo shows what the notebook asked, a class that is over, and a competition to come; and it goes away again."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, DataFile, Membership, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards, standings
from leaderboard.competitions.services import competitions, folders, publishing
from leaderboard.operations import demo as demo_module
from tests.conftest import broken_promises, person

pytestmark = pytest.mark.thorough

LEAVES = "plant-pathology-2021"
CONSTANTS = {"healthy": 0.248, "scab": 0.289, "scab healthy": 0.361, "healthy scab": 0.361, "all seven labels": 0.266}


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    log = logging.getLogger("leaderboard.competitions.tasks")
    level = log.level
    yield
    log.setLevel(level)


def demo(*arguments: str) -> str:
    output = io.StringIO()
    call_command("demo", *arguments, stdout=output)
    return output.getvalue()


def overall(slug: str, baseline: str) -> float:
    """The score on all rows, for metrics that are means over rows."""
    ground_truth = Competition.objects.get(slug=slug).ground_truth
    assert ground_truth is not None
    value = dict(
        Score.objects.filter(submission__baseline__name=baseline, ground_truth=ground_truth).values_list(
            "split", "value"
        )
    )
    return (
        value[Split.PUBLIC] * ground_truth.public_rows + value[Split.PRIVATE] * ground_truth.private_rows
    ) / ground_truth.rows


@pytest.mark.django_db
def test_the_demo_tells_its_three_stories() -> None:
    output = demo("--here")
    assert output.count("Made") == 3

    # The five constant answers of the notebook, averaged over rows.
    assert {name: round(overall(LEAVES, name), 3) for name in CONSTANTS} == CONSTANTS
    leaves = Competition.objects.get(slug=LEAVES)
    board = boards.board_page(leaves, Split.PUBLIC, at=timezone.now())
    assert {row.name: row.value for row in board.rows} == pytest.approx(CONSTANTS, abs=0.005)
    assert leaves.ground_truth is not None
    assert leaves.ground_truth.rows == 18_632
    assert leaves.state(timezone.now()) == "live"
    assert (leaves.admission.is_listed, leaves.admission.needs_code) == (True, False)

    # A class of 24 teams, all ranked on an open private board, between three baselines.
    finished = Competition.objects.get(slug=demo_module.CLASS)
    assert finished.state(timezone.now()) == "revealed"
    rows = boards.board_page(finished, Split.PRIVATE, at=timezone.now()).rows
    assert {row.name for row in rows if not row.is_baseline} == {team.name for team in finished.teams.all()}
    assert [row.rank for row in rows if row.rank is not None] == list(range(1, demo_module.TEAMS + 1))
    assert Membership.objects.count() == User.objects.filter(memberships__isnull=False).distinct().count()
    assert sum(row.is_baseline for row in rows) == 3
    assert any(row.movement for row in rows)
    assert any(not row.is_picked_by_system for row in rows if not row.is_baseline)
    assert standings.standing_differences(finished.ground_truth) == []  # type: ignore[arg-type]
    files = finished.submissions.filter(team__isnull=False)
    assert files.filter(status="invalid").count() >= 2
    assert not files.exclude(status__in=["scored", "invalid"]).exists()
    assert all(finished.opens_at <= at < finished.closes_at for at in files.values_list("received_at", flat=True))
    assert all(2 <= files.filter(team=team).count() <= 8 for team in finished.teams.all())

    # Nothing that an operator is notified about every night.
    assert broken_promises() == []

    # The third opens in a week; its files are locked until then.
    later = Competition.objects.get(slug="bike-rides")
    assert later.state(timezone.now()) == "upcoming"
    assert later.data_files.count() == 2

    # Nobody of the demo can sign in, and no file is large.
    assert not any(user.has_usable_password() for user in User.objects.all())
    assert max(DataFile.objects.values_list("size", flat=True)) < 1_000_000


@pytest.mark.django_db
def test_a_second_demo_changes_nothing_and_remove_leaves_nothing_behind(settings: LazySettings) -> None:
    dee = person("dee")
    lena = person("lucia.moretti")
    demo("--teams", "2", "--here")
    rows = [list(kind.objects.order_by("pk").values()) for kind in (Competition, Submission, User, Membership)]
    assert demo("--teams", "2", "--here").count("is there already") == 3
    assert rows == [list(kind.objects.order_by("pk").values()) for kind in (Competition, Submission, User, Membership)]
    assert User.objects.filter(username="demo-lucia.moretti").exists()
    for competition in Competition.objects.all():
        assert competition.ground_truth is not None
        publishing.sample_submission_of(competition.ground_truth)

    assert demo("--remove").startswith("Removed 3")
    assert not Competition.objects.exists()
    assert not Submission.objects.exists()
    assert list(User.objects.order_by("pk")) == [dee, lena]
    assert [path for path in Path(settings.FILES_DIR).rglob("*") if path.is_file()] == []
    assert demo("--remove").startswith("Removed 0")


@pytest.mark.django_db
def test_without_a_worker_the_files_wait_and_the_command_says_so() -> None:
    assert "files wait for the worker" in demo("--teams", "2")
    waiting = Submission.objects.filter(status="pending")
    assert waiting.filter(baseline__isnull=False).count() == 10
    assert set(waiting.exclude(team=None).values_list("team__name", flat=True)) == {
        "Gradient Descenders",
        "The Overfitters",
    }


@pytest.mark.django_db
def test_an_interrupted_demo_is_made_again_and_a_competition_of_ours_is_left_alone(ada: User) -> None:
    now = timezone.now()
    ours = competitions.create_competition(
        user=ada, slug="bike-rides", title="Ours", opens_at=now, closes_at=now + timedelta(days=1)
    )
    half = folders.import_folder(demo_module.FOLDER / LEAVES, user=demo_module.demo_user(demo_module.HOST))
    assert half.launched_at is None
    assert "“Ours” is there already" in demo("--teams", "2")
    assert Competition.objects.get(slug=LEAVES).launched_at is not None
    demo("--remove")
    assert list(Competition.objects.all()) == [ours]


@pytest.mark.django_db
def test_a_stranger_reads_the_demo_but_gets_no_file_of_the_upcoming_one() -> None:
    demo_module.make_demo_competition("bike-rides")
    client = Client()
    assert client.get("/c/bike-rides/").status_code == 200
    response = client.get("/c/bike-rides/data/files/train.csv")
    assert response.status_code != 200
