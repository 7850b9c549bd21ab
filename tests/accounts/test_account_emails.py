"""What a person without a password or a confirmed address reads, in e-mails and on pages, on the way in."""

from __future__ import annotations

import re
from urllib.parse import quote

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


def test_who_confirms_an_address_on_the_way_into_a_competition_goes_on_joining(
    pets: Competition, client: Client, post: list[mail.EmailMessage]
) -> None:
    way_in = f"/join/{pets.admission.join_code}/"
    client.get(way_in)
    client.post("/accounts/signup/", SIGN_UP | {"next": way_in})
    telephone = Client()
    form = telephone.get(link_in(post[0]))
    way_on = f"/accounts/login/?next={way_in}"
    assert f'name="next" value="{way_on}"' in form.content.decode()
    arrived = telephone.post(link_in(post[0]).partition("?")[0], {"next": way_on}, follow=True)
    assert "You have confirmed eve@uni.example." in text_of(arrived)
    given = {"login": "eve", "password": SIGN_UP["password1"], "next": way_in}
    assert f'name="next" value="{way_in}"' in arrived.content.decode()
    assert "What others will see" in text_of(telephone.post("/accounts/login/", given, follow=True))


def test_who_has_an_account_already_goes_on_joining_from_the_email_with_the_old_password_or_a_new_one(
    pets: Competition, bo: User, client: Client, post: list[mail.EmailMessage]
) -> None:
    EmailAddress.objects.create(user=bo, email=bo.email, verified=True, primary=True)
    way_in = f"/join/{pets.admission.join_code}/"
    client.get(way_in)
    said_to_user = client.post("/accounts/signup/", SIGN_UP | {"email": bo.email, "next": way_in}, follow=True)
    assert f'href="/accounts/login/?next={quote(way_in, safe="")}"' in said_to_user.content.decode()
    ways = re.findall(r"https://class\.example(/accounts/\S+)", str(post[0].body))
    assert ways[0] == f"/accounts/login/?next={way_in}"
    arrived = Client().post(ways[0], {"login": "bo", "password": "correct horse"}, follow=True)
    assert "What others will see" in text_of(arrived)

    telephone = Client()
    form = telephone.get(ways[1]).content.decode()
    found = re.search(r'name="next" value="(/accounts/password/reset/done/[^"]+)"', form)
    assert found
    asked = telephone.post("/accounts/password/reset/", {"email": bo.email, "next": found[1]}, follow=True)
    assert "If an account uses this address, you'll soon get a link to choose a new password" in text_of(asked)
    assert f'href="/accounts/login/?next={quote(way_in, safe="")}"' in asked.content.decode()
    chosen = telephone.get(link_in(post[1]), follow=True)
    way_on = f"/accounts/login/?next={way_in}"
    assert f'name="next" value="{way_on}"' in chosen.content.decode()
    new = {"password1": "purple otter 44", "password2": "purple otter 44", "next": way_on}
    there = telephone.post(chosen.redirect_chain[-1][0], new, follow=True)
    assert f'name="next" value="{way_in}"' in there.content.decode()
    given = {"login": "bo", "password": "purple otter 44", "next": way_in}
    assert "What others will see" in text_of(telephone.post("/accounts/login/", given, follow=True))


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


def test_who_signs_in_before_the_address_is_confirmed_keeps_the_way_on(
    pets: Competition, client: Client, post: list[mail.EmailMessage]
) -> None:
    way_in = f"/join/{pets.admission.join_code}/"
    client.get(way_in)
    client.post("/accounts/signup/", SIGN_UP)
    given = {"login": "eve", "password": SIGN_UP["password1"], "next": way_in}
    said_to_user = Client().post("/accounts/login/", given, follow=True)
    assert "Check your inbox" in text_of(said_to_user)
    assert f'href="/accounts/login/?next={quote(way_in, safe="")}"' in said_to_user.content.decode()


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
