"""People who enlarge text or space it out read all of it: nothing is cut off, and no page scrolls sideways. Who sees
little contrast sees where a field is."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.conftest import answers, enter, submit

from .conftest import OpenPage
from .for_everybody import WIDER, dress

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

READ = """css => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
}"""
# What WCAG 1.4.12 names.
SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
p { margin-bottom: 2em !important }"""
TWICE_AS_LARGE = "html { font-size: 200% !important }"
TITLE = "document.querySelector('h1').getBoundingClientRect().height"
CUT_OFF = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const style = getComputedStyle(one);
  const hasText = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!hasText || !one.checkVisibility() || one.closest(".visually-hidden, svg")) return false;
  const across = ["hidden", "clip"].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
  const down = ["hidden", "clip"].includes(style.overflowY) && one.scrollHeight > one.clientHeight + 1;
  return across || down;
}).map((one) => `<${one.localName} class="${one.className}"> ${one.textContent.trim().slice(0, 40)}`)"""
# The contrast of each field's line with what is around the field, as WCAG computes it.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const linear = (part) => ((part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = painted(colour).map(linear);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return painted(colour)[3] === 255 || !one.parentElement ? colour : ground(one.parentElement);
  };
  const kinds = "input:is([type=text], [type=number], [type=password], [type=datetime-local]), select, textarea";
  return [...document.querySelectorAll(kinds)].filter((one) => one.checkVisibility()).map((one) => {
    const both = [getComputedStyle(one).borderTopColor, ground(one.parentElement)].map(luminance);
    return [one.name, (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05)];
  });
}"""


@pytest.fixture
def page(open_page: OpenPage, pets: Competition, ada: User, bo: User) -> Page:
    """A browser in which Ada is signed in; Bo has handed in a file."""
    enter(pets, bo)
    submit(pets, bo, answers(public=1))
    return open_page(ada, reduced_motion="reduce")


@pytest.mark.parametrize("css", [SPACED, TWICE_AS_LARGE], ids=["spaced", "twice as large"])
def test_text_is_read_as_people_set_it(page: Page, css: str) -> None:
    found = []
    for path in (
        "/", "/c/pets/", "/c/pets/leaderboard/", "/host/pets/", "/host/pets/people/", "/account/", "/metrics/",
        "/metrics/accuracy/", "/help/", "/accounts/password/change/", "/host/pets/settings/",
    ):  # fmt: skip
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        height = page.evaluate(TITLE)
        page.evaluate(READ, css)
        assert page.evaluate(TITLE) > height, "the page has taken it"
        found += [f"{path}: {one}" for one in (*page.evaluate(WIDER), *page.evaluate(CUT_OFF))]
    assert found == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_line_of_a_field_can_be_seen(page: Page, scheme: Literal["light", "dark"]) -> None:
    fields = []
    for path in ("/host/pets/settings/", "/account/", "/accounts/password/change/"):
        page.goto(path)
        dress(page, scheme)
        fields += page.evaluate(CONTRASTS)
    assert len(fields) > 10
    assert [field for field in fields if field[1] < 3] == []


def test_what_is_cut_off_is_found(page: Page) -> None:
    page.set_content("<p style='width: 100px; overflow: hidden; white-space: nowrap'>A sentence that is too long</p>")
    assert len(page.evaluate(CUT_OFF)) == 1
