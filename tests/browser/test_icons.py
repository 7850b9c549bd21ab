"""Icons come from one file and are drawn under the site's Content-Security-Policy."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.browser.conftest import OpenPage
from tests.conftest import answers, enter, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Name of each visible icon, and whether something is drawn: a `use` whose drawing is missing has no extent.
DRAWN = """() => [...document.querySelectorAll("svg.icon > use")]
    .filter((use) => use.checkVisibility())
    .map((use) => [use.getAttribute("href").split("#")[1], use.getBBox()])
    .map(([name, box]) => [name, Math.max(box.width, box.height) > 0])"""


def test_bo_and_ada_see_all_icons_of_their_pages(open_page: OpenPage, pets: Competition, bo: User, ada: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers(public=1))
    said: list[str] = []
    for user, path in ((bo, "/c/pets/"), (ada, "/host/pets/"), (ada, "/")):
        page = open_page(user)
        page.on("console", lambda message: said.append(message.text))
        answer = page.goto(path, wait_until="networkidle")
        assert answer is not None
        assert "default-src 'none'" in (answer.header_value("content-security-policy") or "")
        icons = page.evaluate(DRAWN)
        assert len(icons) > 4
        assert [name for name, is_drawn in icons if not is_drawn] == []
        assert said == []
