"""What keeps a page from being for everybody, as a browser sees it: what axe finds, small targets, too wide a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

# Every rule of axe that it has on by itself, and these.
FURTHER = (
    "target-size",  # every target is 24 px or has the room around it
    "label-content-name-mismatch",
    "css-orientation-lock",
    "p-as-heading",
    "table-fake-caption",
    "td-has-header",
)
ALL = {"resultTypes": ["violations"], "rules": {rule: {"enabled": True} for rule in FURTHER}}
# What the colours of a page decide, for the second look.
COLOURS = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": ["color-contrast"]}}
WIDE: ViewportSize = {"width": 1180, "height": 900}
NARROW: ViewportSize = {"width": 320, "height": 800}
SETTLED = """async () => {
  for (let calm = 0, frame = 0; calm < 3 && frame < 60; frame++) {
    await new Promise((then) => requestAnimationFrame(then));
    const moving = document.getAnimations();
    for (const one of moving) one.finish();
    calm = moving.length ? 0 : calm + 1;
  }
}"""
SMALL = """() => {
  const pressed = "button, .button, summary, select, textarea, nav a, .site-tools a, footer a, input";
  const boxes = (element) => [element, ...(element.labels ?? [])].map((one) => one.getBoundingClientRect());
  const found = [];
  for (const element of document.querySelectorAll(pressed)) {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.type === "hidden") continue;
    if (element.matches(".visually-hidden[aria-hidden=true]")) continue;  // what Enter presses; no finger can
    const all = boxes(element), is_ticked = ["checkbox", "radio"].includes(element.type);
    const around = getComputedStyle(element, "::after");
    const further = around.position === "absolute" ? -parseFloat(around.top) - parseFloat(around.bottom) : 0;
    const height = Math.max(...all.slice(0, is_ticked ? undefined : 1).map((box) => box.height)) + further;
    const width = Math.max(...all.slice(0, is_ticked ? undefined : 1).map((box) => box.width));
    const text = (element.labels?.[0] ?? element).textContent.trim().replace(/\\s+/g, " ").slice(0, 40);
    if (height < 39.5 || width < 24)
      found.push(`${Math.round(width)}x${Math.round(height)} <${element.localName} ${element.name ?? ""}> ${text}`);
  }
  return found;
}"""
WIDER = """() => {
  if (document.documentElement.scrollWidth <= window.innerWidth) return [];
  const isOutside = (one) => one.getBoundingClientRect().right > innerWidth + 1;
  const outside = [...document.querySelectorAll("body *")].filter(isOutside);
  return [`scrolls sideways to ${document.documentElement.scrollWidth} px: ${outside.at(-1)?.outerHTML.slice(0, 90)}`];
}"""


def axe(page: Page, options: Mapping[str, object], without: Iterable[str] = ()) -> Iterator[str]:
    context = {"exclude": list(without)} if without else None
    for one in Axe().run(page, context=context, options=options).response["violations"]:
        for node in one["nodes"][:3]:
            yield f"{one['id']}: {node['html'][:120]}"


def dress(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Give the page these colours, and wait until it wears them: what is half-way has the contrast of neither."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.evaluate(SETTLED)


def in_both_themes(page: Page, without: Iterable[str] = ()) -> list[str]:
    """All of the open page in light and its colours in dark; `without` are selectors of what is not looked at."""
    dress(page, "light")
    found = [f"light: {one}" for one in axe(page, ALL, without)]
    dress(page, "dark")
    return found + [f"dark: {one}" for one in axe(page, COLOURS, without)]


def findings(page: Page) -> list[str]:
    """Everything wrong with the open page: all of it in light, its colours in dark, its width, its targets."""
    found = in_both_themes(page)
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        found += [f"{size['width']} px: {one}" for one in (*page.evaluate(WIDER), *page.evaluate(SMALL))]
    return found
