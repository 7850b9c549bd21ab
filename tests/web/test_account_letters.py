"""What a person without a password or a confirmed address reads, in letters and on pages, on the way in."""

from __future__ import annotations

import re

from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from leaderboard.models import Competition, User


def link_in(letter: mail.EmailMessage) -> str:
    found = re.search(r"https://class\.example(/accounts/\S+)", str(letter.body))
    assert found, letter.body
    return found[1]


def text_of(page: object) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())  # type: ignore[attr-defined]


SIGN_UP = {
    "username": "eve",
    "email": "eve@uni.example",
    "password1": "purple otter 44",
    "password2": "purple otter 44",
}


def test_eve_confirms_her_address_by_the_letter_and_a_button(
    pets: Competition, client: Client, post: list[mail.EmailMessage]
) -> None:
    client.get(f"/join/{pets.join_code}/")
    told = text_of(client.post("/accounts/signup/", SIGN_UP, follow=True))
    assert "Look into your mail" in told
    assert "A letter is on its way to eve@uni.example." in told
    (letter,) = post
    assert letter.subject == "Confirm your e-mail address"
    assert "The account “eve” gives this e-mail address as its own." in letter.body
    assert "Thank you for using" not in letter.body
    asked = text_of(client.get(link_in(letter)))
    assert "eve@uni.example becomes the address of the account “eve”." in asked
    assert not EmailAddress.objects.get().verified, "looking confirms nothing"
    client.post(link_in(letter))
    assert EmailAddress.objects.get().verified


def test_who_confirms_an_address_on_the_way_into_a_competition_goes_on_joining(
    pets: Competition, client: Client, post: list[mail.EmailMessage]
) -> None:
    way_in = f"/join/{pets.join_code}/"
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
    assert "What others will see of you" in text_of(telephone.post("/accounts/login/", given, follow=True))


def test_a_confirmation_leads_to_no_other_site(
    pets: Competition, client: Client, post: list[mail.EmailMessage]
) -> None:
    client.get(f"/join/{pets.join_code}/")
    client.post("/accounts/signup/", SIGN_UP | {"next": "https://evil.example/"})
    assert "evil" not in post[0].body


def test_an_old_confirmation_says_what_to_do(client: Client, db: None) -> None:
    assert "This link does not work any more" in text_of(client.get("/accounts/confirm-email/gone:1:x/"))


def test_bo_forgot_the_password_and_chooses_another(bo: User, client: Client, post: list[mail.EmailMessage]) -> None:
    EmailAddress.objects.create(user=bo, email=bo.email, verified=True, primary=True)
    told = text_of(client.post("/accounts/password/reset/", {"email": bo.email}, follow=True))
    assert "If an account has this address" in told
    (letter,) = post
    assert letter.subject == "Choose a new password"
    assert "for the account “bo”" in letter.body
    form = client.get(link_in(letter), follow=True)
    assert "Set the password" in form.content.decode()
    chosen = {"password1": "purple otter 44", "password2": "purple otter 44"}
    assert "Your password is set" in text_of(client.post(form.redirect_chain[-1][0], chosen, follow=True))
    bo.refresh_from_db()
    assert bo.check_password("purple otter 44")
    assert "This link does not work any more" in text_of(Client().get(link_in(letter), follow=True))


def test_a_stranger_learns_from_no_page_who_has_an_account(
    bo: User, client: Client, post: list[mail.EmailMessage]
) -> None:
    pages = {
        text_of(client.post("/accounts/password/reset/", {"email": of}, follow=True))
        for of in (bo.email, "x@y.example")
    }
    assert len({page.partition("Server time")[0] for page in pages}) == 1
    assert [letter.subject for letter in post] == ["Choose a new password", "No account has this address"]
