"""A passkey from a browser's own authenticator signs in, and what it said once says nothing a second time."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.conf import LazySettings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, Request
from pytest_django.live_server_helper import LiveServer

from leaderboard.accounts.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(autouse=True)
def behind_https(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the site is behind https. A machine's own name counts as safe for browsers and for the site's check.

    The form decides about its box when it is first loaded, which may have been before these settings.
    """
    monkeypatch.setitem(AddWebAuthnForm.base_fields, "passwordless", forms.BooleanField(required=False))
    settings.ROOT_URLCONF = "tests.browser.passkey_urls"
    settings.MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
    settings.MFA_PASSKEY_LOGIN_ENABLED = True


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """Closed also where the test fails: what stays open is cut off when the server has ended already."""
    context = chromium.new_context()
    yield context
    context.close()


def signed_in(context: BrowserContext, address: str, user: User) -> Page:
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    return context.new_page()


@pytest.mark.attack("what a passkey said once, said again")
def test_bo_signs_in_with_a_passkey_and_nobody_with_what_it_said_before(
    context: BrowserContext, live_server: LiveServer, bo: User
) -> None:
    address = re.sub("127.0.0.1", "localhost", live_server.url)
    page = signed_in(context, address, bo)
    line = context.new_cdp_session(page)
    line.send("WebAuthn.enable")
    line.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    page.goto(f"{address}/accounts/2fa/webauthn/add/")
    if "reauthenticate" in page.url:
        page.fill("input[name=password]", "correct horse")
        page.click("main button[type=submit]")
        page.wait_for_url("**/webauthn/add/**")
    page.check("input[name=passwordless]")
    page.click("#mfa_webauthn_add")
    page.wait_for_url(lambda url: "webauthn/add" not in url)
    context.clear_cookies()
    asked: list[Request] = []

    def note(request: Request) -> None:
        asked.append(request)

    page.on("request", note)
    page.goto(f"{address}/accounts/login/")
    page.click("#passkey_login")
    page.wait_for_url(lambda url: "/accounts/" not in url)
    page.goto(f"{address}/account/")
    assert page.url == f"{address}/account/", "Bo is signed in without a password"
    output = [request.post_data or "" for request in asked if request.method == "POST"]
    [answer] = [text for text in output if "credential=" in text]
    context.clear_cookies()

    page.goto(f"{address}/accounts/login/")
    token = page.input_value("#mfa_login input[name=csrfmiddlewaretoken]")
    again = re.sub(r"csrfmiddlewaretoken=[^&]*", f"csrfmiddlewaretoken={token}", answer)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": address, "Referer": f"{address}/"}
    context.request.post(f"{address}/accounts/2fa/webauthn/login/", data=again, headers=headers)
    page.goto(f"{address}/account/")
    assert "/accounts/login/" in page.url, "another challenge was waiting for another answer"
