"""The first minute: whoever holds the link from the terminal becomes the operator."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import SetupLink, User
from leaderboard.operations.management.commands import setup_link

OLGA = {"username": "olga", "email": "olga@example.org", "password": "a long enough phrase"}


def test_olga_becomes_the_operator_once(client: Client, db: None) -> None:
    secret = SetupLink.issue()
    assert "Create the administrator account" in client.get(f"/setup/{secret}/").content.decode()
    response = client.post(f"/setup/{secret}/", OLGA, follow=True)
    assert "Welcome, olga" in response.content.decode()
    olga = User.objects.get()
    assert olga.is_superuser
    assert olga.is_staff
    assert olga.can_host
    assert response.context["user"] == olga
    again = Client().post(f"/setup/{secret}/", OLGA | {"username": "mallory", "email": "m@example.org"})
    assert again.status_code == 410
    assert "setup link no longer works" in again.content.decode()
    assert User.objects.count() == 1


def test_an_unknown_link_says_so(client: Client, db: None) -> None:
    assert client.get("/setup/guess/").status_code == 410
    assert client.post("/setup/guess/", OLGA).status_code == 410
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "change", [{"password": "12345678"}, {"password": "olga"}, {"email": ""}, {"email": "no"}, {"username": "a b/c<"}]
)
def test_a_poor_form_is_shown_again_and_the_link_still_works(client: Client, db: None, change: dict[str, str]) -> None:
    secret = SetupLink.issue()
    response = client.post(f"/setup/{secret}/", OLGA | change)
    assert response.status_code == 422
    assert "Please fix the following" in response.content.decode()
    assert not User.objects.exists()
    assert SetupLink.is_live(secret)


def test_no_link_works_once_there_is_an_operator(client: Client, olga: User) -> None:
    assert client.get(f"/setup/{SetupLink.issue()}/").status_code == 410


def test_olga_asks_for_a_link_where_she_sees_no_terminal(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several web servers each shows a link; whichever she opens first ends the others."""
    monkeypatch.setenv("SITE_URL", "https://class.example.org/")
    earlier, out = SetupLink.issue(), StringIO()
    call_command("setup_link", stdout=out)
    address = out.getvalue().strip()
    assert address.startswith("https://class.example.org/setup/")
    path = address.removeprefix("https://class.example.org")
    assert client.get(path).status_code == 200
    assert client.post(f"/setup/{earlier}/", OLGA).status_code == 302
    assert Client().get(path).status_code == 410


def test_a_link_ends_after_a_week(client: Client, db: None) -> None:
    secret = SetupLink.issue()
    SetupLink.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert client.get(f"/setup/{secret}/").status_code == 410
    assert client.post(f"/setup/{secret}/", OLGA).status_code == 410
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_link_waits_for_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter([False, False, True])
    monkeypatch.setattr(setup_link, "is_migrated", lambda: next(made))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    out = StringIO()
    call_command("setup_link", stdout=out)
    assert "/setup/" in out.getvalue()
    monkeypatch.setattr(setup_link, "is_migrated", lambda: False)
    monkeypatch.setattr(setup_link, "PATIENCE", 0)
    with pytest.raises(CommandError, match="migrate"):
        call_command("setup_link")


def test_no_link_is_made_once_there_is_an_operator(olga: User) -> None:
    with pytest.raises(CommandError):
        call_command("setup_link")
    assert not SetupLink.objects.exists()
