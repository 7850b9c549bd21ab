"""Ada gives and takes roles; hosts give up theirs."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, roles, teams
from leaderboard.classroom.models import HostingRole
from leaderboard.competitions.models import Competition
from tests.pages import signed_in, text_of, tidy

ROLES = "/host/pets/people/roles/"


@pytest.fixture
def hers(ada: User, pets: Competition) -> Client:
    return signed_in(ada)


@pytest.mark.parametrize("name", ["dee@example.org", "dee@", "nobody"])
def test_a_role_needs_an_account_that_is_known_to_be_the_persons(
    hers: Client, dee: User, pets: Competition, name: str
) -> None:
    page = text_of(hers.post(ROLES, {"action": "add", "name": name, "role": "host"}))
    assert "Ask the person for their username" in page or "The person needs to sign up first" in page
    assert pets.hosts.count() == 1
    dee.emailaddress_set.create(email=dee.email, verified=True)  # type: ignore[attr-defined]
    hers.post(ROLES, {"action": "add", "name": dee.email, "role": "host"})
    assert dee in pets.hosts.all()


def test_an_assistant_gives_roles_to_nobody(hers: Client, cy: User, dee: User, pets: Competition) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT)
    assert signed_in(cy).post(ROLES, {"action": "add", "name": "dee", "role": "host"}).status_code == 403
    assert dee not in pets.hosts.all()


def test_an_assistant_reads_whose_page_it_is_and_a_stranger_nothing(pets: Competition, cy: User, dee: User) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=pets.hosts.get())
    for part in ("settings", "truth", "reveal"):
        response = signed_in(cy).get(f"/host/pets/{part}/")
        assert response.status_code == 403
        assert "This page is only for its hosts." in response.content.decode()
        assert 'href="/host/pets/">' in response.content.decode()
        assert signed_in(dee).get(f"/host/pets/{part}/").status_code == 404
    assert "let assistants export grades" in signed_in(cy).get("/host/pets/grades/").content.decode()
    assert "You assist" in signed_in(cy).get("/host/").content.decode()


def test_an_assistant_is_led_to_the_answers(pets: Competition, cy: User, hers: Client) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=pets.hosts.get())
    way = 'href="/host/pets/truth/1/file/" download'
    assert way in tidy(signed_in(cy).get("/host/pets/").content.decode())
    assert signed_in(cy).get("/host/pets/truth/1/file/").getvalue().startswith(b"id,label")
    assert way not in tidy(hers.get("/host/pets/").content.decode()), "a host has a page for it"


@pytest.mark.parametrize("role", ["host", "assistant"])
def test_a_role_is_lost_after_a_question_alone(hers: Client, cy: User, pets: Competition, role: str) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole(role), user=pets.hosts.get())
    asked = hers.post(ROLES, {"action": "remove", "name": "cy", "role": role})
    assert "Remove “cy”?" in text_of(asked)
    assert "cy immediately loses access" in text_of(asked)
    assert "You can't undo this" not in text_of(asked)
    assert signed_in(cy).get("/host/pets/").status_code == 200
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)"', asked.content.decode()))
    gone = hers.post(ROLES, {**sent, "action": "remove"}, follow=True)
    assert "no longer" in text_of(gone)
    assert signed_in(cy).get("/host/pets/").status_code == 404


def test_ada_reads_what_she_loses_before_she_removes_herself(hers: Client, ada: User, cy: User) -> None:
    roles.give_role(role=HostingRole.HOST, competition=Competition.objects.get(), name="cy", user=ada)
    mine = {"action": "remove", "name": "ada", "role": "host"}
    asked = text_of(hers.post(ROLES, mine))
    assert "This is you." in asked
    assert "only another host can let you back in" in asked
    assert hers.get(ROLES).status_code == 200
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    assert "As an administrator, you keep access to everything here" in text_of(signed_in(ada).post(ROLES, mine))


def test_who_was_removed_in_another_tab_is_not_asked_about(hers: Client, cy: User, pets: Competition) -> None:
    answer = hers.post(ROLES, {"action": "remove", "name": "cy", "role": "assistant"}, follow=True)
    assert "cy is no longer an assistant" in text_of(answer)


def test_who_gave_up_a_role_never_competes_and_who_lost_it_may(ada: User, cy: User, pets: Competition) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.HOST, user=ada)
    roles.take_role(competition=pets, name="cy", role=HostingRole.HOST, user=cy)
    with pytest.raises(teams.CannotJoin, match="have seen the answers"):
        joining.enter_competition(user=cy, competition=pets)
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    roles.take_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    assert joining.enter_competition(user=cy, competition=pets), "a host took it back, who decides that"


def test_hosts_leave_by_their_own_page_and_the_last_one_stays(
    hers: Client, ada: User, cy: User, pets: Competition
) -> None:
    mine = {"action": "remove", "name": "ada", "role": "host", "is_meant": "yes"}
    assert "A competition needs a host" in text_of(hers.post(ROLES, mine))
    roles.give_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)
    gone = signed_in(cy).post(ROLES, {**mine, "name": "cy"}, follow=True)
    assert gone.status_code == 200, "who runs nothing else is led to a page that is open"
    assert "cy no longer hosts this competition." in text_of(gone)
