"""The class report: scores against baselines, and who took part when."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import services as boards
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.insights import activity
from leaderboard.insights import report as report_module
from leaderboard.submissions import services as submission_services
from tests.conftest import answers, close, enter, submit
from tests.pages import signed_in, text_of

PAGE = "/host/pets/report/"


@pytest.fixture
def taught(pets: Competition, ada: User, bo: User, cy: User, dee: User, work: Callable[[], int]) -> Competition:
    """Bo promised 1 and stored 0.5, Cy promised 0.5 and stored 0.833, Dee handed in nothing; a baseline has
    0.667."""
    for user in (bo, cy, dee):
        enter(pets, user)
    submit(pets, bo, answers(private=3))
    submit(pets, bo, b"nonsense")
    submit(pets, cy, answers(public=3, private=1))
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(private=2)])
    work()
    return pets


def facts(competition: Competition) -> dict[str, tuple[object, ...]]:
    """Files, scored and invalid ones, both scores and the gap of each team, the best private score first."""
    return {
        team.name: (team.files, team.scored, team.invalid, team.public, team.private, team.gap)
        for team in report_module.class_report(competition).teams
    }


def test_ada_reads_how_her_class_did(taught: Competition, ada: User) -> None:
    page = signed_in(ada).get(PAGE)
    text = text_of(page)
    assert "2 of 3 teams" in text
    assert "1 without a score" in text
    assert "Guess 0.667 1 of 3" in text
    assert list(facts(taught).items()) == [
        ("cy", (1, 1, 0, 0.5, pytest.approx(5 / 6), pytest.approx(-1 / 3))),
        ("bo", (2, 1, 1, 1.0, 0.5, 0.5)),
        ("dee", (0, 0, 0, None, None, None)),
    ]
    assert [kind in page.content.decode() for kind in ("histogram", "activity")] == [False, True]
    close(taught)
    boards.reveal_competition(competition=taught)
    assert "Private scores of final submissions" in text_of(signed_in(ada).get(PAGE))


def test_days_are_those_of_the_competitions_zone(taught: Competition) -> None:
    received = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    Competition.objects.update(zone="Pacific/Auckland", opens_at=received, closes_at=received + timedelta(days=2))
    Submission.objects.update(received_at=received)
    taught.refresh_from_db()
    days = activity.files_per_day(taught, received + timedelta(days=1))
    assert [(str(one.day), one.scored, one.invalid) for one in days] == [("2026-03-02", 2, 1), ("2026-03-03", 0, 0)]


def test_of_a_long_time_the_last_year_is_counted(taught: Competition) -> None:
    Competition.objects.update(opens_at=timezone.now() - timedelta(days=5000))
    Submission.objects.filter(status="invalid").update(received_at=timezone.now() - timedelta(days=2000))
    taught.refresh_from_db()
    days = activity.files_per_day(taught, timezone.now())
    assert len(days) == activity.MAX_DAYS
    assert [sum(one.scored for one in days), sum(one.invalid for one in days)] == [2, 0]


def test_a_pick_is_in_the_report_at_once(taught: Competition, bo: User) -> None:
    """What decides is stored until the board changes, and a pick is such a change."""
    better = submit(taught, bo, answers(public=3))
    assert facts(taught)["bo"] == (3, 2, 1, 0.5, 1.0, -0.5)
    first = bo.memberships.get().team.submissions.exclude(pk=better.pk).get(status="scored")
    submission_services.select_finals(competition=taught, user=bo, submission_ids=[str(first.pk)], at=timezone.now())
    assert facts(taught)["bo"] == (3, 2, 1, 1.0, 0.5, 0.5)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Kiritimati"])
def test_days_are_those_that_the_calendar_says_also_when_clocks_change(
    taught: Competition, bo: User, zone: str
) -> None:
    """Files at and around every midnight of three weeks with a change of the clocks in each zone that has one."""
    Competition.objects.update(zone=zone)
    team, first = bo.memberships.get().team, datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=ZoneInfo(zone))
    moments = [
        (first + timedelta(days=day)).astimezone(UTC) + timedelta(microseconds=more)
        for day in (*range(20), 30)
        for more in (0, 1, 2)
    ]
    Submission.objects.all().delete()
    Submission.objects.bulk_create(
        Submission(
            competition=taught, team=team, file_name="a.csv", file_key="none", sha256="0" * 64, size=1,
            received_at=moment, upload_key=str(number), status="scored", finished_at=moment,
        )
        for number, moment in enumerate(moments)
    )  # fmt: skip
    taught.refresh_from_db()
    expected = Counter(moment.astimezone(ZoneInfo(zone)).date() for moment in moments)
    found = activity.files_per_day(taught, moments[-1])
    assert {one.day: one.scored for one in found if one.scored} == expected


def test_before_the_first_score_the_page_says_so(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    assert "No scores yet" in text_of(signed_in(ada).get(PAGE))
    pets.refresh_from_db()
    assert len(report_module.report_csv(pets).splitlines()) == 2


def test_the_report_counts_files_as_the_board_does(taught: Competition, ada: User, bo: User, cy: User) -> None:
    """Bo's second file is hidden and Cy's came late: neither could have been chosen for its public score."""
    taught = competitions.change_competition(competition=taught, user=ada, allows_late=True)
    submission_services.hide_submission(
        submission=submit(taught, bo, answers(public=2)), user=ada, reason="Made by hand"
    )
    close(taught)
    assert submit(taught, cy, answers()).is_late
    boards.reveal_competition(competition=taught)
    board = boards_module.board_page(Competition.objects.get(), Split.PRIVATE, at=timezone.now())
    assert {row.name: row.submission_count for row in board.rows if row.rank} == {"bo": 1, "cy": 1}
    assert {name: found[:3] for name, found in facts(taught).items()} == {
        "bo": (3, 1, 1),
        "cy": (2, 1, 0),
        "dee": (0, 0, 0),
    }


def test_the_csv_has_every_team_and_no_formula(taught: Competition, ada: User, bo: User) -> None:
    bo.memberships.get().team.__class__.objects.filter(name="bo").update(name="=1+1")
    response = signed_in(ada).get("/host/pets/report.csv")
    assert response["Content-Disposition"] == 'attachment; filename="pets-report.csv"'
    lines = {line["team"]: line for line in csv.DictReader(io.StringIO(response.content.decode("utf-8-sig")))}
    assert set(lines) == {"cy", "'=1+1", "dee"}
    assert lines["'=1+1"] | {"first_received": "", "last_received": ""} == {
        "team": "'=1+1", "files": "2", "scored": "1", "invalid": "1", "first_received": "", "last_received": "",
        "public": "1.0", "private": "0.5", "public_better_by": "0.5",
    }  # fmt: skip
    assert lines["dee"]["private"] == ""


@pytest.mark.parametrize("path", [PAGE, "/host/pets/report.csv"])
def test_no_student_reads_it(taught: Competition, bo: User, path: str) -> None:
    assert signed_in(bo).get(path).status_code == 404


def test_the_page_is_cheap_and_shared_for_a_minute(taught: Competition, ada: User) -> None:
    client = signed_in(ada)
    for most in (20, 12):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(PAGE).status_code == 200
        assert len(queries) <= most
