"""The guide is true: a browser does each of its steps, in order, by the words that stand there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, FilePayload, Page, expect
from pytest_django.live_server_helper import LiveServer

from bench import term
from leaderboard import hosting, scoring
from leaderboard.models import Submission, User
from tests.conftest import close, enter, hand_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DOCS = Path(__file__).resolve().parents[2] / "docs"
DOING = re.compile(
    r"[Oo]pen `(?P<path>[^`]+)`|[Ww]rite `(?P<text>[^`]+)` into \*\*(?P<box>[^*]+)\*\*"
    r"|[Cc]hoose `(?P<file>[^`]+)` at \*\*(?P<at>[^*]+)\*\*|[Tt]ick \*\*(?P<tick>[^*]+)\*\*"
    r"|[Pp]ress \*\*(?P<press>[^*]+)\*\*|[Rr]ead “(?P<read>[^”]+)”"
)
FILES = {
    "mine.csv": term.predictions(0.7, 6),
    "broken.csv": term.predictions(0.7, 6)[:-40],
}


def parts_of(guide: str) -> Iterator[tuple[str, list[str]]]:
    """Headings with their steps."""
    for part in (DOCS / guide).read_text().split("\n## ")[1:]:
        heading, _line, text = part.partition("\n")
        yield heading, [" ".join(step.split()) for step in re.split(r"^\d+\. ", text, flags=re.M)[1:]]


def work() -> None:
    """What the worker would do after each press."""
    for name, _ruler in scoring.sweep()[0]:
        scoring.score(name)


def do(page: Page, address: str, step: str, words: dict[str, str]) -> int:
    """Everything that a step says, by the words alone; gives how much that was."""
    deeds = list(DOING.finditer(step.split("![")[0]))
    for found in deeds:
        said = {name: words.get(text, text) for name, text in found.groupdict().items() if text}
        match said:
            case {"path": path}:
                answer = page.goto(address + path)
                assert answer is not None
                assert answer.status == 200, path
            case {"text": text, "box": box}:
                page.get_by_label(box).first.fill(text)
            case {"file": name, "at": box}:
                file: FilePayload = {"name": name, "mimeType": "text/csv", "buffer": FILES[name]}
                page.get_by_label(box).first.set_input_files(file)
            case {"tick": box}:
                page.get_by_label(box).first.check()
            case {"press": name}:
                button = page.get_by_role("main").get_by_role("button", name=name)
                link = (
                    page.get_by_role("main").get_by_role("link", name=name).or_(page.locator("summary", has_text=name))
                )
                button.or_(link).filter(visible=True).first.click()
                page.wait_for_load_state("networkidle")
                work()
            case {"read": text}:
                expect(page.locator("main")).to_contain_text(text)
    return len(deeds)


@pytest.fixture
def walk(chromium: Browser, live_server: LiveServer) -> Iterator[Callable[..., None]]:
    """A function in whose hands a person follows a guide; between its parts the class does its share."""
    contexts = []

    def follow(guide: str, user: User, meanwhile: dict[str, Callable[[], None]], words: dict[str, str]) -> None:
        client = Client()
        client.force_login(user)
        context = chromium.new_context(viewport={"width": 1180, "height": 900})
        context.set_default_timeout(12_000)
        contexts.append(context)
        session = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
        context.add_cookies([session])  # type: ignore[list-item]
        page = context.new_page()
        for heading, steps in parts_of(guide):
            meanwhile.pop(heading, lambda: None)()
            assert steps, heading
            for step in steps:
                assert do(page, live_server.url, step, words), f"a step that says nothing to do: {step}"
        assert not meanwhile, "a part has another name now"

    yield follow
    for context in contexts:
        context.close()


def test_a_student_can_do_the_whole_term_by_the_guide(walk: Callable[..., None], ada: User, bo: User, cy: User) -> None:
    competition = hosting.begin(
        user=ada, title="Pond life", slug="pond-life", overview="Newt or toad?", rules="Be fair."
    )
    hosting.change(competition=competition, board_mode="plain")
    hosting.draft_truth(competition=competition, metric="accuracy", params={}, file_name="t.csv", chunks=[term.truth()])
    hosting.publish(competition=competition, user=ada)
    hosting.launch(competition=competition)
    enter(competition, cy)
    hand_in(competition, cy, term.predictions(0.5, 9))

    def it_ends() -> None:
        close(competition)
        hosting.reveal(competition=competition)

    walk("student-guide.md", bo, {"The end": it_ends}, {"CODE": competition.join_code})
    assert Submission.objects.filter(user=bo, status="scored", is_selected=True).count() == 1
    assert Submission.objects.filter(user=bo).count() == 1


def test_a_step_whose_words_are_gone_fails(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content("<main><button>Send</button></main>")
    page.set_default_timeout(2000)
    assert do(page, "", "Press **Send**.", {}) == 1
    with pytest.raises(Exception, match="Timeout"):
        do(page, "", "Press **Post**.", {})
    page.close()
