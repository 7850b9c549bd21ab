"""Debian's Chromium, for all tests that need a real browser."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from playwright.sync_api import Browser, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from leaderboard.competitions.scoring import score
from tests.site import CHROMIUM_ARGUMENTS, patience


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for the whole run; every test opens contexts of its own."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "The browser tests need Debian's package `chromium`."
    expect.set_options(timeout=10_000 * patience())
    # Playwright runs an event loop in this thread; Django would take the tests for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


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
    for name in ("score_submission", "rescore_batch", "measure_preview"):
        monkeypatch.setattr(score, name, in_turn(getattr(score, name)))
    return live_server
