"""The demo shows a class that competes, one that is over, and a draft ready to launch; and it goes away again."""

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
from leaderboard.boards import queries as boards
from leaderboard.boards import reveal, standings
from leaderboard.competitions import duties
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DataFile, Limits, Membership, Score, StudentPreview, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.queries import launch_needs
from leaderboard.ground_truths.services import folders, publishing
from leaderboard.operations import demo as demo_module
from leaderboard.operations.tasks import submit_next_of_demo
from leaderboard.submissions import outside_queue, score
from tests.conftest import broken_promises, enter, person
from tests.pages import signed_in

pytestmark = pytest.mark.thorough

LEAVES = "plant-pathology-2021"
CONSTANTS = {"healthy": 0.248, "scab": 0.289, "scab healthy": 0.361, "healthy scab": 0.361, "all seven labels": 0.266}


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    log = logging.getLogger("leaderboard.competitions.wake_ups")
    level = log.level
    yield
    log.setLevel(level)


def demo(*arguments: str) -> str:
    output = io.StringIO()
    call_command("demo", *arguments, stdout=output)
    return output.getvalue()


def score_demo() -> None:
    """Score what waits and reveal what is due, as workers would."""
    for key in Submission.objects.filter(status="pending").order_by("received_at").values_list("pk", flat=True):
        score.score_one(key)
    for ground_truth in StudentPreview.objects.filter(finished_at=None).values_list("ground_truth", flat=True):
        outside_queue.score_preview(ground_truth)
    for competition in Competition.objects.filter(slug=demo_module.CLASS, revealed_at=None):
        reveal.reveal_private_board(competition, competition.closes_at)


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
    output = demo()
    score_demo()
    assert output.count("Made") == 3

    # The five constant answers of the notebook, averaged over rows.
    assert {name: round(overall(LEAVES, name), 3) for name in CONSTANTS} == CONSTANTS
    leaves = Competition.objects.get(slug=LEAVES)
    assert (leaves.launched_at, leaves.is_demo) == (None, True)
    assert [need.text for need in launch_needs(leaves) if not need.is_there] == []
    board = boards.board_page(leaves, Split.PUBLIC, at=timezone.now())
    assert {row.name: row.value for row in board.rows} == pytest.approx(CONSTANTS, abs=0.005)
    assert leaves.ground_truth is not None
    assert leaves.ground_truth.rows == 18_632

    # A class of 24 teams, all ranked on an open private board, between three baselines.
    finished = Competition.objects.get(slug=demo_module.CLASS)
    assert finished.state(timezone.now()) == "revealed"
    rows = boards.board_page(finished, Split.PRIVATE, at=timezone.now()).rows
    assert {row.name for row in rows if not row.is_baseline} == {team.name for team in finished.teams.all()}
    assert [row.rank for row in rows if row.rank is not None] == list(range(1, demo_module.TEAMS + 1))
    assert finished.memberships.count() == finished.memberships.values("user").distinct().count()
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

    # The live one shows scores of the same class.
    live = Competition.objects.get(slug=demo_module.LIVE)
    assert live.state(timezone.now()) == "live"
    assert (live.admission.is_listed, live.admission.needs_code, live.board_is_hidden) == (True, False, False)
    ranks = [row.rank for row in boards.board_page(live, Split.PUBLIC, at=timezone.now()).rows if not row.is_baseline]
    assert ranks == list(range(1, demo_module.TEAMS + 1))

    # Nobody of the demo can sign in, and no file is large.
    assert not any(user.has_usable_password() for user in User.objects.all())
    assert max(DataFile.objects.values_list("size", flat=True)) < 1_000_000


@pytest.mark.django_db
def test_a_second_demo_changes_nothing_and_remove_leaves_nothing_behind(settings: LazySettings) -> None:
    dee = person("dee")
    lena = person("lucia.moretti")
    demo("--teams", "2")
    score_demo()
    rows = [list(kind.objects.order_by("pk").values()) for kind in (Competition, Submission, User, Membership)]
    assert demo("--teams", "2").count("is there already") == 3
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
    assert "submissions are waiting for the worker" in demo("--teams", "2")
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
    assert not half.is_demo
    assert "“Ours” is there already" in demo("--teams", "2")
    again = Competition.objects.get(slug=LEAVES)
    assert (again.is_demo, again.pk == half.pk) == (True, False)
    demo("--remove")
    assert list(Competition.objects.all()) == [ours]


@pytest.mark.django_db
def test_a_draft_that_somebody_launched_is_left_alone_and_removed_with_the_rest(olga: User) -> None:
    demo_module.make_demo_competition(LEAVES)
    score_demo()
    draft = Competition.objects.get(slug=LEAVES)
    assert publishing.launch_competition(competition=draft, user=olga)
    assert f"“{draft}” is there already" in demo("--teams", "2")
    demo("--remove")
    assert not Competition.objects.exists()


@pytest.fixture
def live(db: None) -> Competition:
    """A live demo of four teams."""
    competition = demo_module.make_demo_competition(demo_module.LIVE, teams=4)
    score_demo()
    return competition


def test_the_live_board_moves_once_a_minute_whether_or_not_somebody_looks(live: Competition, client: Client) -> None:
    files = live.submissions.count()
    for path in ("/c/bike-rides/", "/c/bike-rides/leaderboard/", "/c/bike-rides/projector/", "/"):
        client.get(path)
    assert live.submissions.count() == files
    (minutely,) = [schedule for schedule in duties.SCHEDULES if schedule.task == submit_next_of_demo.name]
    assert minutely.every == timedelta(minutes=1)
    submit_next_of_demo()
    assert live.submissions.count() == files + 1
    newest = live.submissions.latest("received_at")
    assert newest.team is not None
    assert newest.team.memberships.filter(user=newest.user).exists()
    score_demo()
    newest.refresh_from_db()
    assert newest.status == Submission.Status.SCORED
    assert broken_promises() == []


def test_a_visitor_who_tries_the_live_demo_submits_alone(live: Competition, bo: User) -> None:
    live.teams.exclude(pk=enter(live, bo).team_id).delete()
    assert demo_module.submit_next() is None
    assert not live.submissions.filter(user=bo).exists()


def test_nothing_moves_after_the_end_nor_in_a_competition_of_ours(live: Competition, pets: Competition) -> None:
    files = Submission.objects.count()
    Competition.objects.filter(pk=live.pk).update(closes_at=timezone.now())
    submit_next_of_demo()
    assert Submission.objects.count() == files
    demo_module.remove_demo()
    assert demo_module.submit_next() is None


def test_a_team_without_attempts_left_lets_the_minute_pass(live: Competition) -> None:
    Limits.objects.filter(pk=live.pk).update(paused_at=timezone.now(), pause_reason="Lunch")
    files = live.submissions.count()
    assert demo_module.submit_next() is None
    assert live.submissions.count() == files


@pytest.mark.django_db
def test_the_operator_removes_the_demo_on_a_page_and_others_cannot(
    live: Competition, pets: Competition, ada: User, bo: User, olga: User
) -> None:
    assert 'href="/status/remove-demo/"' in signed_in(olga).get("/host/").content.decode()
    assert "remove-demo" not in signed_in(ada).get("/host/").content.decode()
    for stranger in (ada, bo):
        assert signed_in(stranger).post("/status/remove-demo/").status_code in (403, 404)
    asked = signed_in(olga).get("/status/remove-demo/")
    assert [one.slug for one in asked.context["competitions"]] == ["bike-rides"]
    assert Competition.objects.filter(is_demo=True).exists()
    assert signed_in(olga).post("/status/remove-demo/").status_code == 303
    assert list(Competition.objects.all()) == [pets]
    assert "remove-demo" not in signed_in(olga).get("/host/").content.decode()


@pytest.mark.django_db
def test_olga_reads_at_once_that_the_demo_is_still_being_made(live: Competition, olga: User) -> None:
    with demo_module.demo_lock():
        answer = signed_in(olga).post("/status/remove-demo/")
        assert answer.status_code == 503
        assert "Try again in a moment." in answer.content.decode()
        with pytest.raises(demo_module.DemoIsBusy), demo_module.demo_lock(0.01):
            pass
    assert Competition.objects.filter(pk=live.pk).exists()
    assert signed_in(olga).post("/status/remove-demo/").status_code == 303
