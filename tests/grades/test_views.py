"""A host sees everybody's grade with its reasons; a student their own, once it is released."""

from __future__ import annotations

import html
import re
from random import Random
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
from leaderboard.grades import suggestions
from leaderboard.grades.models import SavedRules
from leaderboard.grades.rules import GradeRules
from tests.common.languages import CODE, second_language
from tests.conftest import answers, close, enter, person, submit
from tests.grades.test_cases import random_rules
from tests.grades.test_services import add_baseline, set_rules
from tests.pages import tidy

FORM: dict[str, Any] = {
    "action": "save",
    "out_of": "100",
    "least": "0",
    "decimals": "1",
    "no_file": "none",
    "every_hours": "24",
    "unit": "percent",
    "then": "stay",
    "title": "Pets",
    "terms-0-name": "Score",
    "terms-0-of": "score",
    "terms-0-board": "private",
    "terms-0-0-mode": "line",
    "terms-0-0-at": "number",
    "terms-0-0-number": "0.5",
    "terms-0-0-points": "50",
    "terms-0-2-mode": "line",
    "terms-0-2-at": "baseline:Strong",
    "terms-0-2-points": "90",
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
    assert "Public score 0.667 lies between 0.5 (50 points) and “Strong” 0.833 (90 points): 70 points." in text
    assert "After the deadline, private scores decide" in text


def test_what_is_wrong_in_a_row_is_said_there_and_nothing_typed_is_lost(host: Client, pets: Competition) -> None:
    add_baseline(pets, "Strong", public=1)
    response = host.post("/host/pets/grades/rules/", {**FORM, "terms-0-0-number": "half", "title": "My pets"})
    text = response.content.decode()
    assert response.status_code == 409
    assert "enter a number." in text
    assert 'value="half"' in text
    assert 'value="My pets"' in text
    assert not SavedRules.objects.exists()


def test_rules_that_contradict_themselves_are_refused_with_every_fault(host: Client, pets: Competition) -> None:
    add_baseline(pets, "Strong", public=1)
    response = host.post("/host/pets/grades/rules/", {**FORM, "least": "120", "cap": "90", "off": "20, 10"})
    text = response.content.decode()
    assert response.status_code == 409
    assert "The minimum must be between 0 and the maximum." in text
    assert "The cap can&#x27;t be below the full mark." in text
    assert "A later period can&#x27;t cost less than an earlier one." in text
    assert not SavedRules.objects.exists()
    better = {"terms-0-1-at": "number", "terms-0-1-number": "0.8", "terms-0-1-points": "40"}  # than 0.5, which gives 50
    response = host.post("/host/pets/grades/rules/", {**FORM, **better})
    assert response.status_code == 409
    assert "row 2 is better than row 1 but gives fewer points." in response.content.decode()
    assert not SavedRules.objects.exists()


def test_a_proposal_is_shown_and_cannot_be_released(host: Client, pets: Competition, bo: User) -> None:
    ended(pets, bo)
    assert "These grades follow suggested rules" in page(host, "/host/pets/grades/")
    assert "This is a suggestion" in page(host, "/host/pets/grades/rules/")
    response = host.post("/host/pets/grades/release/", {"action": "release"})
    assert response.status_code == 409
    assert "Save the grade rules first." in response.content.decode()


def test_rules_are_tried_beside_the_form_and_nothing_is_saved(host: Client, pets: Competition, bo: User) -> None:
    add_baseline(pets, "Strong", public=1)
    enter(pets, bo)
    submit(pets, bo, answers(public=2))
    text = host.post("/host/pets/grades/rules/", {**FORM, "action": "try"}).content.decode()
    assert "bo · 70.0" in text
    assert not SavedRules.objects.exists()


@pytest.mark.parametrize("key", [picture.key for picture in suggestions.PICTURES])
def test_a_picture_leaves_scores_empty_without_baselines(host: Client, pets: Competition, key: str) -> None:
    assert 'name="terms-0-name"' in page(host, f"/host/pets/grades/rules/?picture={key}")


def test_each_picture_fills_the_form_and_can_be_saved(host: Client, pets: Competition) -> None:
    add_baseline(pets, "Weak", public=3)
    add_baseline(pets, "Strong", public=1)
    for key in ("between", "cutoffs", "best", "place", "baselines", "bonus", "hand"):
        text = page(host, f"/host/pets/grades/rules/?picture={key}")
        response = host.post("/host/pets/grades/rules/", {**form_values(text), "action": "save"})
        assert response.status_code == 303, (key, response.content.decode())
    assert [term["of"] for term in SavedRules.objects.get().values["terms"]] == ["score", "by_hand"]
    assert 'value="Report"' not in page(host, "/host/pets/grades/rules/?picture=empty")


def test_every_rule_can_be_entered_by_clicks_and_comes_back(host: Client, pets: Competition) -> None:
    for name, wrong in (("weak", 4), ("strong", 2), ("boss", 1)):
        add_baseline(pets, name, public=wrong)
    for seed in range(12):
        values = random_rules(Random(seed))
        for term in (*values["terms"], *values.get("factors", ())):
            term.pop("from", None)
        saved = set_rules(pets, **values)
        text = page(host, "/host/pets/grades/rules/")
        response = host.post("/host/pets/grades/rules/", {**form_values(text), "action": "save"})
        assert response.status_code == 303, (seed, response.content.decode())
        assert GradeRules.from_values(SavedRules.objects.get().values) == saved


def test_a_term_and_rows_are_added_without_a_complaint_and_nothing_typed_is_lost(
    host: Client, pets: Competition
) -> None:
    chosen = {"no_file": "none", "unit": "percent", "then": "stay", "decimals": "1"}
    typed = {**chosen, "terms-0-of": "score", "terms-0-board": "private", "terms-0-0-points": "40"}
    for action, rows in (("row:terms-0", 2), ("terms", 4)):
        answer = host.post("/host/pets/grades/rules/", {**typed, "action": action})
        text = answer.content.decode()
        assert text.count('-points"') >= rows
        assert 'value="40"' in text
        assert "This field is required" not in text
    again = {**typed, "terms-0-1-points": "", "terms-0-2-points": "", "action": "row:terms-0"}
    assert "terms-0-3-points" in host.post("/host/pets/grades/rules/", again).content.decode()


def test_a_row_of_an_added_term_compares_with_the_value_unless_ada_chooses(host: Client, pets: Competition) -> None:
    add_baseline(pets, "Strong", public=1)
    text = host.post("/host/pets/grades/rules/", {**FORM, "action": "terms"}).content.decode()
    typed = {"name": "Effort", "of": "files", "0-mode": "steps", "0-number": "1", "0-points": "5"}
    sent = {**form_values(text), **{f"terms-1-{name}": value for name, value in typed.items()}, "action": "save"}
    assert host.post("/host/pets/grades/rules/", sent).status_code == 303
    assert SavedRules.objects.get().values["terms"][1]["of"] == "files"


def form_values(text: str) -> dict[str, Any]:
    """What a browser would send of the form of the rules as it is shown."""
    values: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", text):
        name, value = (re.search(rf' {key}="([^"]*)"', tag) for key in ("name", "value"))
        if name and (' type="checkbox"' not in tag or " checked" in tag):
            values[name[1]] = html.unescape(value[1]) if value else "on" if "checkbox" in tag else ""
    for name, options in re.findall(r'<select name="([^"]*)".*?>(.*?)</select>', text, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options) or re.search(r'value="([^"]*)"', options)
        values[name] = html.unescape(chosen[1]) if chosen else ""
    return values


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
    assert "Private score 0.500 lies between 0.5 (50 points) and 1 (100 points): 50 points." in text
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
        assert "lies between 0.5 (⟦50 points⟧) and 1 (⟦100 points⟧)⟧: ⟦50 points⟧.⟧" in page(student, "/c/pets/grade/")
        User.objects.filter(pk=bo.pk).update(language="en")
        assert ">Private score 0.500 lies between 0.5 (50 points) and 1 (100 points): 50 points.<" in page(
            student, "/c/pets/grade/"
        )


def test_ada_sees_which_grades_would_be_others_now(host: Client, pets: Competition, bo: User) -> None:
    set_rules(pets)
    ended(pets, bo)
    host.post("/host/pets/grades/release/", {"action": "release"})
    set_rules(pets, least=60)
    text = page(host, "/host/pets/grades/")
    assert "1 grade would change if you release again." in text
    assert "released: 50.0" in text


def test_a_student_is_found_by_name_or_team(host: Client, pets: Competition, bo: User, cy: User) -> None:
    set_rules(pets)
    for someone in (bo, cy):
        enter(pets, someone)
    text = tidy(page(host, "/host/pets/grades/?q=CY"))
    assert ">cy</a>" in text
    assert ">bo</a>" not in text
    assert "No students match" in page(host, "/host/pets/grades/?q=zoe")


def test_the_sheet_of_a_large_class_takes_few_queries_and_few_bytes(host: Client, pets: Competition, bo: User) -> None:
    set_rules(pets, late={"off": [10]})
    for number in range(12):
        someone = person(f"student{number}")
        enter(pets, someone)
        if number % 2:
            submit(pets, someone, answers(private=number % 5))
    close(pets)
    boards.reveal_competition(competition=pets)
    grade_services.release_grades(graded=pets, user=None)
    with CaptureQueriesContext(connection) as queries:
        page(host, "/host/pets/grades/")
    assert len(queries) <= 12, [query["sql"][:120] for query in queries]
