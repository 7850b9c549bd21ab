"""Debian's Chromium, for all tests that need a real browser."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from leaderboard.accounts.models import User
from leaderboard.submissions import outside_queue, score
from tests.running_site import CHROMIUM_ARGUMENTS, patience

from .for_everybody import WIDE


class Chromium:
    """The browser of a run. One that has died, or did not start, costs the test that meets it and not all others."""

    def __init__(self, playwright: Playwright, path: str) -> None:
        self._playwright, self._path = playwright, path
        self._browser: Browser | None = None

    def started(self) -> Browser:
        """The browser, started anew where it is gone."""
        if self._browser is None or not is_alive(self._browser):
            self._browser = self._playwright.chromium.launch(
                executable_path=self._path, args=CHROMIUM_ARGUMENTS, timeout=30_000 * patience()
            )
        return self._browser

    def close(self) -> None:
        if self._browser is not None and is_alive(self._browser):
            self._browser.close()


def is_alive(browser: Browser) -> bool:
    try:
        browser.new_context().close()
    except Error:
        return False
    return True


@pytest.fixture(scope="session")
def chromium_of_the_run() -> Iterator[Chromium]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "The browser tests need Debian's package `chromium`."
    # Playwright runs an event loop in this thread; Django would take the tests for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        chromium = Chromium(playwright, path)
        yield chromium
        chromium.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def chromium(chromium_of_the_run: Chromium) -> Browser:
    """One browser for the whole run; every test opens contexts of its own."""
    expect.set_options(timeout=10_000 * patience())  # as busy as the machine is now
    return chromium_of_the_run.started()


OpenPage = Callable[..., Page]
BREACHES = "document.addEventListener('securitypolicyviolation', e => { throw new Error(e.violatedDirective) })"


@pytest.fixture
def open_page(chromium: Browser, live_server: LiveServer) -> Iterator[OpenPage]:
    """A function that opens a browser of its own for somebody who is signed in, or for a visitor.

    Errors of scripts, and breaches of the security policy where those are `watched`, fail the test.
    """
    contexts, complaints = list[BrowserContext](), list[str]()

    def opened(user: User | None = None, *, watched: bool = True, **options: Any) -> Page:
        context = chromium.new_context(**{"viewport": WIDE, "base_url": live_server.url, **options})
        context.set_default_timeout(12_000 * patience())
        contexts.append(context)
        if user is not None:
            client = Client()
            client.force_login(user)
            session = client.cookies["sessionid"].value
            context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        if watched:
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.add_init_script(BREACHES)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def live_server(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> LiveServer:
    """Answers while nothing is measured: a test and its server share one connection to a database in memory, in which
    a page would see the half of a transaction that no site shows anybody."""
    turn = threading.RLock()

    def in_turn(verb: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*given: Any, **named: Any) -> Any:
            with turn:
                return verb(*given, **named)

        return taken

    monkeypatch.setattr(BaseHandler, "get_response", in_turn(BaseHandler.get_response))
    for module, name in ((score, "score_one"), (outside_queue, "rescore_batch"), (outside_queue, "score_preview")):
        monkeypatch.setattr(module, name, in_turn(getattr(module, name)))
    return live_server
