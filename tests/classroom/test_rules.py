"""Rules are accepted here, with time and version."""

from __future__ import annotations

from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.classroom import joining
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Admission, Competition, Membership
from tests.conftest import enter


def test_bo_accepts_and_goes_on_to_the_data(client: Client, pets: Competition, bo: User) -> None:
    joining.enter_competition(user=bo, competition=pets)
    client.force_login(bo)
    assert "I accept the rules" in client.get("/c/pets/rules/").content.decode()
    response = client.post("/c/pets/rules/")
    assert response["Location"] == "/c/pets/data/"
    membership = Membership.objects.get(user=bo)
    assert membership.rules_version == 1
    assert membership.rules_accepted_at is not None
    assert "You accepted these rules" in client.get("/c/pets/rules/").content.decode()


def test_changed_rules_say_so(client: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    competitions.change_competition(competition=pets, rules="No external data.")
    client.force_login(bo)
    text = client.get("/c/pets/rules/").content.decode()
    assert "The rules have changed since you accepted them (" in text
    assert "I accept the rules" in text


def test_where_there_are_no_rules_nobody_says_that_they_read_them_until_some_are_written(
    client: Client, pets: Competition, bo: User
) -> None:
    competitions.change_competition(competition=pets, rules="  \n")
    client.force_login(bo)
    door = f"/join/{pets.admission.join_code}/"
    assert "I have read the rules" not in client.get(door).content.decode()
    assert "accept" not in client.get("/c/pets/").content.decode()
    assert client.post(door)["Location"] == "/c/pets/"
    page = client.get("/c/pets/rules/").content.decode()
    assert "You accepted" not in page
    assert "I accept the rules" not in page
    assert Membership.objects.get(user=bo).has_accepted_rules()

    competitions.change_competition(competition=pets, rules="No external data.")
    assert "I accept the rules" in client.get("/c/pets/rules/").content.decode()
    assert not Membership.objects.get(user=bo).has_accepted_rules()


def test_a_stranger_reads_public_rules_and_accepts_nothing(client: Client, pets: Competition, dee: User) -> None:
    Admission.objects.update(is_listed=True)
    client.force_login(dee)
    assert "I accept the rules" not in client.get("/c/pets/rules/").content.decode()
    assert client.post("/c/pets/rules/").status_code == 302
    assert not Membership.objects.exists()
