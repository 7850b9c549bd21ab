"""Pictures of every page in every state: light, dark, 390 px and 320 px wide.

    python -m bench.screenshots FOLDER [--only leaderboard submit] [--guides]

Fills a site of its own with a class (`bench/term.py`), starts it, and lets Chromium look at each page as its reader
would. `--guides` makes the pictures that the guides show, as they stand in `docs/pictures`: give that folder.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.running_site import CHROMIUM_ARGUMENTS, ROOT, running_site, site_environment

FILL = """
import json, logging
import django; django.setup()
logging.disable(logging.WARNING)
from django.core.management import call_command
from django.test import Client
call_command("migrate", verbosity=0)
from bench import term
from leaderboard.accounts.models import User
made = term.fill()
cookies = {}
for name in ("ada", "bo", "dee", "olga"):
    client = Client()
    client.force_login(User.objects.get(username=name))
    cookies[name] = client.cookies["sessionid"].value
pages = [(page.name, page.path, page.who) for page in term.pages(made)]
print(json.dumps({"cookies": cookies, "pages": pages}))
"""
LOOKS = (("light", 1280), ("dark", 1280), ("light", 390))
"""Colours and widths in CSS pixels."""
IN_GUIDES = (940, 600)
"""Width and height of the pictures in the guides: under 100 KB each."""

TO_WHAT_MATTERS = """() => {
  const table = document.querySelector("main .table-wrap:not(details *)")
  const tabs = document.querySelector("main nav, main")
  scrollTo(0, Math.max(tabs.getBoundingClientRect().top - 16, table ? table.getBoundingClientRect().top - 260 : 0))
}"""

Row = tuple[str, str, str]
"""Name, path and reader of a page."""


def fill(folder: Path) -> tuple[dict[str, str], list[Row]]:
    """A site's folder with a class in it; gives everybody's session and all pages."""
    run = subprocess.run(
        [sys.executable, "-c", FILL],
        env=site_environment(folder),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout.splitlines()[-1])
    return found["cookies"], [(name, path, who) for name, path, who in found["pages"]]


def of_guides() -> set[str]:
    """The names of the pages that the guides and the README show."""
    guides = [path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*-guide.md"))]
    return set(re.findall(r"pictures/([\w-]+)\.png\)", "\n".join(guides)))


def context_of(
    browser: Browser, address: str, session: str, scheme: str, width: int, height: int = 820
) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        timezone_id="Europe/Vienna",
    )
    if session:
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    return context


def take(
    browser: Browser,
    address: str,
    cookies: dict[str, str],
    pages: Iterable[Row],
    folder: Path,
) -> int:
    """Pictures of all pages that are there, in every look; gives how many, and names what scrolls sideways."""
    number = 0
    contexts: dict[tuple[str, str, int], BrowserContext] = {}
    for name, path, who in pages:
        for scheme, width in LOOKS:
            key = (who, scheme, width)
            if key not in contexts:
                contexts[key] = context_of(browser, address, cookies.get(who, ""), scheme, width)
            page = contexts[key].new_page()
            answer = page.goto(address + path)
            is_there = answer is not None and (answer.status == 200 or "nowhere" in path)
            if is_there and page.url.partition("?")[0].endswith(path):
                page.screenshot(path=folder / f"{name}.{scheme}-{width}.png", full_page=True)
                number += 1
                if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                    print(f"scrolls sideways at {width} px: {name}")
            page.close()
    for context in contexts.values():
        context.close()
    return number


def take_for_guides(browser: Browser, address: str, cookies: dict[str, str], pages: Iterable[Row], folder: Path) -> int:
    """The pages that the guides show, from their tabs or their table on; gives how many."""
    wanted = {name: (path, who) for name, path, who in pages if name in of_guides()}
    for name, (path, who) in wanted.items():
        context = context_of(browser, address, cookies[who], "light", *IN_GUIDES)
        page = context.new_page()
        page.goto(address + path)
        page.evaluate(TO_WHAT_MATTERS)
        page.screenshot(path=folder / f"{name}.png")
        context.close()
    return len(wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[""], help="beginnings of the names of pages")
    parser.add_argument("--guides", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory(prefix="bench-screenshots-") as place:
        folder = Path(place) / "site"
        cookies, pages = fill(folder)
        wanted = [row for row in pages if row[0].startswith(tuple(given.only))]
        with running_site(folder) as site, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
            look = take_for_guides if given.guides else take
            number = look(browser, site.address, cookies, wanted, given.folder)
            browser.close()
    print(f"{number} pictures in {given.folder}")


if __name__ == "__main__":
    main()
