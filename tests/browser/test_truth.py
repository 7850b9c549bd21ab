"""The host's pages of the truth in a browser: the file finds its metrics, and the page stays readable everywhere."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from leaderboard.accounts.models import User
from leaderboard.competitions import services as competitions
from metrics.tests.answer_files import table
from tests.conftest import save_truth

from .conftest import OpenPage
from .for_everybody import findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = table("id,y,sample_weight", lambda i, dice: f"{dice.random():.3f},{dice.randint(1, 9)}", 120)


@pytest.fixture
def metric_page(open_page: OpenPage, ada: User) -> Page:
    """Ada chooses a metric for her answers."""
    now = timezone.now()
    pets = competitions.create_competition(
        user=ada, slug="pets", title="Pets", overview="?", opens_at=now, closes_at=now + timedelta(days=1)
    )
    save_truth(pets, ANSWERS, metric="")
    page = open_page(ada)
    page.goto("/host/pets/truth/metric/")
    expect(page.get_by_text("No problems found")).to_be_visible()
    return page


def test_a_file_is_enough_to_be_told_what_fits(metric_page: Page) -> None:
    page = metric_page
    usual = page.get_by_role("group", name="Usual for these answers")
    expect(usual.get_by_role("radio").first).to_have_value("weighted_mae")
    expect(page.get_by_role("combobox", name="Weight")).to_have_value("sample_weight")
    page.get_by_role("link", name="Baselines").click()
    expect(page.get_by_role("row", name="Median")).to_be_visible()
    usual.get_by_role("radio").nth(1).check()
    expect(page.locator("#parameters h3")).to_have_text("Column-wise RMSE")


def test_the_checked_page_is_for_everybody(metric_page: Page) -> None:
    page = metric_page
    page.get_by_role("link", name="Baselines").click()
    for summary in page.locator("details.disclosure > summary").all():
        summary.click()
    assert findings(page) == []
