"""The class report: scores against baselines, who took part when, and whether many files fitted the public rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common import plots
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.services import boards, submitting
from leaderboard.insights import report as report_module
from leaderboard.insights.report import histogram, rank_correlation
from tests.conftest import answers, close, enter, hand_in
from tests.pages import signed_in, text_of

PAGE = "/host/pets/report/"


@pytest.fixture
def taught(pets: Competition, ada: User, bo: User, cy: User, dee: User, work: Callable[[], int]) -> Competition:
    """Bo promised 1 and stored 0.5, Cy promised 0.5 and stored 0.83333, Dee handed in nothing; a baseline has
    0.66667."""
    for user in (bo, cy, dee):
        enter(pets, user)
    hand_in(pets, bo, answers(private=3))
    hand_in(pets, bo, b"nonsense")
    hand_in(pets, cy, answers(public=3, private=1))
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(private=2)])
    work()
    return pets


def test_ada_reads_how_her_class_did(taught: Competition, ada: User) -> None:
    text = text_of(signed_in(ada).get(PAGE))
    assert "By the files that would decide now" in text
    assert "Guess 0.66667 1 / 2" in text
    assert "The highest bar: 1 team" in text
    assert "The highest bar: 3 files" in text
    assert "cy 1 1 0 0.50000 0.83333 -0.33333" in text
    assert "bo 2 1 1 1.00000 0.50000 0.50000" in text
    assert "dee 0 0 0 – – –" in text
    assert text.index("cy 1 1") < text.index("bo 2 1") < text.index("dee 0 0")
    assert "too few teams" in text
    close(taught)
    boards.reveal_competition(competition=taught)
    assert "By the files that decided" in text_of(signed_in(ada).get(PAGE))


def test_days_are_those_of_the_competitions_zone(taught: Competition) -> None:
    Competition.objects.update(zone="Pacific/Auckland")
    Submission.objects.update(received_at=datetime(2026, 3, 1, 12, 30, tzinfo=UTC))
    taught.refresh_from_db()
    days = report_module.class_report(taught).days
    assert [(str(day.day), day.files, day.teams) for day in days] == [("2026-03-02", 3, 2)]


def test_a_pick_is_in_the_report_at_once(taught: Competition, ada: User, bo: User) -> None:
    """What decides is stored until the board changes, and a pick is such a change."""
    better = hand_in(taught, bo, answers(public=3))
    assert "bo 3 2 1 0.50000 1.00000 -0.50000" in text_of(signed_in(ada).get(PAGE))
    first = bo.memberships.get().team.submissions.exclude(pk=better.pk).get(status="scored")
    submitting.select_finals(competition=taught, user=bo, submission_ids=[str(first.pk)], at=timezone.now())
    assert "bo 3 2 1 1.00000 0.50000 0.50000" in text_of(signed_in(ada).get(PAGE))


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
    assert {one.day: one.files for one in report_module.class_report(taught).days} == expected
    assert {one.teams for one in report_module.class_report(taught).days} == {1}


def test_before_the_first_score_the_page_says_so(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    assert "Nobody has a score yet" in text_of(signed_in(ada).get(PAGE))
    pets.refresh_from_db()
    assert len(report_module.report_csv(pets).splitlines()) == 2


def test_the_csv_has_every_team_and_no_formula(taught: Competition, ada: User, bo: User) -> None:
    bo.memberships.get().team.__class__.objects.filter(name="bo").update(name="=1+1")
    response = signed_in(ada).get("/host/pets/report.csv")
    assert response["Content-Disposition"] == 'attachment; filename="pets-report.csv"'
    lines = {line["team"]: line for line in csv.DictReader(io.StringIO(response.content.decode()))}
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


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3, 4, 5], [1, 4, 9, 16, 25], 1.0),
        ([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], -1.0),
        ([1, 1, 2, 2, 3], [1, 1, 2, 2, 3], 1.0),
        ([1, 2, 3, 4], [1, 2, 3, 4], None),
        ([1, 1, 1, 1, 1], [1, 2, 3, 4, 5], None),
    ],
)
def test_the_correlation_is_of_ranks(first: list[float], second: list[float], expected: float | None) -> None:
    assert rank_correlation(first, second) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("correlation", "teams", "output"),
    [
        (0.33, 24, "chance"),
        (0.33, 30, "some"),
        (0.7, 5, "chance"),
        (0.9, 5, "much"),
        (0.2, 100, "none"),
        (None, 3, "unknown"),
    ],
)
def test_what_so_few_teams_show_by_chance_is_called_chance(
    taught: Competition, correlation: float | None, teams: int, output: str
) -> None:
    report = report_module.class_report(taught)
    many = replace(report, teams=tuple(report.ranked[:1] * teams), correlation=correlation)
    assert many.overfitting == output


@pytest.mark.parametrize(
    "values", [[1.0], [0.5, 0.5], [0.0, 1.0], [x / 7 for x in range(500)], [-1e300, 1e300], [3.0, 3.0, 4.0]]
)
def test_every_value_is_in_one_bin(values: list[float]) -> None:
    assert histogram([]) == []
    for whole in (False, True):
        found = histogram([round(value) for value in values] if whole else values, whole=whole)
        assert sum(one.teams for one in found) == len(values)
        assert len(found) <= 21
        assert all(one.low <= one.high for one in found)


def test_empty_bars_lead_to_a_baseline_beside_them_and_not_to_one_far_away() -> None:
    scores = [0.7 + 0.02 * place for place in range(16)]
    found = histogram(scores, also=[0.6, 1.03, -50.0])
    assert sum(one.teams for one in found) == len(scores)
    assert found[0].low <= 0.6 < found[0].high
    assert found[-1].low < 1.03 <= found[-1].high
    assert (found[0].teams, found[-1].teams) == (0, 0)
    assert histogram(scores, also=[-50.0]) == histogram(scores)


def test_a_baseline_is_a_line_or_is_said_to_be_far_away(taught: Competition, ada: User) -> None:
    client = signed_in(ada)
    page = client.get("/host/pets/report/")
    drawn, far = page.context["drawn_baselines"], page.context["far_baselines"]
    assert drawn + far == len(page.context["report"].baselines) > 0
    assert ("dashed lines" in text_of(page)) is bool(drawn)
    assert ("too far away to be drawn" in text_of(page)) is bool(far)


def test_charts_stand_whatever_the_numbers() -> None:
    assert plots.bar_chart([], "x").count("<rect") == 0
    assert plots.bar_chart([0, 2, 1], "x", marks=[0.5]).count("<rect") == 2
    for points in ([], [(0.0, 0.0)], [(1.0, 1e308), (2.0, -1e308)]):
        drawn = plots.dot_chart(points, "x")
        assert "nan" not in drawn
        assert "inf" not in drawn
