"""The keyboard is enough: each stop can be seen, none holds the focus, and a file gets from the disk to the board."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.browser.conftest import OpenPage
from tests.browser.waiting import until_page_says
from tests.conftest import answers, enter, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_STOPS = 120
STOP = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const shown = [at, ...(at.labels ?? []), at.closest(".drop-zone, .competition-card")].filter(Boolean);
  const seen = shown.some((one) => {
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.width > 1 && box.height > 1;
  });
  const words = (at.textContent || at.name || "").trim().replace(/\\s+/g, " ");
  return { seen, name: `${at.localName} ${words.slice(0, 40)}` };
}"""


@pytest.fixture
def page(open_page: OpenPage, pets: Competition, bo: User, cy: User) -> Page:
    """Bo's browser; Cy has handed in a file already."""
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, cy, answers(public=3))
    return open_page(bo)


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the stop of this name is reached."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if (stop := page.evaluate(STOP)) and stop["name"] == name:
            return
    raise AssertionError(f"Tab never comes to {name}")


def test_every_stop_can_be_seen_and_the_last_is_left(page: Page) -> None:
    for path in ("/", "/c/pets/submit/", "/c/pets/leaderboard/", "/c/pets/submissions/", "/account/"):
        page.goto(path)
        stops = []
        for _ in range(MOST_STOPS):
            page.keyboard.press("Tab")
            stop = page.evaluate(STOP)
            if stop is None:
                break
            stops.append(stop)
        assert len(stops) < MOST_STOPS, f"the focus is held on {path}"
        assert stops[0]["name"] == "a Skip to content", path
        assert len(stops) > 10, path
        assert [stop["name"] for stop in stops if not stop["seen"]] == [], path


def test_a_stop_without_an_outline_would_be_noticed(page: Page) -> None:
    page.set_content("<style>a:focus { outline: none }</style><a href='/'>here</a>")
    page.keyboard.press("Tab")
    assert page.evaluate(STOP) == {"seen": False, "name": "a here"}


@pytest.mark.long
def test_a_file_gets_from_the_disk_to_the_board_by_keys_alone(page: Page, work: Callable[[], int]) -> None:
    page.goto("/c/pets/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    tab_to(page, "a Submit")
    page.keyboard.press("Enter")
    page.wait_for_url("**/submit/")
    with page.expect_file_chooser() as chooser:  # from here on, for the browser needs a moment to know it
        tab_to(page, "input file")
        page.keyboard.press("Enter")
    chooser.value.set_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": answers(public=2)})
    tab_to(page, "button Submit")
    page.keyboard.press("Enter")
    expect(page.locator("#progress")).to_be_visible()
    assert work() == 1
    expect(page.locator("#progress")).to_contain_text("0.667")
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling")).to_have_count(0)
    tab_to(page, "a See the leaderboard")
    page.keyboard.press("Enter")
    page.wait_for_url("**/leaderboard/", wait_until="commit")
    expect(page.locator("tr[aria-current]")).to_contain_text("0.667")


def test_what_opens_has_a_mark_that_turns(open_page: OpenPage) -> None:
    page = open_page(reduced_motion="reduce")
    page.goto("/metrics/accuracy/")
    summary = page.locator("details.disclosure > summary").first
    mark = "getComputedStyle(document.querySelector('details.disclosure > summary'), '::before')"
    width, shut = page.evaluate(f"(() => [parseFloat({mark}.width), {mark}.transform])()")
    summary.click()
    until_page_says(page, f"shut => {mark}.transform != shut", shut)
    assert width >= 5
