"""The Submit page in a real browser: keyboard, drop, progress, errors, without a reload."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Submission
from tests.browser.conftest import OpenPage
from tests.conftest import answers, enter, make_competition

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# What a line that is slow enough tells the page.
SENT = """loaded => document.getElementById("upload").dispatchEvent(
  new CustomEvent("htmx:xhr:progress", { bubbles: true, detail: { lengthComputable: true, loaded, total: 100 } }))"""
BAD = b"id,label\n1,cat\n1,dog\n99,cat\n"


@pytest.fixture
def submit_page(open_page: OpenPage, ada: User, bo: User) -> Page:
    """Bo on the Submit page."""
    enter(make_competition(ada), bo)
    page = open_page(bo)
    page.goto("/c/pets/submit/")
    return page


def choose(page: Page, data: bytes, name: str = "mine.csv") -> None:
    page.set_input_files("#id_file", {"name": name, "mimeType": "text/csv", "buffer": data})


def test_a_score_appears_without_a_reload(submit_page: Page, work: Callable[[], int]) -> None:
    page = submit_page
    page.evaluate("window.sameDocument = true")
    choose(page, answers())
    expect(page.locator("[data-file-name]")).to_have_text("mine.csv")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#progress .badge")).to_have_text(re.compile("Waiting|Scoring"))
    assert page.url.endswith(f"?submission={Submission.objects.get().pk}")
    assert work() == 1
    expect(page.locator(".result")).to_contain_text("1.000")
    expect(page.locator("#today")).to_contain_text("4 of 5")
    expect(page.locator("#announcements")).to_have_text("mine.csv scored 1.000, rank 1 of 1.")
    assert page.evaluate("window.sameDocument") is True


def test_a_bad_file_shows_all_its_problems(submit_page: Page, work: Callable[[], int]) -> None:
    page = submit_page
    choose(page, BAD)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#progress")).to_be_visible()
    work()
    expect(page.locator("#progress")).to_contain_text("was not scored. No attempt used.")
    assert page.locator("#progress .problems tbody tr").count() >= 3
    expect(page.locator("#today")).to_contain_text("5 of 5")


def test_a_refusal_is_shown_and_focused(submit_page: Page) -> None:
    page = submit_page
    choose(page, b"")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator(".errors")).to_be_focused()
    expect(page.locator(".errors")).to_contain_text("This file is empty")


def test_a_file_too_large_is_refused_before_it_is_sent(submit_page: Page) -> None:
    page = submit_page
    page.evaluate("document.getElementById('id_file').dataset.largest = '10'")
    choose(page, answers())
    expect(page.get_by_role("alert")).to_contain_text("This file is larger than")
    page.get_by_role("button", name="Submit", exact=True).click()
    assert page.evaluate("document.getElementById('id_file').validity.customError") is True
    choose(page, b"id,label\n")
    expect(page.locator("#too-large")).to_be_hidden()
    assert not Submission.objects.exists()


def test_a_file_on_its_way_says_so_in_words(submit_page: Page) -> None:
    page = submit_page
    words = page.locator("[data-upload-words]")
    for loaded, said_to_user in ((43, "Uploading: 43 %"), (100, "Uploaded. Reading the file.")):
        page.evaluate(SENT, loaded)
        expect(words).to_have_text(said_to_user)
    expect(page.locator("#announcements")).to_have_text("Uploaded. Reading the file.")
    page.evaluate(SENT, 10)  # the answer on its way back
    assert page.locator("#upload progress").evaluate("bar => bar.value / bar.max") == 1


def test_an_upload_that_is_lost_says_so_where_one_looks(submit_page: Page) -> None:
    page = submit_page
    page.route("**/submit/", lambda route: route.abort())
    choose(page, answers())
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("[data-upload-words].field-error")).to_contain_text("The upload failed")
    expect(page.locator("#upload progress")).to_be_hidden()
    expect(page.get_by_role("button", name="Submit")).to_be_enabled()


def test_a_file_is_no_arrived_one_where_the_session_has_ended(submit_page: Page) -> None:
    page = submit_page
    page.context.clear_cookies(name="sessionid")
    choose(page, answers())
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("[data-upload-words].field-error")).to_contain_text("submitted")
    expect(page.locator("[data-file-name]")).to_have_text("mine.csv")
    assert not Submission.objects.exists()
    page.get_by_role("link", name="Open the Submit page again").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize(("status", "words"), [(403, "submitted"), (413, "submitted"), (502, "in a moment")])
def test_an_answer_that_is_no_submit_page_is_no_arrival(submit_page: Page, status: int, words: str) -> None:
    page = submit_page
    page.route("**/submit/", lambda route: route.fulfill(status=status, body="<h1>Proxy</h1>"))
    choose(page, answers())
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("[data-upload-words].field-error")).to_contain_text(words)
    expect(page.locator("#upload progress")).to_be_hidden()


def test_a_file_that_is_another_one_by_now_is_chosen_again(submit_page: Page, tmp_path: Path) -> None:
    """The browser refuses to send it, however often it is asked to."""
    page, file = submit_page, tmp_path / "mine.csv"
    file.write_bytes(answers())
    page.set_input_files("#id_file", file)
    file.unlink()
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("[data-upload-words].field-error")).to_contain_text("Choose it again")


def test_who_is_signed_out_while_waiting_is_asked_to_sign_in(submit_page: Page) -> None:
    page = submit_page
    choose(page, answers())
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#progress")).to_be_visible()
    page.context.clear_cookies(name="sessionid")
    page.wait_for_url("**/accounts/login/**")
    assert page.locator("header.site-header").count() == 1


def test_a_file_dropped_on_the_zone_is_chosen(submit_page: Page) -> None:
    """The input covers the zone, so the browser's own drop does it."""
    box, zone = submit_page.locator("#id_file").bounding_box(), submit_page.locator(".drop-zone").bounding_box()
    assert box is not None
    assert zone is not None
    assert box["width"] >= zone["width"] - 4
    assert box["height"] >= zone["height"] - 4
