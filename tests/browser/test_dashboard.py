"""The dashboard renews itself while Ada reads it, and takes nothing out of her hands."""

from __future__ import annotations

import pytest
from django.test import Client
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.conftest import answers, enter, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_table_that_ada_opened_stays_open_when_the_dashboard_renews_itself(
    chromium: Browser, live_server: LiveServer, pets: Competition, ada: User, bo: User
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    client = Client()
    client.force_login(ada)
    context = chromium.new_context(base_url=live_server.url)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.clock.install()
    page.goto("/host/pets/")
    page.locator("#pulse details > summary").first.click()
    submit(pets, bo, answers(public=1))
    with page.expect_response(lambda response: "seen=" in response.url):
        page.clock.fast_forward(10_500)
    expect(page.locator("#stat-submissions")).to_have_text("2")
    expect(page.locator("#pulse details").first).to_have_attribute("open", "")
    context.close()
