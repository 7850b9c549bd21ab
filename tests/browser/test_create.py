"""From signing in to a launched competition in a real browser, counted and timed; each page for everybody."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import FilePayload, Page, expect

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from leaderboard.ground_truths.services import copying, drafts, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.submissions import outside_queue
from metrics.tests.answer_files import table
from tests.browser.conftest import OpenPage
from tests.browser.for_everybody import findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = table("id,species", lambda i, dice: dice.choice(["newt", "toad", "frog"]), 400)
MOST_CLICKS = 4
STEPS = ("setup", "truth/metric", "truth", "clone")


class Hand:
    """A hand that counts its clicks."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def press(self, name: str, role: str = "button") -> None:
        self.clicks += 1
        self.page.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]


def test_ada_launches_with_one_file_in_a_few_clicks(open_page: OpenPage, ada: User) -> None:
    page = open_page(timezone_id="Europe/Vienna")
    page.goto("/accounts/login/?next=/host/")
    page.fill("#id_login", "ada")
    page.fill("#id_password", "correct horse")
    page.get_by_role("button", name="Sign in").first.click()
    hand = Hand(page)
    hand.press("Create a competition", "link")
    hand.clicks += 1  # choosing the file
    page.set_input_files("#id_files", {"name": "answers.csv", "mimeType": "text/csv", "buffer": ANSWERS})
    page.get_by_role("heading", name="Check what we found").wait_for()
    hand.press("Launch now")
    expect(page.locator("main")).to_contain_text("Live")
    launched = Competition.objects.get()
    assert launched.launched_at is not None
    assert launched.zone == "Europe/Vienna"
    assert hand.clicks <= MOST_CLICKS


@pytest.fixture
def pond(ada: User) -> Competition:
    pond = copying.create_default_draft(user=ada, title="Pond life", slug="pond", overview="Newt, toad or **frog**?")
    drafts.save_draft(
        competition=pond, spec=GroundTruthSpec(file_name="answers.csv", chunks=[ANSWERS]), suggests_metrics=True
    )
    publishing.publish_draft(competition=pond, user=ada)
    drafts.save_draft(competition=pond, spec=GroundTruthSpec(metric="accuracy"), suggests_metrics=True)
    publishing.start_preview(competition=pond, user=ada)
    outside_queue.score_preview(pond.ground_truth_id or 0)
    return pond


@pytest.mark.takes(20)
def test_every_step_is_for_everybody(open_page: OpenPage, ada: User, pond: Competition) -> None:
    page = open_page(ada)
    for step in STEPS:
        page.goto(f"/host/pond/{step}/")
        assert [(step, one) for one in findings(page)] == []


def test_a_spreadsheets_file_is_offered_taken_and_compared_on_pages_for_everybody(
    open_page: OpenPage, ada: User
) -> None:
    """Semicolons, an index and `USAGE` at once: two presses, and after the launch a correction says what it changes."""
    lines = [f"{i};{i + 1};{'newt' if i % 3 else 'toad'};{'Public' if i % 2 else 'Private'}" for i in range(60)]
    file: FilePayload = {
        "name": "answers.csv",
        "mimeType": "text/csv",
        "buffer": "\n".join([";id;species;USAGE", *lines]).encode(),
    }
    copying.create_default_draft(user=ada, title="Pond life", slug="pond", overview="What swims there?")
    page = open_page(ada)
    page.goto("/host/pond/setup/")
    page.set_input_files("#id_files", files=file)
    page.get_by_role("button", name="Convert to plain CSV").wait_for()
    assert findings(page) == []
    page.get_by_role("button", name="Convert to plain CSV").first.click()
    expect(page.get_by_role("button", name="Launch now")).to_be_enabled()
    page.get_by_role("button", name="Create as draft").click()
    page.get_by_role("heading", name="Before the launch").wait_for()
    drafts.discard_draft(competition=Competition.objects.get())
    Competition.objects.update(launched_at=timezone.now())
    page.goto("/host/pond/truth/")
    file["buffer"] = "\n".join([";id;species;USAGE", lines[0].replace("toad", "frog"), *lines[1:]]).encode()
    page.set_input_files("#id_file", files=file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Convert to plain CSV").click()
    expect(page.get_by_role("cell", name="frog", exact=True)).to_be_visible()
    assert findings(page) == []
