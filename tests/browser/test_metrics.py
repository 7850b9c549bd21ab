"""The metric pages in a real browser: search as one types, cells computed without a reload, and no script at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

import metrics

from .for_everybody import ALL, COLOURS, NARROW, WIDE, WIDER, axe, dress

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# A sum with a table of four, a curve, many columns, long texts, a bad file.
LOOKS = (
    "/metrics/",
    "/metrics/binary_f1/?param-positive=0",
    "/metrics/roc_auc/",
    "/metrics/thresholded_f1/?param-count=1",
    "/metrics/coleridge_fbeta/?param-beta=x",
    "/metrics/rmse/?tw=2&t=id&t=y&t=1&t=2&sw=2&s=id&s=y&s=9&s=lots",
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


def test_changed_cells_are_computed_without_a_reload(page: Page) -> None:
    page.goto("/metrics/accuracy/")
    expect(page.locator(".sum-line strong")).to_have_text("0.75")
    page.evaluate("window.sameDocument = true")
    page.get_by_text("Edit cells and parameters").click()
    page.get_by_label("Submission, row 3, column 2").fill("0")
    page.get_by_label("Submission, row 3, column 2").press("Enter")
    expect(page.locator(".sum-line strong")).to_have_text("1")
    expect(page.locator("#announcements")).to_have_text("The score is 1.")
    expect(page.get_by_label("Submission, row 3, column 2")).to_be_visible()
    assert "s=0" in page.url
    assert page.evaluate("window.sameDocument") is True
    page.get_by_role("link", name="Back to the example").first.click()
    expect(page.locator(".sum-line strong")).to_have_text("0.75")


def test_rows_are_added_filled_and_removed(page: Page) -> None:
    page.goto("/metrics/accuracy/")
    page.get_by_text("Edit cells and parameters").click()
    for sheet in ("Answers", "Submission"):
        page.get_by_role("button", name=f"Add a row to {sheet}").click()
        page.get_by_label(f"{sheet}, row 5, column 1").fill("5")
        page.get_by_label(f"{sheet}, row 5, column 2").fill("1")
    assert "do=" not in page.url
    page.get_by_role("button", name="Compute").last.click()
    expect(page.locator(".sum-line strong")).to_have_text("0.8")
    page.get_by_role("button", name="Remove row 3 of Answers").click()
    expect(page.locator(".errors")).to_be_focused()
    expect(page.locator("#try")).to_contain_text("1 id unknown")


def test_a_bad_parameter_is_told_at_its_field(page: Page) -> None:
    page.goto("/metrics/fbeta/")
    page.get_by_text("Edit cells and parameters").click()
    beta = page.locator("#id_param-beta")
    beta.evaluate("field => { field.type = 'text'; field.value = 'much' }")
    beta.press("Enter")
    expect(page.locator("#id_param-beta_error")).to_contain_text("is not a finite number")
    expect(page.locator(".sum-line")).to_have_count(0)


def test_it_works_without_a_script(chromium: Browser, live_server: LiveServer) -> None:
    context = chromium.new_context(java_script_enabled=False, base_url=live_server.url)
    page = context.new_page()
    page.goto("/metrics/?q=rmse")
    page.get_by_role("link", name="RMSE", exact=True).click()
    page.get_by_text("Edit cells and parameters").click()
    page.get_by_role("button", name="Add a row to Submission").click()
    page.get_by_label("Submission, row 1, column 2").fill("3")
    page.get_by_role("button", name="Compute").last.click()
    expect(page.locator(".sum-line strong")).to_have_text("0.5590169944")
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
