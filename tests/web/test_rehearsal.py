"""A host sees on every page that what is there is made up."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.models import Competition, Submission, Team, User
from tests.conftest import make_competition

PAGE = "/host/pets/rehearsal/"


@pytest.fixture
def host(client: Client, ada: User) -> Client:
    make_competition(ada, launched=False)
    client.force_login(ada)
    return client


def test_ada_rehearses_looks_and_wipes(host: Client) -> None:
    text = host.post(PAGE, {"action": "rehearse", "teams": "5", "seed": "1"}, follow=True).content.decode()
    assert "files are on their way" in text
    assert f"Waiting</dt><dd>{Submission.objects.filter(status='pending').count()}<" in text
    for path in (PAGE, "/host/pets/", "/host/pets/grades/", "/c/pets/leaderboard/", "/c/pets/"):
        assert "are made up." in host.get(path).content.decode(), path
    text = host.post(PAGE, {"action": "wipe"}, follow=True).content.decode()
    assert "nothing of it is left" in text
    assert "are made up." not in text
    assert not Team.objects.exists()


def test_a_number_of_teams_that_cannot_be_is_said_at_its_field(host: Client) -> None:
    response = host.post(PAGE, {"action": "rehearse", "teams": "0", "seed": "1"})
    assert response.status_code == 422
    assert "greater than or equal to 2" in response.content.decode()
    response = host.post(PAGE, {"action": "wipe"}, follow=True)
    assert "There is no rehearsal here." in response.content.decode()


def test_nobody_else_sees_or_makes_a_rehearsal(host: Client, bo: User) -> None:
    host.post(PAGE, {"action": "rehearse", "teams": "3", "seed": "1"})
    student = Client()
    student.force_login(bo)
    assert {student.get(path).status_code for path in (PAGE, "/c/pets/", "/c/pets/leaderboard/")} == {404}
    assert student.post(PAGE, {"action": "wipe"}).status_code == 404
    assert Competition.objects.get().rehearsed_at is not None
