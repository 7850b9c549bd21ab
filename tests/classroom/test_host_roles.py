"""A role is stored for an address until somebody shows that it is theirs."""

from __future__ import annotations

import re

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.conf import LazySettings
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, roles, teams
from leaderboard.classroom.models import HostingRole, RoleInvitation
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.notifications.models import Notice
from tests.conftest import enter
from tests.pages import signed_in, text_of, tidy

ROLES = "/host/pets/people/roles/"
LEAVE = "/host/pets/people/leave/"


@pytest.fixture
def hers(ada: User, pets: Competition, settings: LazySettings) -> Client:
    """Ada, on a site with a mail server."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.SITE_URL = "https://class.example"
    return signed_in(ada)


def offer(client: Client, address: str = "Dee@Example.org", role: str = "assistant") -> str:
    return text_of(client.post(ROLES, {"action": "add", "name": address, "role": role}, follow=True))


def confirm(user: User, address: str = "") -> None:
    """Follow the link of the e-mail that confirms an address."""
    made = EmailAddress.objects.create(user=user, email=address or user.email, verified=False)
    signed_in(user).post(f"/accounts/confirm-email/{EmailConfirmationHMAC(made).key}/")
    made.refresh_from_db()
    assert made.verified


def test_an_address_without_an_account_is_kept_and_gives_the_role_once_it_is_confirmed(
    hers: Client, ada: User, dee: User, pets: Competition
) -> None:
    page = offer(hers)
    assert "dee@example.org" in page
    assert signed_in(dee).get("/host/pets/").status_code == 404
    confirm(dee)
    assert list(pets.assistants.all()) == [dee]
    assert signed_in(dee).get("/host/pets/").status_code == 200
    assert not RoleInvitation.objects.exists()
    assert Notice.objects.filter(user=ada, title="Role offer accepted").count() == 1
    events = list(AuditEntry.objects.order_by("pk").values_list("event", flat=True))
    assert events[-2:] == [AuditEvent.ROLE_OFFERED.value, AuditEvent.ASSISTANT_ADDED.value]
    assert "dee@" not in str(list(AuditEntry.objects.values()))


def test_another_address_gives_nothing(hers: Client, dee: User, pets: Competition) -> None:
    offer(hers, "prof@uni.example")
    confirm(dee)
    assert not pets.assistants.exists()
    assert RoleInvitation.objects.count() == 1


def test_what_ada_takes_back_is_given_to_nobody(hers: Client, dee: User, pets: Competition) -> None:
    page = hers.post(ROLES, {"action": "add", "name": dee.email, "role": "host"}, follow=True).content.decode()
    (number,) = re.findall(r'name="number" value="(\d+)"', page)
    hers.post(ROLES, {"action": "withdraw", "number": number})
    confirm(dee)
    assert dee not in pets.hosts.all()
    assert AuditEntry.objects.filter(event=AuditEvent.ROLE_WITHDRAWN.value).count() == 1


@pytest.mark.parametrize("number", ["", "x", "0", "9" * 400])
def test_a_number_that_means_nothing_takes_nothing_back(hers: Client, number: str) -> None:
    offer(hers)
    assert hers.post(ROLES, {"action": "withdraw", "number": number}).status_code < 500
    assert RoleInvitation.objects.count() == 1


def test_what_a_host_kept_is_worth_nothing_once_they_host_no_longer(
    hers: Client, bo: User, dee: User, pets: Competition
) -> None:
    pets.hosts.add(bo)
    offer(signed_in(bo), role="host")
    roles.take_role(role=HostingRole.HOST, competition=pets, name="bo")
    confirm(dee)
    assert dee not in pets.hosts.all()
    assert not RoleInvitation.objects.exists()


def test_who_competes_gets_no_role_and_ada_reads_why(hers: Client, ada: User, dee: User, pets: Competition) -> None:
    offer(hers)
    enter(pets, dee)
    confirm(dee)
    assert not pets.assistants.exists()
    assert "can't be one while competing here" in Notice.objects.get(user=ada).text


def test_offering_again_changes_the_role(hers: Client, pets: Competition, dee: User) -> None:
    offer(hers)
    offer(hers, role="host")
    confirm(dee)
    assert dee in pets.hosts.all()
    assert not pets.assistants.exists()


def test_who_is_awaited_reads_it_without_a_word_of_where(hers: Client, pets: Competition, dee: User) -> None:
    """Dee has an account with that address, and nobody knows yet whether it is hers."""
    offer(hers)
    offer(hers)
    assert [notice.title for notice in Notice.objects.filter(user=dee)] == ["You're offered a role"]
    offer(hers, role="host")
    said_to_user = Notice.objects.filter(user=dee).order_by("pk")
    assert "dee@example.org the role of host" in said_to_user[1].text
    numbers = re.findall(r'name="number" value="(\d+)"', hers.get(ROLES).content.decode())
    hers.post(ROLES, {"action": "withdraw", "number": numbers[0]})
    assert said_to_user[2].title == "A role offer was withdrawn"
    words = " ".join(f"{one.title} {one.text} {one.link}" for one in said_to_user)
    assert not any(word in words for word in (pets.title, pets.slug, "ada"))


def test_where_no_mail_is_sent_nothing_is_kept(hers: Client, settings: LazySettings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    assert "username instead" in offer(hers)
    assert not RoleInvitation.objects.exists()


def test_what_is_no_address_is_refused(hers: Client) -> None:
    assert "an e-mail address" in offer(hers, "dee@")
    assert not RoleInvitation.objects.exists()


def test_an_assistant_keeps_roles_for_nobody(hers: Client, cy: User, pets: Competition) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT)
    assert signed_in(cy).post(ROLES, {"action": "add", "name": "dee@x.example", "role": "host"}).status_code == 403
    assert not RoleInvitation.objects.exists()


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


def test_an_assistant_gives_up_the_role_after_a_question_alone(
    hers: Client, ada: User, cy: User, pets: Competition
) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    his = signed_in(cy)
    assert f'href="{LEAVE}"' in his.get("/host/pets/").content.decode()
    for asked in (his.get(LEAVE), his.post(LEAVE, {"action": "remove"})):
        assert "Give up your role?" in text_of(asked)
        assert "only a host can let you back in" in text_of(asked)
        assert '<a class="button quiet" href="/host/pets/">' in asked.content.decode()
    assert pets.assistants.count() == 1
    gone = his.post(LEAVE, {"action": "remove", "is_meant": "yes"}, follow=True)
    assert gone.status_code == 200
    assert "no longer an assistant in “Cats or dogs”" in text_of(gone)
    assert his.get("/host/pets/").status_code == 404
    entry = AuditEntry.objects.get(event="assistant_removed")
    assert (entry.by, entry.account) == (cy.pk, cy.pk)
    said_to_user = Notice.objects.get(user=ada, kind="role")
    assert said_to_user.title == "“cy” is no longer an assistant in “Cats or dogs”"
    assert not Notice.objects.filter(user=cy, title__contains="no longer").exists()
    with pytest.raises(teams.CannotJoin, match="have seen the answers"):
        joining.enter_competition(user=cy, competition=pets)
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    roles.take_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    assert joining.enter_competition(user=cy, competition=pets), "a host took it back, who decides that"


def test_hosts_leave_by_their_own_page_and_the_last_one_stays(
    hers: Client, ada: User, cy: User, pets: Competition
) -> None:
    assert hers.get(LEAVE)["Location"] == ROLES
    mine = {"action": "remove", "name": "ada", "role": "host", "is_meant": "yes"}
    assert "A competition needs a host" in text_of(hers.post(ROLES, mine))
    roles.give_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)
    gone = signed_in(cy).post(ROLES, {**mine, "name": "cy"}, follow=True)
    assert gone.status_code == 200, "who runs nothing else is led to a page that is open"
    assert "cy no longer hosts this competition." in text_of(gone)
    assert Notice.objects.get(user=ada, kind="role").title == "“cy” is no longer a host of “Cats or dogs”"
    assert signed_in(ada).get(LEAVE)["Location"] == ROLES
    assert signed_in(cy).get(LEAVE).status_code == 404
