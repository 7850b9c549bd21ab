"""API tokens on the account page."""

from __future__ import annotations

from django.conf import LazySettings
from django.test import Client

from leaderboard.accounts.models import ApiToken, User
from tests.pages import signed_in, text_of, tidy


def test_a_token_is_shown_once(bo: User) -> None:
    client = signed_in(bo)
    response = client.post("/account/", {"name": "bos laptop"})
    secret = response.context["secret"]
    assert response.status_code == 201
    assert secret in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    token = ApiToken.find_and_note_use(secret)
    assert token
    assert token.user == bo
    page = client.get("/account/").content.decode()
    assert "bos laptop" in page
    assert secret not in page


def test_reloading_the_page_that_showed_a_token_makes_no_second_one(bo: User) -> None:
    client = signed_in(bo)
    client.post("/account/", {"name": "bos laptop"})
    again = client.post("/account/", {"name": "bos laptop"})
    assert again.status_code == 422
    assert "You already have a token “bos laptop”" in again.content.decode()
    assert bo.api_tokens.count() == 1


def test_cy_may_call_a_token_as_bo_does(bo: User, cy: User) -> None:
    for person in (bo, cy):
        assert signed_in(person).post("/account/", {"name": "laptop"}).status_code == 201


def test_bo_revokes_a_token(bo: User) -> None:
    token, secret = ApiToken.issue(bo, "bos laptop")
    assert signed_in(bo).post("/account/", {"action": "revoke", "token": token.pk}).status_code == 303
    assert ApiToken.find_and_note_use(secret) is None


def test_cy_cannot_revoke_bos_token(bo: User, cy: User) -> None:
    token, secret = ApiToken.issue(bo, "bos laptop")
    client = signed_in(cy)
    client.post("/account/", {"action": "revoke", "token": token.pk})
    for token_id in ("nonsense", "9" * 30, "9" * 5000):
        assert client.post("/account/", {"action": "revoke", "token": token_id}).status_code == 303
    assert ApiToken.find_and_note_use(secret) == token
    assert "bos laptop" not in client.get("/account/").content.decode()


def test_a_token_may_what_was_chosen_and_hosting_is_for_hosts(bo: User, ada: User) -> None:
    for person, chosen, status in ((bo, "read", 201), (ada, "host", 201), (bo, "host", 422), (bo, "root", 422)):
        response = signed_in(person).post("/account/", {"name": f"for {chosen}", "scope": chosen})
        assert response.status_code == status, (person, chosen)
    signed_in(bo).post("/account/", {"name": "plain"})
    assert set(bo.api_tokens.values_list("name", "scope")) == {("for read", "read"), ("plain", "submit")}
    assert ada.api_tokens.get().allows(ApiToken.Scope.SUBMIT)
    assert not bo.api_tokens.get(name="for read").allows(ApiToken.Scope.SUBMIT)


def test_what_a_token_may_do_is_no_optional_question(bo: User) -> None:
    page = text_of(signed_in(bo).get("/account/"))
    assert "Access" in page
    assert "(optional)" not in page


def test_a_token_needs_a_name_and_there_is_a_limit(bo: User) -> None:
    client = signed_in(bo)
    assert client.post("/account/", {"name": ""}).status_code == 422
    for number in range(20):
        ApiToken.issue(bo, str(number))
    assert client.post("/account/", {"name": "one more"}).status_code == 422
    assert bo.api_tokens.count() == 20


def test_without_an_account_there_is_no_page(client: Client, db: None) -> None:
    assert client.get("/account/")["Location"].startswith("/accounts/login/")


def test_account_pages_call_a_field_by_one_name(client: Client, db: None, settings: LazySettings) -> None:
    settings.OPEN_SIGN_UP = True
    for address in ("/accounts/signup/", "/accounts/login/"):
        text = client.get(address).content.decode()
        assert "placeholder=" not in text
        assert "E-mail address" in text or "Username or e-mail address" in text
        assert ">Email<" not in tidy(text)
        assert "ser name" not in text


def test_a_site_without_a_mail_server_promises_no_e_mail(client: Client, db: None, settings: LazySettings) -> None:
    assert "This site doesn't send e-mail" in client.get("/accounts/password/reset/").content.decode()
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert "Send link" in client.get("/accounts/password/reset/").content.decode()


def test_the_operator_finds_the_administration_and_nobody_else_does(client: Client, bo: User, olga: User) -> None:
    for person, sees in ((bo, False), (olga, True)):
        client.force_login(person)
        assert ('href="/admin/"' in client.get("/account/").content.decode()) is sees


def test_bo_reads_the_name_that_his_teachers_see_before_his_tokens(bo: User) -> None:
    bo.first_name, bo.last_name = "Bo", "Berg"
    bo.save()
    page = text_of(signed_in(bo).get("/account/"))
    assert page.index("Bo Berg") < page.index("API tokens")
