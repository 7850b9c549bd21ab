"""A host takes the grades to Canvas, Moodle and Brightspace."""

from __future__ import annotations

import csv

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.competitions.models import Competition, Membership
from leaderboard.grades import services as grade_services
from leaderboard.grades.models import Gradebook, SavedRules
from tests.grades.test_canvas import CANVAS
from tests.grades.test_services import end, set_rules
from tests.pages import tidy

PAGE = "/host/pets/grades/canvas/"
FILE = "/host/pets/grades/files/{}.csv"


@pytest.fixture
def host(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def graded(pets: Competition, bo: User) -> Competition:
    """Bo, whom Canvas knows by his address, has 50 points."""
    User.objects.filter(pk=bo.pk).update(first_name="Bo", last_name="Bello", email="bo@uni.example")
    set_rules(pets)
    end(pets, bo, private=3)
    return pets


def upload(host: Client, data: bytes) -> str:
    file = SimpleUploadedFile("grades.csv", data, "text/csv")
    return host.post(PAGE, {"action": "upload", "file": file}, follow=True).content.decode()


def test_ada_has_her_gradebook_filled(host: Client, graded: Competition) -> None:
    text = upload(host, CANVAS.encode())
    assert "</dt><dd>1<" in text
    assert "match by a self-chosen name:" in text
    assert "Costa, Cy · 1002 · cy@uni.example" in text
    host.post(PAGE, {"action": "choose", "column": "Pets (102)"})
    response = host.get(FILE.format("canvas"))
    assert response["Content-Disposition"] == 'attachment; filename="pets-grades-canvas.csv"'
    assert response.content.decode() == CANVAS.replace('"A""",9.5,,95', '"A""",9.5,50.0,95')


def test_the_file_is_filled_in_the_column_that_the_page_shows(host: Client, graded: Competition) -> None:
    """A column out of other points is looked at first."""
    upload(host, CANVAS.encode())
    host.post(PAGE, {"action": "choose", "column": ""})
    pets = host.post(PAGE, {"action": "download", "column": "Pets (102)"}, follow=True)
    assert pets.redirect_chain[-1][0] == FILE.format("canvas")
    wanted = {"action": "download", "column": "Homework (101)"}
    page = host.post(PAGE, wanted, follow=True)
    assert page.redirect_chain[-1][0] == PAGE
    assert "out of 10 points, but your rules give up to 100" in page.content.decode()
    filled = host.post(PAGE, wanted, follow=True)
    assert filled.redirect_chain[-1][0] == FILE.format("canvas")
    assert host.post(PAGE, {"action": "download", "column": "Nothing"}).status_code in (409, 422)


def test_the_column_called_like_the_assignment_or_else_the_competition_is_proposed(
    host: Client, graded: Competition
) -> None:
    book = CANVAS.replace("Pets (102)", "Cats or dogs (102)").encode()
    assert '(102)" selected' not in upload(host, book), "the rules call the assignment Pets"
    set_rules(graded, title="Cats or")
    assert '<option value="Cats or dogs (102)" selected>' in upload(host, book)
    SavedRules.objects.all().delete()
    assert '<option value="Cats or dogs (102)" selected>' in upload(host, book)


def test_other_points_in_canvas_are_noticed_before_the_download(host: Client, graded: Competition) -> None:
    upload(host, CANVAS.encode())
    host.post(PAGE, {"action": "choose", "column": "Homework (101)"})
    assert "out of 10 points, but your rules give up to 100" in host.get(PAGE).content.decode()


def test_points_are_written_out_of_what_canvas_says_where_ada_says_so(host: Client, graded: Competition) -> None:
    upload(host, CANVAS.encode())
    homework = {"action": "choose", "column": "Homework (101)"}
    host.post(PAGE, homework)
    page = host.get(PAGE).content.decode()
    assert "The file uses points out of 100" in page
    assert '<td class="number">50.0</td><td class="number">5.00</td>' in tidy(page)
    assert host.get(FILE.format("canvas")).content.decode() == CANVAS.replace('"A""",9.5,', '"A""",50.0,')
    host.post(PAGE, {**homework, "scaled": "yes"})
    page = host.get(PAGE).content.decode()
    assert "The file uses points out of 10." in page
    assert "Use points out of 100</button>" in tidy(page)
    assert host.get(FILE.format("canvas")).content.decode() == CANVAS.replace('"A""",9.5,', '"A""",5.00,')
    host.post(PAGE, {"action": "choose", "column": "Pets (102)"})
    assert "The file uses points out of" not in host.get(PAGE).content.decode(), (
        "this column is out of what the rules give"
    )
    host.post(PAGE, homework)
    assert not Gradebook.objects.get().is_scaled, "of another column nobody said so"


def test_halves_are_rounded_up_in_the_points_of_canvas_too(host: Client, graded: Competition) -> None:
    upload(host, CANVAS.replace(",,10,100,", ",,0.25,100,").encode())
    host.post(PAGE, {"action": "choose", "column": "Homework (101)", "scaled": "yes"})
    assert '"A""",0.13,' in host.get(FILE.format("canvas")).content.decode()


@pytest.mark.parametrize("possible", ["0", "-5", "1e300", "nan", "(read only)"])
def test_a_column_out_of_nothing_offers_no_other_points(host: Client, graded: Competition, possible: str) -> None:
    upload(host, CANVAS.replace(",,10,100,", f",,{possible},100,").encode())
    page = host.post(PAGE, {"action": "choose", "column": "Homework (101)", "scaled": "yes"}, follow=True)
    assert page.status_code == 200
    assert "The file uses points out of" not in page.content.decode()
    assert '"A""",50.0,' in host.get(FILE.format("canvas")).content.decode()


def test_the_page_says_that_grades_were_released_by_other_rules_and_the_file_what_was_released(
    host: Client, graded: Competition
) -> None:
    """They were out of a hundred, and the rules of now give up to two hundred, in whole points."""
    boards.reveal_competition(competition=graded)
    grade_services.release_grades(graded=graded, user=None)
    warning = "Your rules changed after the release"
    assert warning not in upload(host, CANVAS.encode())
    set_rules(graded, out_of=200, decimals=0)
    page = tidy(host.post(PAGE, {"action": "choose", "column": "Homework (101)"}, follow=True).content.decode())
    assert f"{warning}" in page
    assert '<a href="/host/pets/grades/release/">Release again or withdraw</a>' in page
    assert "out of 10 points, but the released grades are out of 100" in page
    assert "The file uses points out of 100, as released." in page
    assert '"A""",50.0,' in host.get(FILE.format("canvas")).content.decode()
    host.post(PAGE, {"action": "choose", "column": "Homework (101)", "scaled": "yes"})
    assert '"A""",5.00,' in host.get(FILE.format("canvas")).content.decode()
    host.post(PAGE, {"action": "choose", "column": ""})
    head, *lines = csv.reader(host.get(FILE.format("canvas")).content.decode().splitlines())
    (possible,) = [line for line in lines if "Points Possible" in line[0]]
    assert possible[head.index("Pets")] == "100", "what is said of a new column"
    grade_services.release_grades(graded=graded, user=None)
    assert warning not in host.get(PAGE).content.decode()


def test_points_out_of_two_numbers_are_called_so_and_not_written_anew(
    host: Client, graded: Competition, cy: User
) -> None:
    """Cy has joined the course late, and nobody has told him a grade."""
    boards.reveal_competition(competition=graded)
    grade_services.release_grades(graded=graded, user=None)
    set_rules(graded, out_of=200, no_file="zero")
    team = graded.teams.create(name="late", invitation="late")
    Membership.objects.create(team=team, competition=graded, user=cy)
    upload(host, CANVAS.encode())
    page = host.post(PAGE, {"action": "choose", "column": "Homework (101)", "scaled": "yes"}, follow=True)
    assert "Students without a released grade get points out of 200." in page.content.decode()
    assert "The file uses points out of" not in page.content.decode()
    assert '"A""",50.0,' in host.get(FILE.format("canvas")).content.decode()


def test_what_is_no_gradebook_is_refused_and_the_earlier_one_stays(host: Client, graded: Competition) -> None:
    upload(host, CANVAS.encode())
    assert "a Canvas gradebook:" in upload(host, b"a,b\n1,2\n")
    assert "Choose a file first." in host.post(PAGE, {"action": "upload"}).content.decode()
    response = host.post(PAGE, {"action": "choose", "column": "Nothing (1)"})
    assert response.status_code == 409
    assert "The file has no assignment “Nothing (1)”." in response.content.decode()
    assert bytes(Gradebook.objects.get().data) == CANVAS.encode()


def test_the_uploaded_file_can_be_deleted(host: Client, graded: Competition) -> None:
    upload(host, CANVAS.encode())
    host.post(PAGE, {"action": "forget"})
    assert not Gradebook.objects.exists()
    response = host.get(FILE.format("canvas"), follow=True)
    assert "Upload a gradebook exported from Canvas first." in response.content.decode()


def test_files_say_what_was_released(host: Client, graded: Competition) -> None:
    boards.reveal_competition(competition=graded)
    grade_services.release_grades(graded=graded, user=None)
    set_rules(graded, least=90)
    assert "bo@uni.example,,Bo,Bello,50.0," in host.get(FILE.format("moodle")).content.decode()
    grade_services.withdraw_grades(graded=graded, user=None)
    assert "bo@uni.example,,Bo,Bello,90.0," in host.get(FILE.format("moodle")).content.decode()


def test_nothing_is_downloaded_by_rules_that_nobody_saved(host: Client, pets: Competition) -> None:
    response = host.get(FILE.format("plain"), follow=True)
    assert "Save the grade rules first." in response.content.decode()
    assert host.get(FILE.format("excel")).status_code == 404


def test_a_student_gets_no_file(graded: Competition, bo: User) -> None:
    student = Client()
    student.force_login(bo)
    assert {student.get(path).status_code for path in (PAGE, FILE.format("plain"), FILE.format("canvas"))} == {404}
