"""The operator's page “People”: find and add people, let them host, hand out password links."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry, AuditEvent
from tests.conftest import person
from tests.pages import link_in, signed_in, text_of

PAGE = "/people/"


@pytest.fixture
def operator(olga: User) -> Client:
    return signed_in(olga)


def names_on(page: str) -> list[str]:
    """The names in the rows of the table."""
    rows = page.split('data-testid="person"')[1:]
    return [row.partition('scope="row"')[2].partition(">")[2].split()[0] for row in rows]


def choose_password(link: str, password: str) -> None:
    browser = Client()
    form = browser.get(link, follow=True).request["PATH_INFO"]
    browser.post(form, {"password1": password, "password2": password})


def test_only_operators_open_the_page(operator: Client, ada: User, dee: User, bo: User) -> None:
    assert operator.get(PAGE).status_code == 200
    for user in (ada, bo, dee):
        for action in ("host", "no_host", "link", "add"):
            fields = {"action": action, "person": "bo", "username": "new", "email": "new@example.org"}
            assert signed_in(user).post(PAGE, fields).status_code == 403
        assert signed_in(user).get(PAGE).status_code == 403
    assert Client().get(PAGE)["Location"].startswith("/accounts/login/")
    assert not AuditEntry.objects.exists()


def test_the_menu_leads_operators_alone_to_the_page(operator: Client, ada: User) -> None:
    assert f'href="{PAGE}"' in operator.get("/").content.decode()
    assert f'href="{PAGE}"' not in signed_in(ada).get("/").content.decode()


def test_search_finds_names_and_addresses(operator: Client, ada: User, bo: User) -> None:
    User.objects.filter(pk=bo.pk).update(first_name="Robert", last_name="Olsen")
    assert names_on(operator.get(PAGE).content.decode()) == ["ada", "bo", "olga"]
    for text, found in (("BO", ["bo"]), ("ada@exam", ["ada"]), ("olsen robert", ["bo"]), ("zebra", [])):
        assert names_on(operator.get(PAGE, {"q": text}).content.decode()) == found


def test_many_people_have_several_pages(operator: Client) -> None:
    for number in range(50):
        User.objects.create(username=f"many{number:02}")
    assert len(names_on(operator.get(PAGE).content.decode())) == 50
    assert names_on(operator.get(PAGE, {"page": 2}).content.decode()) == ["olga"]


def test_olga_makes_bo_a_host_and_takes_it_back(operator: Client, olga: User, bo: User) -> None:
    answer = operator.post(f"{PAGE}?q=bo", {"action": "host", "person": "bo"})
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}?q=bo")
    assert User.objects.get(pk=bo.pk).can_host
    operator.post(PAGE, {"action": "host", "person": "bo"})
    operator.post(PAGE, {"action": "no_host", "person": "bo"})
    assert not User.objects.get(pk=bo.pk).can_host
    found = AuditEntry.objects.values_list("event", "by", "account")
    assert list(found) == [(AuditEvent.RIGHTS_CHANGED, olga.pk, bo.pk)] * 2  # a second click changes nothing


def test_no_operator_loses_rights_here(operator: Client, olga: User) -> None:
    assert 'value="olga"' not in operator.get(PAGE).content.decode()
    operator.post(PAGE, {"action": "no_host", "person": "olga"})
    olga.refresh_from_db()
    assert olga.is_superuser
    assert olga.is_host


@pytest.mark.parametrize("verification", ["none", "mandatory"])
def test_a_password_link_works_once_for_anybody(
    operator: Client, olga: User, ada: User, settings: LazySettings, verification: str
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    answer = operator.post(PAGE, {"action": "link", "person": "ada"})
    assert "no-store" in answer["Cache-Control"]
    entry = AuditEntry.objects.get()
    assert (entry.event, entry.by, entry.account) == (AuditEvent.PASSWORD_LINK, olga.pk, ada.pk)
    link = link_in(answer.content.decode())
    choose_password(link, "quite another horse")
    ada.refresh_from_db()
    assert ada.check_password("quite another horse")
    assert Client().get(link).status_code == 410
    assert link not in operator.get(PAGE).content.decode()


def test_a_link_ends_with_the_account(operator: Client, bo: User) -> None:
    link = link_in(operator.post(PAGE, {"action": "link", "person": "bo"}).content.decode())
    User.objects.filter(pk=bo.pk).update(is_active=False)
    assert Client().get(link).status_code == 410
    assert operator.post(PAGE, {"action": "link", "person": "bo"}).status_code == 404


def test_wrong_actions_and_people_are_refused(operator: Client, bo: User) -> None:
    assert operator.post(PAGE, {"action": "host", "person": "nobody"}).status_code == 404
    assert operator.post(PAGE, {"action": "other", "person": "bo"}).status_code == 404


def test_olga_adds_a_host_with_a_link_to_a_password(operator: Client, olga: User) -> None:
    fields = {"action": "add", "username": "hal", "email": "Hal@Example.org", "can_host": "on"}
    answer = operator.post(PAGE, fields)
    hal = User.objects.get(username="hal")
    assert (hal.email, hal.can_host, hal.has_usable_password()) == ("hal@example.org", True, False)
    choose_password(link_in(answer.content.decode()), "quite another horse")
    assert Client().login(username="hal", password="quite another horse")
    events = list(AuditEntry.objects.order_by("pk").values_list("event", flat=True))
    assert events == [AuditEvent.RIGHTS_CHANGED, AuditEvent.PASSWORD_LINK]


@pytest.mark.parametrize(
    ("username", "email"),
    [("bo", "new@example.org"), ("b0", "new@example.org"), ("new", "BO@example.org"), ("new", "no"), ("", "")],
)
def test_names_and_addresses_belong_to_one_person(operator: Client, bo: User, username: str, email: str) -> None:
    answer = operator.post(PAGE, {"action": "add", "username": username, "email": email})
    assert answer.status_code == 422
    assert 'data-testid="password-link"' not in text_of(answer)
    assert User.objects.count() == 2


def test_names_are_text(operator: Client) -> None:
    person("<b>x", first_name="<i>")
    assert "<b>x" not in operator.get(PAGE).content.decode()
