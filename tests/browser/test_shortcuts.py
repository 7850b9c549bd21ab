"""Keys for those who like them: they lead where they say, never while typing, and can be switched off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from leaderboard import telling
from leaderboard.models import Competition, User
from tests.conftest import enter

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, pets: Competition, bo: User) -> Iterator[Page]:
    """Bo's browser in New York, signed in, on the overview."""
    enter(pets, bo)
    client = Client()
    client.force_login(bo)
    context = chromium.new_context(timezone_id="America/New_York")
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/c/pets/")
    yield page
    context.close()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_keys_lead_where_they_say(page: Page, live_server: LiveServer) -> None:
    for keys, path in (
        ("gb", "/c/pets/leaderboard/"),
        ("gs", "/c/pets/submit/"),
        ("gn", "/notifications/"),
        ("gc", "/"),
    ):
        if path == "/notifications/":
            page.goto(f"{live_server.url}/c/pets/")
        press(page, *keys)
        page.wait_for_url(f"{live_server.url}{path}")
    press(page, "/")
    assert page.evaluate("document.activeElement.type") == "search"
    press(page, "g", "b", "?")
    assert page.input_value("main input[type=search]") == "gb?"
    assert page.url == f"{live_server.url}/"


def test_the_list_opens_as_a_dialog_and_closes_by_escape(page: Page) -> None:
    press(page, "?")
    assert page.is_visible("dialog#shortcuts")
    press(page, "g", "b")
    assert page.is_visible("dialog#shortcuts")
    press(page, "Escape")
    assert not page.is_visible("dialog#shortcuts")


def test_other_keys_in_between_and_keys_of_the_browser_do_nothing(page: Page) -> None:
    here = page.url
    press(page, "g", "x", "b", "Control+b", "b")
    assert page.url == here


def test_who_switches_them_off_has_none(page: Page, bo: User) -> None:
    User.objects.filter(pk=bo.pk).update(has_shortcuts=False)
    page.reload()
    press(page, "?")
    assert page.locator("dialog#shortcuts").count() == 0
    assert "shortcuts.js" not in page.content()


def test_the_browser_tells_its_zone_and_the_next_page_has_it_without_the_script(
    page: Page, chromium: Browser, live_server: LiveServer
) -> None:
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    assert cookies["zone"] == "America/New_York"
    telling.tell(User.objects.all(), kind="grant", competition=None, title="More", text="", link="")
    plain = chromium.new_context(java_script_enabled=False)
    plain.add_cookies([{"name": name, "value": value, "url": live_server.url} for name, value in cookies.items()])
    without = plain.new_page()
    without.goto(f"{live_server.url}/notifications/")
    assert "(America/New_York; " in (without.get_attribute("main time", "title") or "")
    plain.close()
