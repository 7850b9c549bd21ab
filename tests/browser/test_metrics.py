"""The metric pages in a real browser: search as one types, and no script at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

import metrics

from .for_everybody import ALL, COLOURS, NARROW, WIDE, WIDER, axe, dress

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("with_worked_examples"),
]
# A sum with a table of four, a curve, many columns, long texts.
LOOKS = (
    "/metrics/",
    "/metrics/binary_f1/",
    "/metrics/roc_auc/",
    "/metrics/thresholded_f1/",
    "/metrics/coleridge_fbeta/",
)


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    """Somebody who just looks; any breach of the content security policy fails the test."""
    context = chromium.new_context(viewport={"width": 1180, "height": 900}, base_url=live_server.url)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation', e => { throw new Error(e.violatedDirective) })"
    )
    yield page
    context.close()
    assert errors == []


def test_the_gallery_follows_what_is_typed(page: Page) -> None:
    page.goto("/metrics/")
    everything = page.locator("#gallery .card").count()
    assert everything >= len(metrics.catalogue())
    page.evaluate("window.sameDocument = true")
    page.get_by_label("Search metrics").press_sequentially("kappa")
    expect(page.locator("#gallery")).to_contain_text("found for “kappa”")
    expect(page).to_have_url(re.compile(r"q=kappa$"))
    expect(page.get_by_label("Search metrics")).to_be_focused()
    assert page.locator("#gallery .card").count() < everything
    assert page.evaluate("window.sameDocument") is True


def test_it_works_without_a_script(chromium: Browser, live_server: LiveServer) -> None:
    context = chromium.new_context(java_script_enabled=False, base_url=live_server.url)
    page = context.new_page()
    page.goto("/metrics/?q=rmse")
    page.get_by_role("link", name="RMSE", exact=True).click()
    expect(page.locator(".sum-line strong")).to_have_text("0.6123724357")
    context.close()


def test_all_looks_are_for_everybody(page: Page) -> None:
    """Axe finds nothing, in light and dark, and nothing scrolls sideways at 320 px."""
    for path in LOOKS:
        page.set_viewport_size(WIDE)
        page.emulate_media(color_scheme="light")
        page.goto(path)
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        found = [f"light: {one}" for one in axe(page, ALL)]
        dress(page, "dark")
        found += [f"dark: {one}" for one in axe(page, COLOURS)]
        page.set_viewport_size(NARROW)
        assert [(path, one) for one in (*found, *page.evaluate(WIDER))] == []
