"""The host's pages of the truth in a browser: the file finds its metrics, and the page stays readable everywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from leaderboard.accounts.models import User
from leaderboard.competitions import services as competitions
from metrics.tests.answer_files import table

from .for_everybody import dress

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = table("id,y,sample_weight", lambda i, dice: f"{dice.random():.3f},{dice.randint(1, 9)}", 120)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture
def truth_page(chromium: Browser, live_server: LiveServer, settings: LazySettings, ada: User) -> Iterator[Page]:
    """Ada before she has chosen her answers."""
    now = timezone.now()
    competitions.create_competition(
        user=ada, slug="pets", title="Pets", overview="?", opens_at=now, closes_at=now + timedelta(days=1)
    )
    client = Client()
    client.force_login(ada)
    context = chromium.new_context(viewport={"width": 1180, "height": 900})
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{live_server.url}/host/pets/truth/")
    yield page
    context.close()
    assert errors == []


def find_metrics(page: Page) -> None:
    page.set_input_files("#id_file", {"name": "answers.csv", "mimeType": "text/csv", "buffer": ANSWERS})
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("heading", name="answers.csv")).to_be_visible()
    page.get_by_role("link", name="Continue to the metric").click()
    expect(page.get_by_text("No problems found")).to_be_visible()


def test_a_file_is_enough_to_be_told_what_fits(truth_page: Page) -> None:
    page = truth_page
    find_metrics(page)
    usual = page.get_by_role("group", name="Usual for these answers")
    expect(usual.get_by_role("radio").first).to_have_value("weighted_mae")
    expect(page.get_by_role("combobox", name="Weight")).to_have_value("sample_weight")
    expect(page.get_by_role("row", name="Median")).to_be_visible()
    usual.get_by_role("radio").nth(1).check()
    expect(page.locator("#parameters h3")).to_have_text("Column-wise RMSE")


def test_the_checked_page_is_for_everybody(truth_page: Page) -> None:
    page = truth_page
    find_metrics(page)
    for summary in page.locator("details.disclosure > summary").all():
        summary.click()
    for scheme, width in product(SCHEMES, (1180, 320)):
        page.set_viewport_size({"width": width, "height": 900})
        dress(page, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (scheme, width)
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=f"{folder}/truth-{scheme}-{width}.png", full_page=True)
        found = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
        assert found.response["violations"] == [], (scheme, width, found.generate_report())
