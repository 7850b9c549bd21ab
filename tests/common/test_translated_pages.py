"""Pages in a language that puts brackets around every translation: no sentence of ours stands outside of them."""

from __future__ import annotations

import re

import pytest

from bench import term
from bench.pages import Readers
from leaderboard.accounts.models import User
from leaderboard.common.viewer import ENGLISH_ALONE
from leaderboard.notifications import services
from leaderboard.notifications.models import Notice
from tests.attacks.scene import make_scene
from tests.common.languages import CODE, second_language
from tests.conftest import person

# Notices stay in the language that they were written in.
ELSEWHERE = (*ENGLISH_ALONE, "/notifications/")
# Code, what people wrote themselves, and moments, which a script writes again.
SILENT = re.compile(r"<(script|style|pre|code|samp|svg|time|textarea|option)\b.*?</\1>", re.DOTALL)
PROSE = re.compile(r'<div class="[^"]*prose.*?</div>', re.DOTALL)
BRACKETED = re.compile("⟦[^⟦⟧]*⟧")
WORDS = re.compile(r"(?:[A-Za-z’']{2,}[ ,]+){3,}[a-z]{2,}")


def outside_brackets(page: str) -> list[str]:
    """What reads like a sentence and went through no translation."""
    text = PROSE.sub("", SILENT.sub("", page))
    while (shorter := BRACKETED.sub("", text)) != text:
        text = shorter
    return [found for piece in re.split("<[^>]*>", text) for found in WORDS.findall(" ".join(piece.split()))]


@pytest.mark.django_db
def test_every_page_is_translated(ada: User, bo: User, cy: User, dee: User) -> None:
    person("olga", is_superuser=True, is_staff=True)
    scene = make_scene(ada, bo, cy, dee)
    services.send_announcement(competition=scene.competition, user=ada, title="Own words", text="More of them")
    pages = term.pages(term.Term({}, {"live": scene.competition}, {"live": term.arguments(scene.competition, "bo")}))
    clients, read, left = Readers(), 0, []
    Notice.objects.all().delete()
    with second_language():
        for page in pages:
            response = clients(page.who).get(page.path, headers={"Accept-Language": CODE})
            is_page = response.status_code == 200 and response.headers["Content-Type"].startswith("text/html")
            if is_page and not page.path.startswith(ELSEWHERE):
                read += 1
                left += [f"{page.path} of {page.who}: {words}" for words in outside_brackets(response.content.decode())]
    assert left == []
    assert read > 60


def test_a_sentence_outside_of_brackets_is_found() -> None:
    page = "<p>⟦All of <b>this</b> ⟦and this⟧⟧ <b>Bo</b></p><p>But not this one</p><code>nor is code read</code>"
    assert outside_brackets(page) == ["But not this one"]
