"""The button of an institution, in a browser that applies the site's Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from leaderboard.accounts.models import User
from tests.browser.conftest import OpenPage
from tests.browser.for_everybody import findings
from tests.institutions import RealProvider, fetch_all_metadata, institution_at, real_provider

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def provider() -> Iterator[RealProvider]:
    with real_provider() as provider:
        yield provider


@pytest.mark.django_db(transaction=True)
def test_the_pages_around_it_are_for_everybody(open_page: OpenPage, settings: LazySettings) -> None:
    """In light and dark, at 320 px, with keyboards and screen readers; with local passwords and without."""
    settings.INSTITUTIONS = (institution_at("http://127.0.0.1:1"),)
    found: list[str] = []
    page = open_page()
    paths = ("login/", "login/?local", "signup/", "oidc/1/login/", "oidc/1/login/callback/", "3rdparty/login/error/")
    for settings.LOCAL_PASSWORDS in (True, False):
        for path in paths:
            page.goto(f"/accounts/{path}")
            found += [f"{path}: {finding}" for finding in findings(page)]
    assert found == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("has_script", [True, False])
def test_eve_presses_the_button_and_comes_back_signed_in(
    chromium: Browser, live_server: LiveServer, provider: RealProvider, settings: LazySettings, has_script: bool
) -> None:
    settings.INSTITUTIONS = (institution_at(provider.issuer),)
    assert fetch_all_metadata()
    provider.know("eve", email="eve@uni.example", email_verified=True, preferred_username="eve")
    with chromium.new_context(java_script_enabled=has_script) as context:
        page = context.new_page()
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
        page.goto(f"{live_server.url}/accounts/login/?next=/metrics/")
        page.get_by_role("button", name="Sign in with University X").click()
        page.wait_for_url(f"{provider.issuer}/**")
        page.locator("input[name=sub]").first.fill("eve")
        page.locator("button[type=submit], input[type=submit]").first.click()
        page.wait_for_url(f"{live_server.url}/metrics/")
        expect(page.locator("summary.person")).to_be_visible()
        assert [text for text in refused if "Content Security" in text] == []
    assert User.objects.get().username == "eve"
