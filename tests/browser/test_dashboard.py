"""The dashboard renews itself while Ada reads it, and takes nothing out of her hands."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.browser.conftest import OpenPage
from tests.conftest import answers, enter, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_table_that_ada_opened_stays_open_when_the_dashboard_renews_itself(
    open_page: OpenPage, pets: Competition, ada: User, bo: User
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    page = open_page(ada)
    page.clock.install()
    page.goto("/host/pets/")
    page.locator("#pulse details > summary").first.click()
    submit(pets, bo, answers(public=1))
    with page.expect_response(lambda response: "seen=" in response.url):
        page.clock.fast_forward(10_500)
    expect(page.locator("#stat-submissions")).to_have_text("2")
    expect(page.locator("#pulse details").first).to_have_attribute("open", "")
