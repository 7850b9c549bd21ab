"""A host sees everybody's grade with its reasons; a student their own, once it is released."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import roster
from leaderboard.competitions.models import Competition
from leaderboard.grades import services as grade_services
from leaderboard.grades.models import GradeRules
from tests.common.languages import CODE, second_language
from tests.conftest import answers, close, enter, person, submit
from tests.grades.test_services import add_baseline, set_rules
from tests.pages import tidy

FORM: dict[str, Any] = {
    "method": "linear",
    "max_points": "100",
    "minimum": "0",
    "decimals": "1",
    "participation_points": "0",
    "participation_files": "1",
    "late_percent": "",
    "title": "Pets",
    "line-0-score": "0.5",
    "line-0-points": "50",
    "line-2-baseline": "Strong",
    "line-2-points": "90",
}


@pytest.fixture
def host(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def ended(competition: Competition, *people: User) -> None:
    """People joined and handed a file in; the deadline has passed and the private board is open."""
    for someone in people:
        enter(competition, someone)
        submit(competition, someone, answers(private=3))
    close(competition)
    boards.reveal_competition(competition=competition)


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_before_the_release_only_those_with_an_account_are_counted(host: Client, pets: Competition, bo: User) -> None:
    roster.save_roster_draft(competition=pets, user=None, file_name="", data="Name,Email\nDee Dorn,dorn@example.org\n")
    roster.apply_roster(competition=pets, user=None)
    add_baseline(pets, "Strong", public=1)
    ended(pets, bo)
    host.post("/host/pets/grades/rules/", FORM)
    assert "1 student will be notified" in page(host, "/host/pets/grades/release/")


def test_ada_writes_rules_and_reads_everybodys_reasons(host: Client, pets: Competition, bo: User) -> None:
    add_baseline(pets, "Strong", public=1)
    enter(pets, bo)
    submit(pets, bo, answers(public=2))
    response = host.post("/host/pets/grades/rules/", FORM, follow=True)
    text = response.content.decode()
    assert "Grade rules saved." in text
    assert "public score 0.667 is between 0.5 (50) and Strong 0.833 (90): 70" in text
    assert "After the deadline, private scores decide" in text


def test_beside_the_rules_stand_both_scores_of_each_baseline(host: Client, pets: Competition) -> None:
    add_baseline(pets, "Strong", public=1, private=2)
    text = " ".join(re.sub(r"<[^>]+>", " ", page(host, "/host/pets/grades/rules/")).split())
    assert "Strong 0.833 public 0.667 private" in text


def test_what_is_wrong_in_a_line_is_said_with_its_number_and_nothing_typed_is_lost(
    host: Client, pets: Competition
) -> None:
    response = host.post("/host/pets/grades/rules/", {**FORM, "line-0-score": "half", "title": "My pets"})
    text = response.content.decode()
    assert response.status_code == 422
    assert "Enter a number." in text
    assert 'value="half"' in text
    assert 'value="My pets"' in text
    assert not GradeRules.objects.exists()


def test_rules_that_contradict_themselves_are_refused_with_every_fault(host: Client, pets: Competition) -> None:
    add_baseline(pets, "Strong", public=1)
    response = host.post("/host/pets/grades/rules/", {**FORM, "minimum": "120", "line-0-points": "150"})
    text = response.content.decode()
    assert response.status_code == 409
    assert "The minimum must be between 0 and the maximum." in text
    assert "150 points" in text
    assert not GradeRules.objects.exists()
    better = {"line-1-score": "0.8", "line-1-points": "40"}  # than 0.5, which gives 50
    response = host.post("/host/pets/grades/rules/", {**FORM, **better})
    assert response.status_code == 409
    assert "0.8 (40) is better than 0.5 (50) but gives fewer points." in response.content.decode()
    assert not GradeRules.objects.exists()


def test_a_proposal_is_shown_and_cannot_be_released(host: Client, pets: Competition, bo: User) -> None:
    ended(pets, bo)
    assert "These grades follow suggested rules" in page(host, "/host/pets/grades/")
    assert "no baseline has a score" in page(host, "/host/pets/grades/rules/")
    response = host.post("/host/pets/grades/release/", {"action": "release"})
    assert response.status_code == 409
    assert "Save the grade rules first." in response.content.decode()


def test_the_page_says_what_it_proposes_and_why(host: Client, pets: Competition) -> None:
    add_baseline(pets, "Guess", public=3)
    one = page(host, "/host/pets/grades/rules/")
    assert "To grade by score, first add two baselines with different scores" in one
    add_baseline(pets, "Guess again", public=3)
    assert "add two baselines with different scores" in page(host, "/host/pets/grades/rules/")
    add_baseline(pets, "Strong", public=1)
    two = page(host, "/host/pets/grades/rules/")
    assert "60 points at the score of “Guess" in two
    assert "100 at “Strong”" in two
    assert "Suggestion: points by share" not in two


def test_whole_numbers_stand_in_the_form_as_people_write_them(host: Client, pets: Competition) -> None:
    host.post("/host/pets/grades/rules/", {**FORM, "minimum": "12.5", "line-2-baseline": "", "line-2-score": "0.9"})
    text = page(host, "/host/pets/grades/rules/")
    fields = dict(re.findall(r'name="([\w-]+)" value="([^"]*)"', text))
    assert {name: fields[name] for name in ("max_points", "minimum", "line-0-points", "line-1-score")} == {
        "max_points": "100",
        "minimum": "12.5",
        "line-0-points": "50",
        "line-1-score": "0.9",
    }


def test_a_student_sees_nothing_before_the_release_and_then_their_own_grade_alone(
    host: Client, pets: Competition, bo: User, cy: User
) -> None:
    set_rules(pets)
    ended(pets, bo, cy)
    student = Client()
    student.force_login(bo)
    assert "Your teacher hasn't released the grades yet" in page(student, "/c/pets/grade/")
    host.post("/host/pets/grades/release/", {"action": "release"})
    text = page(student, "/c/pets/grade/")
    assert "private score 0.500 is between 0.5 (50) and 1 (100): 50" in text
    assert "50.0" in text
    assert "/c/pets/grade/" in page(student, "/c/pets/submissions/")
    host.post("/host/pets/grades/release/", {"action": "withdraw"})
    assert "/c/pets/grade/" not in page(student, "/c/pets/submissions/")
    assert "Your teacher hasn't released the grades yet" in page(student, "/c/pets/grade/")


def test_bo_reads_the_reasons_in_bos_language_whatever_the_hosts(host: Client, pets: Competition, bo: User) -> None:
    set_rules(pets)
    ended(pets, bo)
    student = Client()
    student.force_login(bo)
    with second_language():
        User.objects.filter(pk=bo.pk).update(language=CODE)
        host.post("/host/pets/grades/release/", {"action": "release"})
        assert "⟦⟦private score⟧ 0.500 is between 0.5 (50) and 1 (100): 50⟧" in page(student, "/c/pets/grade/")
        User.objects.filter(pk=bo.pk).update(language="en")
        assert ">private score 0.500 is between 0.5 (50) and 1 (100): 50<" in page(student, "/c/pets/grade/")


def test_ada_sees_which_grades_would_be_others_now(host: Client, pets: Competition, bo: User) -> None:
    set_rules(pets)
    ended(pets, bo)
    host.post("/host/pets/grades/release/", {"action": "release"})
    set_rules(pets, minimum=60)
    text = page(host, "/host/pets/grades/")
    assert "1 grade would change if you release again." in text
    assert "released: 50.0" in text


def test_a_student_is_found_by_name_or_team(host: Client, pets: Competition, bo: User, cy: User) -> None:
    set_rules(pets)
    for someone in (bo, cy):
        enter(pets, someone)
    text = tidy(page(host, "/host/pets/grades/?q=CY"))
    assert 'class="break">cy<' in text
    assert 'class="break">bo<' not in text
    assert "No students match" in page(host, "/host/pets/grades/?q=zoe")


def test_the_sheet_of_a_large_class_takes_few_queries_and_few_bytes(host: Client, pets: Competition, bo: User) -> None:
    set_rules(pets, late_percent=10)
    for number in range(12):
        someone = person(f"student{number}")
        enter(pets, someone)
        if number % 2:
            submit(pets, someone, answers(private=number % 5))
    close(pets)
    boards.reveal_competition(competition=pets)
    grade_services.release_grades(competition=pets, user=None)
    with CaptureQueriesContext(connection) as queries:
        page(host, "/host/pets/grades/")
    assert len(queries) <= 12, [query["sql"][:120] for query in queries]


def test_other_hosts_and_students_find_no_grades(pets: Competition, bo: User, dee: User) -> None:
    enter(pets, bo)
    for someone in (bo, dee):
        stranger = Client()
        stranger.force_login(someone)
        for part in ("", "rules/", "release/"):
            assert stranger.get(f"/host/pets/grades/{part}").status_code == 404
