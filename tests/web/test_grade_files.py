"""A host takes the grades to Canvas, Moodle and Brightspace."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard import hosting
from leaderboard.models import Competition, Gradebook, User
from tests.conftest import answers, close, enter, hand_in
from tests.leaderboard.test_gradebooks import CANVAS
from tests.leaderboard.test_grades import set_rules

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
    enter(pets, bo)
    hand_in(pets, bo, answers(private=3))
    close(pets)
    return pets


def upload(host: Client, data: bytes) -> str:
    file = SimpleUploadedFile("grades.csv", data, "text/csv")
    return host.post(PAGE, {"action": "upload", "file": file}, follow=True).content.decode()


def test_ada_has_her_gradebook_filled(host: Client, graded: Competition) -> None:
    text = upload(host, CANVAS.encode())
    assert "Found</dt><dd>1<" in text
    assert "found by names that the person chose" in text
    assert "Costa, Cy · 1002 · cy@uni.example" in text
    host.post(PAGE, {"action": "choose", "column": "Pets (102)"})
    response = host.get(FILE.format("canvas"))
    assert response["Content-Disposition"] == 'attachment; filename="pets-grades-canvas.csv"'
    assert response.content.decode() == CANVAS.replace('"A""",9.5,,95', '"A""",9.5,50.0,95')


def test_the_column_called_like_the_competition_is_proposed(host: Client, graded: Competition) -> None:
    text = upload(host, CANVAS.replace("Pets (102)", "Cats or dogs (102)").encode())
    assert '<option value="Cats or dogs (102)" selected>' in text


def test_other_points_in_canvas_are_noticed_before_the_download(host: Client, graded: Competition) -> None:
    upload(host, CANVAS.encode())
    host.post(PAGE, {"action": "choose", "column": "Homework (101)"})
    assert "out of 10 points; your rules give up to 100" in host.get(PAGE).content.decode()


def test_what_is_no_gradebook_is_refused_and_the_earlier_one_stays(host: Client, graded: Competition) -> None:
    upload(host, CANVAS.encode())
    assert "This is no gradebook of Canvas" in upload(host, b"a,b\n1,2\n")
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
    assert "Upload the gradebook that Canvas exports first." in response.content.decode()


def test_files_say_what_was_released(host: Client, graded: Competition) -> None:
    hosting.reveal(competition=graded)
    hosting.release_grades(competition=graded, user=None)
    set_rules(graded, minimum=90)
    assert "bo@uni.example,,Bo,Bello,50.0," in host.get(FILE.format("moodle")).content.decode()
    hosting.withdraw_grades(competition=graded, user=None)
    assert "bo@uni.example,,Bo,Bello,90.0," in host.get(FILE.format("moodle")).content.decode()


def test_nothing_is_downloaded_by_rules_that_nobody_saved(host: Client, pets: Competition) -> None:
    response = host.get(FILE.format("plain"), follow=True)
    assert "Save the grade rules first." in response.content.decode()
    assert host.get(FILE.format("excel")).status_code == 404


def test_a_student_gets_no_file(graded: Competition, bo: User) -> None:
    student = Client()
    student.force_login(bo)
    assert {student.get(path).status_code for path in (PAGE, FILE.format("plain"), FILE.format("canvas"))} == {404}
