"""Points by hand count as they were given, for everybody on a list or for nobody, and a mark that Ada sets is hers."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import courses, people
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost
from leaderboard.grades import by_hand, personal_data
from leaderboard.grades import services as grade_services
from leaderboard.grades.models import HandPoints, Override
from metrics.tests.test_workbooks import rows, workbook
from tests.conftest import answers, close, enter, make_competition, submit
from tests.grades.test_services import RULES, grades, reasons, set_rules, sheet_of

REPORT = {"name": "Report", "of": "by_hand"}
POINTS = "/host/pets/grades/points/"


@pytest.fixture
def graded(pets: Competition, bo: User, cy: User) -> Competition:
    """Bo has half the points by score; Cy has no file."""
    set_rules(pets, terms=[*RULES["terms"], REPORT], no_file="rest", cap=140)
    for someone in (bo, cy):
        enter(pets, someone)
    submit(pets, bo, answers(private=3))
    close(pets)
    return pets


def give(competition: Competition, *points: tuple[User, object]) -> int:
    given = {(user.pk, "Report"): None if value is None else Fraction(str(value)) for user, value in points}
    return by_hand.set_hand_points(graded=competition, points=given, user=None)


def test_points_by_hand_are_added_and_are_told(graded: Competition, bo: User, cy: User) -> None:
    assert grades(graded) == {"bo": 50, "cy": 0}
    assert give(graded, (bo, "31.5"), (cy, 12)) == 2
    assert give(graded, (bo, "31.5")) == 0
    assert grades(graded) == {"bo": 81.5, "cy": 12}
    assert "Report, given by hand: 31.5 points." in reasons(graded)["bo"]
    assert give(graded, (cy, None)) == 1
    assert grades(graded) == {"bo": 81.5, "cy": 0}
    assert AuditEntry.objects.filter(event="points_given").count() == 2


def test_a_list_of_points_is_read_by_addresses_names_and_numbers(graded: Competition, bo: User, cy: User) -> None:
    RosterEntry.objects.create(course=graded.course, user=cy, name="Cy Young", student_id="7001")
    students = [row.student for row in sheet_of(graded).rows]
    data = "Name;Student ID;E-mail;Report\nBo;;bo@example.org;31,5\nYoung, Cy;7001;;12\n"
    assert by_hand.read_points(data, students, ["Report"]) == {
        (bo.pk, "Report"): Fraction("31.5"),
        (cy.pk, "Report"): 12,
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            "Email,Report\nbo@example.org,5\nstranger@example.org,9\n",
            "Row 3: “stranger@example.org” isn't in this class.",
        ),
        ("Email,Report\nbo@example.org,many\n", "Row 2: “many” isn't a number."),
        ("Email,Essay\nbo@example.org,5\n", "no column of points"),
        ("", "The list is empty."),
    ],
)
def test_of_a_list_with_a_fault_nothing_is_stored_and_the_row_is_named(
    graded: Competition, ada: User, data: str, words: str
) -> None:
    students = [row.student for row in sheet_of(graded).rows]
    with pytest.raises(CannotHost) as refused:
        by_hand.read_points(data, students, ["Report"])
    assert words in " ".join([refused.value.message, *refused.value.details])
    client = Client()
    client.force_login(ada)
    response = client.post(POINTS, {"action": "upload", "text": data or " "})
    assert response.status_code in (409, 422)
    assert not HandPoints.objects.exists()


def test_a_workbook_of_points_is_read_as_a_class_list_is(graded: Competition, ada: User, bo: User, cy: User) -> None:
    client = Client()
    client.force_login(ada)

    def upload(*lines: tuple[str, float]) -> str:
        file = SimpleUploadedFile("points.xlsx", workbook(rows(("Email", "Report"), *lines)))
        return client.post(POINTS, {"action": "upload", "file": file}, follow=True).content.decode()

    assert "2 entries changed." in upload(("bo@example.org", 31.5), ("cy@example.org", 12))
    assert grades(graded) == {"bo": 81.5, "cy": 12}
    page = upload(("bo@example.org", 1), ("stranger@example.org", 2))
    assert "Row 3: “stranger@example.org” isn&#x27;t in this class." in page
    assert grades(graded) == {"bo": 81.5, "cy": 12}


def late_lee(competition: Competition) -> RosterEntry:
    return RosterEntry.objects.create(course=competition.course, name="Late Lee", email="dee@example.org")


def test_points_of_who_has_no_account_wait_on_the_class_list_until_they_join(
    graded: Competition, ada: User, bo: User, dee: User
) -> None:
    entry, client = late_lee(graded), Client()
    client.force_login(ada)
    upload = {"action": "upload", "text": "Email,Report\nbo@example.org,5\ndee@example.org,4\n"}
    assert client.post(POINTS, upload).status_code == 302
    assert grades(graded) == {"": 4, "bo": 55, "cy": 0}
    assert "Report, given by hand: 4 points." in reasons(graded)[""]
    assert client.post(POINTS, {f"{-entry.pk}-0": "6"}).status_code == 302
    assert grades(graded)[""] == 6
    Competition.objects.update(closes_at=timezone.now() + timedelta(days=1))
    enter(Competition.objects.get(), dee)
    close(graded)
    people.link_members(graded.course, by_any_address=True)
    assert grades(graded) == {"dee": 6, "bo": 55, "cy": 0}
    boards.reveal_competition(competition=graded)
    grade_services.release_grades(graded=graded, user=ada)
    points = [{"competition__slug": "pets", "course__title": None, "points": 6, "name": "Report"}]
    assert taken_along(dee)["points_by_hand"] == points
    give(graded, (dee, 9))
    assert grades(graded)["dee"] == 9
    assert HandPoints.objects.filter(entry=entry).count() == 0


def test_points_follow_the_entry_that_a_move_makes_one_with_another(graded: Competition, ada: User) -> None:
    entry = late_lee(graded)
    by_hand.set_hand_points(graded=graded, points={(-entry.pk, "Report"): Fraction(4)}, user=ada)
    birds = make_competition(ada, slug="birds")
    into = late_lee(birds)
    courses.move_competition(competition=graded, course=birds.course, user=ada)
    graded.refresh_from_db()
    assert HandPoints.objects.get().entry == into
    assert grades(graded)[""] == 4


def test_points_for_who_was_just_taken_off_the_list_are_refused(graded: Competition, ada: User) -> None:
    entry = late_lee(graded)
    points = {(-entry.pk, "Report"): Fraction(4)}
    entry.delete()
    with pytest.raises(CannotHost, match="roster"):
        by_hand.set_hand_points(graded=graded, points=points, user=ada)


def test_ada_types_points_and_takes_some_back(graded: Competition, ada: User, bo: User, cy: User) -> None:
    client = Client()
    client.force_login(ada)
    assert client.post(POINTS, {f"{bo.pk}-0": "31,5", f"{cy.pk}-0": "4"}).status_code == 302
    assert 'value="31.5"' in client.get(POINTS).content.decode()
    assert client.post(POINTS, {f"{bo.pk}-0": "31.5", f"{cy.pk}-0": ""}).status_code == 302
    assert list(HandPoints.objects.values_list("user", "points")) == [(bo.pk, 31.5)]
    assert client.post(POINTS, {f"{bo.pk}-0": "lots"}).status_code == 409
    assert client.post(POINTS, {"999999-0": "5", f"{bo.pk}-7": "5"}).status_code == 302
    assert list(HandPoints.objects.values_list("user", "points")) == [(bo.pk, 31.5)]


def test_a_mark_that_ada_sets_replaces_the_computed_one_until_she_removes_it(
    graded: Competition, ada: User, bo: User, cy: User
) -> None:
    client = Client()
    client.force_login(ada)
    page = f"/host/pets/grades/of/{bo.pk}/"
    assert "Private score 0.500" in client.get(page).content.decode()
    assert client.post(page, {"points": "85", "reason": " "}).status_code == 409
    assert client.post(page, {"points": "-1", "reason": "no"}).status_code == 409
    assert not Override.objects.exists()
    assert client.post(page, {"points": "85", "reason": "medical certificate"}).status_code == 303
    assert grades(graded) == {"bo": 85, "cy": 0}
    assert reasons(graded)["bo"] == "Set to 85 by ada: medical certificate"
    submit_rules = {**RULES, "least": 20}
    grade_services.set_grade_rules(graded=graded, values=submit_rules, user=ada)
    assert grades(graded)["bo"] == 85
    assert client.post(page, {"action": "remove"}).status_code == 303
    assert grades(graded)["bo"] == 50
    assert list(AuditEntry.objects.filter(account=bo.pk).values_list("event", flat=True).order_by("pk")) == [
        "grade_set",
        "grade_set_removed",
    ]


def test_bo_reads_why_his_mark_was_set_and_takes_it_along(graded: Competition, ada: User, bo: User) -> None:
    by_hand.set_override(graded=graded, student=bo, points=Fraction(85), reason="Illness", user=ada)
    boards.reveal_competition(competition=graded)
    grade_services.release_grades(graded=graded, user=ada)
    client = Client()
    client.force_login(bo)
    assert "Set to 85 by ada: Illness" in client.get("/c/pets/grade/").content.decode()
    ada.delete()
    assert grades(graded)["bo"] == 85
    bo.delete()
    assert not Override.objects.exists()


@pytest.mark.attack("reading grades before their release")
def test_bo_takes_along_what_was_given_by_hand_only_while_it_is_released(
    graded: Competition, ada: User, bo: User
) -> None:
    names = ("grades", "points_by_hand", "grades_set_by_hosts")

    def lengths() -> tuple[int, ...]:
        return tuple(len(taken_along(bo)[name]) for name in names)

    give(graded, (bo, 12))
    by_hand.set_override(graded=graded, student=bo, points=Fraction(85), reason="Illness", user=ada)
    boards.reveal_competition(competition=graded)
    assert lengths() == (0, 0, 0)
    grade_services.release_grades(graded=graded, user=ada)
    assert lengths() == (1, 1, 1)
    by_hand.set_override(graded=graded, student=bo, points=Fraction(20), reason="Copied", user=ada)
    assert lengths() == (1, 1, 0), "the new mark waits for the next release"
    grade_services.withdraw_grades(graded=graded, user=ada)
    assert lengths() == (0, 0, 0)


def taken_along(account: User) -> dict[str, Any]:
    return dict(personal_data.export_grades(account=account, at=timezone.now()).texts)


def test_students_and_strangers_open_no_page_of_points(graded: Competition, bo: User, dee: User) -> None:
    for someone in (bo, dee):
        client = Client()
        client.force_login(someone)
        for page in (POINTS, f"/host/pets/grades/of/{bo.pk}/"):
            assert client.get(page).status_code == 404
