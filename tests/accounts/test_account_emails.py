"""What a person without a password or a confirmed address reads, in e-mails and on pages, on the way in."""

from __future__ import annotations

import re

from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.pages import text_of


def link_in(email: mail.EmailMessage) -> str:
    found = re.search(r"https://class\.example(/accounts/\S+)", str(email.body))
    assert found, email.body
    return found[1]


SIGN_UP = {
    "username": "eve",
    "email": "eve@uni.example",
    "password1": "purple otter 44",
    "password2": "purple otter 44",
}


def test_eve_confirms_her_address_by_the_email_and_a_button(
    pets: Competition, client: Client, post: list[mail.EmailMessage]
) -> None:
    client.get(f"/join/{pets.admission.join_code}/")
    said_to_user = text_of(client.post("/accounts/signup/", SIGN_UP, follow=True))
    assert "Check your inbox" in said_to_user
    assert "We sent an e-mail to eve@uni.example." in said_to_user
    (email,) = post
    assert email.subject == "Confirm your e-mail address"
    assert "The account “eve” uses this e-mail address." in email.body
    assert "Thank you for using" not in email.body
    asked = text_of(client.get(link_in(email)))
    assert "as the address of the account “eve”." in asked
    assert not EmailAddress.objects.get().verified, "looking confirms nothing"
    client.post(link_in(email))
    assert EmailAddress.objects.get().verified


def test_the_letter_to_who_has_an_account_leads_to_no_other_site_and_without_a_way_in_to_none(
    pets: Competition, bo: User, post: list[mail.EmailMessage]
) -> None:
    EmailAddress.objects.create(user=bo, email=bo.email, verified=True, primary=True)
    for going_to in ({"next": "https://evil.example/"}, {}):
        client = Client()
        client.get(f"/join/{pets.admission.join_code}/")
        said_to_user = client.post("/accounts/signup/", SIGN_UP | {"email": bo.email} | going_to, follow=True)
        assert 'href="/accounts/login/"' in said_to_user.content.decode()
    for email in post:
        ways = re.findall(r"https://class\.example(/accounts/\S+)", str(email.body))
        assert ways == ["/accounts/login/", "/accounts/password/reset/"]


def test_a_confirmation_leads_to_no_other_site(
    pets: Competition, client: Client, post: list[mail.EmailMessage]
) -> None:
    client.get(f"/join/{pets.admission.join_code}/")
    client.post("/accounts/signup/", SIGN_UP | {"next": "https://evil.example/"})
    assert "evil" not in post[0].body


def test_an_old_confirmation_says_what_to_do(client: Client, db: None) -> None:
    assert "This link no longer works" in text_of(client.get("/accounts/confirm-email/gone:1:x/"))


def test_bo_forgot_the_password_and_chooses_another(bo: User, client: Client, post: list[mail.EmailMessage]) -> None:
    EmailAddress.objects.create(user=bo, email=bo.email, verified=True, primary=True)
    said_to_user = text_of(client.post("/accounts/password/reset/", {"email": bo.email}, follow=True))
    assert "If an account uses this address, you'll soon get a link to choose a new password" in said_to_user
    (email,) = post
    assert email.subject == "Choose a new password"
    assert "of the account “bo”" in email.body
    form = client.get(link_in(email), follow=True)
    assert "Set password" in form.content.decode()
    chosen = {"password1": "purple otter 44", "password2": "purple otter 44"}
    assert "Password set" in text_of(client.post(form.redirect_chain[-1][0], chosen, follow=True))
    bo.refresh_from_db()
    assert bo.check_password("purple otter 44")
    assert "This link no longer works" in text_of(Client().get(link_in(email), follow=True))


def test_a_stranger_learns_from_no_page_who_has_an_account(
    bo: User, client: Client, post: list[mail.EmailMessage]
) -> None:
    pages = {
        text_of(client.post("/accounts/password/reset/", {"email": of}, follow=True))
        for of in (bo.email, "x@y.example")
    }
    assert len({re.sub(r"\d\d:\d\d UTC", "", page) for page in pages}) == 1
    assert [email.subject for email in post] == ["Choose a new password", "No account uses this address"]
