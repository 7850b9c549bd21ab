"""The metric pages in a real browser: search as one types, and no script at all."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import metrics

from .conftest import OpenPage
from .for_everybody import findings

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


def test_the_gallery_follows_what_is_typed(open_page: OpenPage) -> None:
    page = open_page()
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


def test_it_works_without_a_script(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    page.goto("/metrics/?q=rmse")
    page.get_by_role("link", name="RMSE", exact=True).click()
    expect(page.locator(".sum-line strong")).to_have_text("0.6123724357")


def test_all_looks_are_for_everybody(open_page: OpenPage) -> None:
    page = open_page()
    for path in LOOKS:
        page.goto(path)
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        assert [(path, one) for one in findings(page)] == []
