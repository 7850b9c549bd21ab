"""Signing in at an institution: the whole road with a real provider, whose account it is, and who is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.conf import LazySettings
from django.core import mail
from django.http import HttpResponse
from django.test import Client

from leaderboard.accounts.institution import sessions
from leaderboard.accounts.models import ApiToken, User
from leaderboard.accounts.personal_data import delete_account
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.lti.models import LtiLink
from tests.accounts.test_leaving import loaded, taken_along
from tests.conftest import make_competition, person
from tests.institutions import LOGIN, PATIENCE, RealProvider, come_back, institution_at, real_provider, way_to_provider
from tests.lti.platforms import FakePlatform
from tests.pages import signed_in, text_of

pytestmark = pytest.mark.slow

CONFIRMED: dict[str, Any] = {"email_verified": True}


@pytest.fixture(scope="module")
def provider() -> Iterator[RealProvider]:
    with real_provider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def institution(provider: RealProvider, settings: LazySettings, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in PATIENCE.items():
        monkeypatch.setattr(sessions, name, seconds)
    settings.INSTITUTIONS = (institution_at(provider.issuer),)


def sign_in(provider: RealProvider, subject: str, client: Client | None = None, **claims: Any) -> HttpResponse:
    """The button, the provider's page, and back."""
    client = client or Client()
    if claims:
        provider.know(subject, **claims)
    return come_back(client, provider.sign_in(way_to_provider(client), subject))


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_the_first_sign_in_makes_an_account_and_the_second_finds_it(provider: RealProvider) -> None:
    client = Client()
    assert (
        sign_in(
            provider, "a1", client, email="Eve@uni.example", preferred_username="eve", given_name="Eve", **CONFIRMED
        ).status_code
        == 302
    )
    assert is_signed_in(client)
    account = User.objects.get()
    assert (account.username, account.email, account.first_name) == ("eve", "eve@uni.example", "Eve")
    assert not account.has_usable_password()
    assert EmailAddress.objects.get().verified
    again = Client()
    sign_in(provider, "a1", again, email="eve.new@uni.example", preferred_username="mallory", **CONFIRMED)
    assert is_signed_in(again)
    assert User.objects.get().username == "eve"
    assert not SocialToken.objects.exists()


def test_the_sign_in_page_leads_on_to_where_somebody_was_going(provider: RealProvider, pets: Competition) -> None:
    client = Client()
    provider.know("a2", email="eve@uni.example", **CONFIRMED)
    here = f"/join/{pets.admission.join_code}/"
    page = client.get(f"/accounts/login/?next={here}").content.decode()
    assert LOGIN in page
    assert f'value="{here}"' in page
    back = come_back(client, provider.sign_in(way_to_provider(client, next=here), "a2"))
    assert back["Location"] == here
    client.post(here, {"accepted": "on"})
    assert pets.memberships.get().user.email == "eve@uni.example"


def test_an_institutions_account_joins_no_competition_without_a_code(provider: RealProvider, pets: Competition) -> None:
    client = Client()
    sign_in(provider, "a3", client, email="eve@uni.example", **CONFIRMED)
    assert client.get("/c/pets/submit/").status_code in (302, 404)
    assert not pets.memberships.exists()


def test_nobody_is_led_to_another_site(provider: RealProvider) -> None:
    client = Client()
    provider.know("a4", email="eve@uni.example", **CONFIRMED)
    back = come_back(client, provider.sign_in(way_to_provider(client, next="https://evil.example/"), "a4"))
    assert back["Location"] == "/"


# --- whose account it is ------------------------------------------------------------------------------------------


def test_bo_finds_his_account_where_both_have_confirmed_his_address(provider: RealProvider, bo: User) -> None:
    EmailAddress.objects.create(user=bo, email="bo@uni.example", verified=True)
    client = Client()
    sign_in(provider, "b1", client, email="BO@uni.example", preferred_username="other", **CONFIRMED)
    assert client.get("/account/").context["user"] == bo
    assert SocialAccount.objects.get().user == bo
    assert AuditEntry.objects.latest("pk").event == AuditEvent.INSTITUTION_LINKED


@pytest.mark.parametrize("vouches", [True, False])
def test_bo_whose_learning_platform_was_first_keeps_that_account(
    provider: RealProvider, ada: User, vouches: bool
) -> None:
    """He finds it if the platform confirms addresses. Else anybody there could have written his, and he connects it."""
    moodle = FakePlatform()
    platform = moodle.approve(vouches_for_addresses=vouches)
    pets = make_competition(ada)
    LtiLink.objects.create(deployment=platform.deployments.get(), context="c-1", resource="r-1", competition=pets)
    by_platform, client, subject = Client(), Client(), f"b-{vouches}"
    moodle.launch(by_platform, "bo")
    made = by_platform.get("/account/").context["user"]
    answer = sign_in(provider, subject, client, email="bo@uni.example", **CONFIRMED)
    assert answer.status_code == (302 if vouches else 409)
    if not vouches:
        come_back(by_platform, provider.sign_in(way_to_provider(by_platform, process="connect"), subject))
        sign_in(provider, subject, client)
    assert client.get("/account/").context["user"] == made


@pytest.mark.attack("signing in by an institution as somebody else")
def test_who_made_an_account_with_the_address_of_a_classmate_loses_it_to_him(provider: RealProvider) -> None:
    """Olga confirms the address by hand, as docs/operating.md says, and cannot know who made the account."""
    eve, bo = Client(), Client()
    account = person("eve")
    eve.force_login(account)
    _, token = ApiToken.issue(account, "notebook")
    User.objects.filter(pk=account.pk).update(email="bo@uni.example")
    EmailAddress.objects.create(user=account, email="bo@uni.example", primary=True, verified=True)
    assert is_signed_in(eve)
    sign_in(provider, "b9", bo, email="bo@uni.example", **CONFIRMED)
    assert bo.get("/account/").context["user"] == account
    assert not is_signed_in(eve)
    assert Client().get("/api/v1/competitions", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert not Client().login(username="eve", password="correct horse")
    sign_in(provider, "b9", bo, email="bo@uni.example", **CONFIRMED)
    assert is_signed_in(bo)


def test_olga_unlinks_people_whom_the_institution_names_anew(provider: RealProvider, olga: User) -> None:
    first, again = Client(), Client()
    sign_in(provider, "old-subject", first, email="bo@uni.example", **CONFIRMED)
    account = SocialAccount.objects.get().user
    assert sign_in(provider, "new-subject", again, email="bo@uni.example", **CONFIRMED).status_code == 409
    chosen = {"action": "unlink_institution", "_selected_action": [account.pk]}
    signed_in(olga).post("/admin/accounts/user/", chosen)
    assert AuditEntry.objects.latest("pk").event == AuditEvent.INSTITUTION_UNLINKED
    sign_in(provider, "new-subject", again, email="bo@uni.example", **CONFIRMED)
    assert again.get("/account/").context["user"] == account


def test_an_operator_who_is_found_by_the_address_keeps_the_password(provider: RealProvider, olga: User) -> None:
    User.objects.filter(pk=olga.pk).update(email="olga@uni.example")
    EmailAddress.objects.create(user=olga, email="olga@uni.example", primary=True, verified=True)
    sign_in(provider, "o1", email="olga@uni.example", **CONFIRMED)
    assert SocialAccount.objects.get().user == olga
    olga.refresh_from_db()
    assert olga.has_usable_password()


@pytest.mark.attack("signing in by an institution as somebody else")
def test_an_address_that_was_never_confirmed_here_links_nothing(provider: RealProvider, bo: User) -> None:
    User.objects.filter(pk=bo.pk).update(email="eve@uni.example")
    EmailAddress.objects.create(user=bo, email="eve@uni.example", verified=False)
    client = Client()
    page = sign_in(provider, "b2", client, email="eve@uni.example", **CONFIRMED)
    assert page.status_code == 409
    assert not is_signed_in(client)
    assert User.objects.count() == 1
    assert not SocialAccount.objects.exists()


@pytest.mark.attack("signing in by an institution as somebody else")
def test_an_address_that_was_given_to_another_person_opens_no_account(provider: RealProvider) -> None:
    sign_in(provider, "cy", email="c@uni.example", **CONFIRMED)
    client = Client()
    assert sign_in(provider, "eve", client, email="c@uni.example", **CONFIRMED).status_code == 409
    assert not is_signed_in(client)
    assert [one.uid for one in SocialAccount.objects.all()] == ["cy"]


@pytest.mark.attack("signing in by an institution as somebody else")
def test_an_address_that_eve_wrote_into_her_account_keeps_nobody_out(provider: RealProvider, bo: User) -> None:
    EmailAddress.objects.create(user=bo, email="c@uni.example", verified=False)
    client = Client()
    sign_in(provider, "cy", client, email="c@uni.example", **CONFIRMED)
    assert is_signed_in(client)
    assert SocialAccount.objects.get().user != bo


@pytest.mark.attack("signing in by an institution as somebody else")
def test_connecting_that_a_stranger_began_is_a_sign_in(provider: RealProvider, bo: User) -> None:
    provider.know("eve", email="e@uni.example", **CONFIRMED)
    client = Client()
    way = way_to_provider(client, process="connect")
    client.force_login(bo)
    come_back(client, provider.sign_in(way, "eve"))
    assert not SocialAccount.objects.filter(user=bo).exists()


def test_bo_connects_his_account_after_his_password_once_more(provider: RealProvider, bo: User) -> None:
    User.objects.filter(pk=bo.pk).update(email="bo@uni.example")
    provider.know("b3", email="bo@uni.example", **CONFIRMED)
    client = Client()
    client.post("/accounts/login/", {"login": "bo", "password": "correct horse"})
    back = come_back(client, provider.sign_in(way_to_provider(client, process="connect"), "b3"))
    assert back["Location"] == "/accounts/reauthenticate/"
    assert not SocialAccount.objects.exists()
    client.post("/accounts/reauthenticate/", {"password": "correct horse"})
    assert SocialAccount.objects.get().user == bo
    # The institution has confirmed the address that the account had.
    assert EmailAddress.objects.get(user=bo).verified
    elsewhere = Client()
    sign_in(provider, "b3", elsewhere)
    assert elsewhere.get("/account/").context["user"] == bo
    page = client.get("/accounts/3rdparty/")
    assert provider.issuer in page.content.decode()
    client.post("/accounts/3rdparty/", {"account": SocialAccount.objects.get().pk})
    assert not SocialAccount.objects.exists()


@pytest.mark.attack("signing in by an institution as somebody else")
def test_nobody_connects_an_institutions_account_that_is_anothers(provider: RealProvider, bo: User) -> None:
    sign_in(provider, "b4", email="eve@uni.example", **CONFIRMED)
    eve = User.objects.get(email="eve@uni.example")
    client = Client()
    client.post("/accounts/login/", {"login": "bo", "password": "correct horse"})
    come_back(client, provider.sign_in(way_to_provider(client, process="connect"), "b4"))
    client.post("/accounts/reauthenticate/", {"password": "correct horse"})
    assert SocialAccount.objects.get().user == eve


@pytest.mark.parametrize("wanted", ["bo", "BO", "ｂｏ", "bо", "bo@elsewhere.example", "b o"])
@pytest.mark.attack("signing in by an institution as somebody else")
def test_a_name_takes_over_nobodys_account(provider: RealProvider, bo: User, wanted: str) -> None:
    """The fourth has a Cyrillic o."""
    client = Client()
    sign_in(provider, "n1", client, email="eve@uni.example", preferred_username=wanted, **CONFIRMED)
    eve = client.get("/account/").context["user"]
    assert eve != bo
    assert eve.username != "bo"
    assert "@" not in eve.username
    assert User.objects.get(username="bo") == bo


@pytest.mark.parametrize("wanted", ["", "   ", "\u202e", "😀", "x" * 400, "admin\x00", 7, None, ["a"]])
def test_any_name_at_all_makes_an_account(provider: RealProvider, wanted: Any) -> None:
    client = Client()
    sign_in(provider, "n2", client, email="eve@uni.example", preferred_username=wanted, **CONFIRMED)
    assert is_signed_in(client)


def test_an_account_that_the_operator_made_is_found_while_nobody_has_used_it(
    provider: RealProvider, olga: User
) -> None:
    signed_in(olga).post(
        "/people/", {"action": "add", "username": "prof", "email": "prof@uni.example", "can_host": "on"}
    )
    client = Client()
    sign_in(provider, "p1", client, email="prof@uni.example", **CONFIRMED)
    assert client.get("/account/").context["user"].username == "prof"
    assert EmailAddress.objects.get(email="prof@uni.example").verified


# --- who is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"email": "eve@elsewhere.example", **CONFIRMED}, 403),
        ({"email": "eve@uni.example.evil.example", **CONFIRMED}, 403),
        ({"email": "eve@sub.uni.example", **CONFIRMED}, 403),
        ({"email": "a" * 300 + "@uni.example", **CONFIRMED}, 403),
        ({"email": "eve@uni.example"}, 403),
        ({"email": "eve@uni.example", "email_verified": False}, 403),
        ({"email": "eve@uni.example", "email_verified": "false"}, 403),
        ({"email": "strasse@unı.example", **CONFIRMED}, 403),
        ({"email": "nonsense", **CONFIRMED}, 403),
        ({"email": ["eve@uni.example"], **CONFIRMED}, 403),
        ({"name": "Eve", **CONFIRMED}, 403),
    ],
)
def test_an_address_that_does_not_count_makes_no_account(
    provider: RealProvider, claims: dict[str, Any], status: int
) -> None:
    client = Client()
    page = sign_in(provider, "r1", client, **claims)
    assert page.status_code == status
    assert "site-header" in page.content.decode()
    assert "/accounts/login/" in page.content.decode()
    assert not is_signed_in(client)
    assert not User.objects.exists()


def test_an_account_whose_address_left_the_domain_signs_in_no_more(provider: RealProvider) -> None:
    sign_in(provider, "r2", email="eve@uni.example", **CONFIRMED)
    client = Client()
    assert sign_in(provider, "r2", client, email="eve@gone.example", **CONFIRMED).status_code == 403
    assert not is_signed_in(client)


def test_a_provider_that_confirms_every_address_need_not_say_so(provider: RealProvider, settings: LazySettings) -> None:
    settings.INSTITUTIONS = (institution_at(provider.issuer, confirms_addresses=True),)
    client = Client()
    assert sign_in(provider, "r3", client, email="eve@uni.example", email_verified=False).status_code == 403
    sign_in(provider, "r3", client, email="eve@uni.example")
    assert is_signed_in(client)


def test_who_cancels_reads_so(provider: RealProvider) -> None:
    client = Client()
    state = way_to_provider(client).partition("state=")[2].partition("&")[0]
    back = client.get(f"{LOGIN}callback/?error=access_denied&state={state}")
    assert client.get(back["Location"]).status_code == 200
    assert not is_signed_in(client)


def test_a_switched_off_account_stays_out(provider: RealProvider) -> None:
    sign_in(provider, "r4", email="eve@uni.example", **CONFIRMED)
    User.objects.update(is_active=False)
    client = Client()
    sign_in(provider, "r4", client)
    assert not is_signed_in(client)


@pytest.mark.attack("a host's stolen password")
def test_a_second_factor_is_asked_for_after_the_institution_too(provider: RealProvider, bo: User) -> None:
    EmailAddress.objects.create(user=bo, email="bo@uni.example", verified=True)
    TOTP.activate(bo, generate_totp_secret())
    client = Client()
    back = sign_in(provider, "m1", client, email="bo@uni.example", **CONFIRMED)
    assert back["Location"].startswith("/accounts/2fa/authenticate/")
    assert not is_signed_in(client)


def test_after_the_second_factor_the_institutions_word_counts(
    provider: RealProvider, bo: User, settings: LazySettings
) -> None:
    settings.INSTITUTIONS = (institution_at(provider.issuer, host_claim=("affiliation", "staff")),)
    EmailAddress.objects.create(user=bo, email="bo@uni.example", verified=True)
    RecoveryCodes.activate(bo)
    code = RecoveryCodes(bo.authenticator_set.get()).get_unused_codes()[0]  # type: ignore[attr-defined]
    TOTP.activate(bo, generate_totp_secret())
    client = Client()
    sign_in(provider, "m2", client, email="bo@uni.example", affiliation="staff", **CONFIRMED)
    bo.refresh_from_db()
    assert not bo.can_host
    client.post("/accounts/2fa/authenticate/", {"code": code})
    assert is_signed_in(client)
    bo.refresh_from_db()
    assert bo.can_host


def test_where_addresses_are_confirmed_by_mail_the_institutions_word_is_enough(
    provider: RealProvider, settings: LazySettings, olga: User
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    signed_in(olga).post("/people/", {"action": "add", "username": "prof", "email": "prof@uni.example"})
    for subject, address in (("v1", "eve@uni.example"), ("v2", "prof@uni.example")):
        client = Client()
        sign_in(provider, subject, client, email=address, **CONFIRMED)
        assert is_signed_in(client)
    assert mail.outbox == []


def test_of_two_sign_ins_at_once_one_begins_again(
    provider: RealProvider, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.accounts.institution.adapter.free_username", lambda wanted: "bo")
    client = Client()
    assert sign_in(provider, "t1", client, email="eve@uni.example", **CONFIRMED).status_code == 409
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize("process", ["redirect", "nonsense", ""])
def test_an_unknown_process_is_a_sign_in(provider: RealProvider, bo: User, process: str) -> None:
    User.objects.filter(pk=bo.pk).update(email="eve@uni.example")
    provider.know("t2", email="eve@uni.example", **CONFIRMED)
    client = Client()
    assert come_back(client, provider.sign_in(way_to_provider(client, process=process), "t2")).status_code == 409


def test_an_institution_that_is_not_set_up_has_no_page(client: Client, settings: LazySettings) -> None:
    assert client.post("/accounts/oidc/2/login/").status_code == 404
    settings.INSTITUTIONS = ()
    assert client.get(f"{LOGIN}callback/?code=x&state=y").status_code == 404
    assert LOGIN not in client.get("/accounts/login/").content.decode()


# --- roles -------------------------------------------------------------------------------------


def test_a_claim_decides_at_each_sign_in_who_may_host(provider: RealProvider, settings: LazySettings) -> None:
    settings.INSTITUTIONS = (institution_at(provider.issuer, host_claim=("affiliation", "staff")),)
    client = Client()
    for claim, may_host in ((["member", "staff"], True), ("student", False), ("staff", True), (None, False)):
        sign_in(provider, "h1", client, email="eve@uni.example", affiliation=claim, **CONFIRMED)
        assert User.objects.get().can_host is may_host
    assert AuditEntry.objects.filter(event=AuditEvent.RIGHTS_CHANGED, by=None).count() == 4


def test_without_such_a_rule_the_operators_word_stays(provider: RealProvider) -> None:
    sign_in(provider, "h2", email="eve@uni.example", **CONFIRMED)
    User.objects.update(can_host=True)
    sign_in(provider, "h2", email="eve@uni.example", affiliation="student", **CONFIRMED)
    assert User.objects.get().can_host


# --- without local passwords --------------------------------------------------------------------------------------


@pytest.fixture
def no_passwords(settings: LazySettings) -> None:
    settings.LOCAL_PASSWORDS = False


def password_sign_in(name: str) -> Client:
    client = Client()
    client.post("/accounts/login/?local", {"login": name, "password": "correct horse"})
    return client


def test_without_local_passwords_the_operator_alone_has_one(no_passwords: None, bo: User, olga: User) -> None:
    assert not is_signed_in(password_sign_in("bo"))
    assert not AuditEntry.objects.exists()
    assert is_signed_in(password_sign_in("olga"))
    entry = AuditEntry.objects.get()
    assert (entry.event, entry.by) == (AuditEvent.PASSWORD_SIGN_IN, olga.pk)


def test_an_operator_needs_no_mail_in_an_emergency(
    no_passwords: None, olga: User, settings: LazySettings, mailoutbox: list[Any]
) -> None:
    """The institution and its mail server fail together; her address was never confirmed."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    client = Client()
    client.post("/accounts/login/?local", {"login": "olga", "password": "correct horse"})
    assert is_signed_in(client)
    assert mailoutbox == []


def test_the_form_for_passwords_is_not_linked(no_passwords: None, client: Client) -> None:
    assert 'name="password"' not in client.get("/accounts/login/").content.decode()
    assert 'name="password"' in client.get("/accounts/login/?local").content.decode()


def test_without_local_passwords_nobody_signs_up_with_one(
    no_passwords: None, client: Client, pets: Competition, settings: LazySettings
) -> None:
    settings.OPEN_SIGN_UP = True
    joining_page = client.get(f"/join/{pets.admission.join_code}/").content.decode()
    assert "/accounts/signup/" not in joining_page
    given = {"username": "eve", "email": "eve@uni.example", "password1": "long enough 7", "password2": "long enough 7"}
    client.post("/accounts/signup/", given)
    assert not User.objects.filter(username="eve").exists()
    assert LOGIN in client.get("/accounts/signup/").content.decode()


def test_without_local_passwords_the_last_way_in_stays(no_passwords: None, provider: RealProvider, bo: User) -> None:
    EmailAddress.objects.create(user=bo, email="bo@uni.example", verified=True)
    client = Client()
    sign_in(provider, "w1", client, email="bo@uni.example", **CONFIRMED)
    client.post("/accounts/3rdparty/", {"account": SocialAccount.objects.get().pk})
    assert SocialAccount.objects.exists()


def test_a_password_that_opens_nothing_is_forgotten_at_the_next_sign_in(
    no_passwords: None, provider: RealProvider, bo: User, olga: User
) -> None:
    for account in (bo, olga):
        EmailAddress.objects.create(user=account, email=f"{account}@uni.example", verified=True)
        client = Client()
        sign_in(provider, f"f-{account}", client, email=f"{account}@uni.example", **CONFIRMED)
        assert is_signed_in(client)
        account.refresh_from_db()
    assert (bo.has_usable_password(), olga.has_usable_password()) == (False, True)


def test_olga_hands_out_no_password_link_that_opens_nothing(no_passwords: None, bo: User, olga: User) -> None:
    page = signed_in(olga).get("/people/").content.decode()
    assert 'value="link"' not in page
    assert signed_in(olga).post("/people/", {"action": "link", "person": "bo"}).status_code == 404
    person("otto", is_superuser=True)
    assert 'value="link"' in signed_in(olga).get("/people/").content.decode()


# --- a person's data ----------------------------------------------------------------------------------------------


def test_the_link_goes_along_with_a_persons_data_and_ends_with_the_account(
    provider: RealProvider, settings: LazySettings
) -> None:
    settings.INSTITUTIONS = (institution_at(provider.issuer, student_number_claim="matriculation"),)
    sign_in(provider, "d1", email="eve@uni.example", matriculation="4711", phone_number="canary", **CONFIRMED)
    eve = User.objects.get()
    (row,) = loaded(taken_along(eve), "institutions")
    assert (row["provider"], row["uid"], row["extra_data"]) == (provider.issuer, "d1", {"student_number": "4711"})
    delete_account(account=eve, user=eve)
    assert not SocialAccount.objects.exists()


def test_who_has_no_password_deletes_the_account_with_the_name(provider: RealProvider) -> None:
    client = Client()
    sign_in(provider, "d2", client, email="eve@uni.example", preferred_username="eve", **CONFIRMED)
    assert "eve" in text_of(client.get("/account/delete/"))
    assert client.post("/account/delete/", {"confirm": "eve"}).status_code == 303
    assert not User.objects.exists()
