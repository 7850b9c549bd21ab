"""The browser tests can be believed: a page is asked in time, and a browser that dies takes no other test with it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Error

from tests.browser.conftest import Chromium
from tests.browser.waiting import until_page_says

pytestmark = pytest.mark.browser


def test_a_page_is_asked_until_it_says_yes_though_it_evaluates_nothing(chromium: Browser) -> None:
    page = chromium.new_page()
    policy = "<meta http-equiv='Content-Security-Policy' content=\"script-src 'unsafe-inline'\">"
    page.set_content(f"{policy}<script>setTimeout(() => window.isThere = true, 300)</script>")
    until_page_says(page, "window.isThere")
    with pytest.raises(Error, match="unsafe-eval"):
        page.wait_for_function("window.isNowhere")
    page.context.close()


def test_a_browser_that_died_is_started_again(chromium_of_the_run: Chromium) -> None:
    first = chromium_of_the_run.started()
    assert chromium_of_the_run.started() is first
    with pytest.raises(Error):
        first.new_browser_cdp_session().send("Browser.crash")
    page = chromium_of_the_run.started().new_page()
    assert page.evaluate("1 + 1") == 2
    page.context.close()
