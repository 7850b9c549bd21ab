"""Waiting for a page."""

from __future__ import annotations

from contextlib import suppress

from playwright.sync_api import Error, Page

from tests.running_site import until


def until_page_says(page: Page, expression: str, arg: object = None) -> None:
    """Wait for a JavaScript expression to become true.

    Asked again and again from here: Playwright's `wait_for_function` evaluates a text in the page, which the site's
    policy refuses from the second look on.
    """

    def is_true() -> bool:
        with suppress(Error):  # between two pages there is none to ask
            return bool(page.evaluate(expression, arg))
        return False

    until(is_true, what=expression)
