"""The guides are true: a browser does what they tell, in their order, by the labels that they name.

`guide_steps/` has the steps of each part. Every label in bold in a guide is a word of the site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, Response, expect
from pytest_django.live_server_helper import LiveServer

from bench import screenshots, term
from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.competitions.models import Competition, StudentPreview, Submission
from leaderboard.ground_truths.services import copying, drafts, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.submissions import outside_queue, score, sweep
from tests.browser.conftest import OpenPage
from tests.browser.waiting import until_page_says
from tests.conftest import close, enter, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
STEPS = Path(__file__).parent / "guide_steps"
DOING = re.compile(
    r"[Oo]pen `(?P<path>[^`]+)`|[Ww]rite `(?P<text>[^`]+)` into \*\*(?P<box>[^*]+)\*\*"
    r"|[Cc]hoose `(?P<file>[^`]+)` at \*\*(?P<at>[^*]+)\*\*"
    r"|(?P<not>[Uu]n)?[Tt]ick \*\*(?P<tick>[^*]+)\*\*"
    r"|[Pp]ress \*\*(?P<press>[^*]+)\*\*|[Rr]ead “(?P<read>[^”]+)”"
)
ANSWERS = b"\n".join(line.rpartition(b",")[0] for line in term.truth().split())
FILES = {
    "answers.csv": ANSWERS,
    "corrected.csv": ANSWERS.replace(b",newt", b",toad", 4),
    "train.csv": b"id,length,weight,species\n1,11,30,newt\n2,9,41,toad\n",
    "class.csv": b"Name,Email,Student ID,Section\nBo Berg,bo@example.org,7,Lab 1\n",
    "baseline.csv": term.predictions(0.3, 5),
    "mine.csv": term.predictions(0.7, 6),
    "broken.csv": term.predictions(0.7, 6)[:-40],
}


def parts_of(guide: str) -> Iterator[tuple[str, list[str]]]:
    """Headings of a guide with their steps."""
    for part in (STEPS / guide).read_text().split("\n## ")[1:]:
        heading, _line, text = part.partition("\n")
        yield heading, [" ".join(step.split()) for step in re.split(r"^\d+\. ", text, flags=re.M)[1:]]


def work() -> None:
    """What the worker would do after each press."""
    for name, _ground_truth in sweep.sweep_queue()[0]:
        score.score_one(name)
    for number in StudentPreview.objects.filter(finished_at=None).values_list("ground_truth", flat=True):
        outside_queue.score_preview(number)
    for candidate in Competition.objects.exclude(candidate=None).values_list("candidate", flat=True):
        while outside_queue.rescore_batch(candidate):
            pass


def press(page: Page, name: str) -> None:
    """Press what begins with these words, and wait for the answer; whatever else the page asks meanwhile is none."""
    begin, main = re.compile(rf"^\s*{re.escape(name)}\b"), page.get_by_role("main")
    there = main.get_by_role("button", name=begin).or_(main.get_by_role("link", name=begin))
    exact = main.get_by_role("button", name=name, exact=True).filter(visible=True)
    found = there.or_(main.locator("summary", has_text=begin)).filter(visible=True)
    found = (exact if exact.count() else found).first
    kind = found.evaluate("it => it.hasAttribute('download') ? 'FILE' : it.tagName")
    if kind == "SUMMARY":
        found.click()
        return
    if kind == "FILE":
        with page.expect_download():
            found.click()
        return

    def is_answer(response: Response) -> bool:
        asked = response.request
        is_ours = asked.is_navigation_request() or asked.method == "POST" or asked.redirected_from is not None
        return is_ours and not 300 <= response.status < 400

    page.evaluate("window.isLeft = true")
    with page.expect_response(is_answer) as answer:
        found.click()
    assert answer.value.status == 200, (name, answer.value.status)
    if answer.value.request.is_navigation_request():
        until_page_says(page, "!window.isLeft")


def do(page: Page, address: str, step: str, words: dict[str, str]) -> int:
    """Everything that a step says, by the words alone; gives how much that was."""
    events = list(DOING.finditer(step))
    for found in events:
        output = {name: words.get(text, text) for name, text in found.groupdict().items() if text}
        match output:
            case {"path": path}:
                answer = page.goto(address + path, wait_until="domcontentloaded")
                assert answer is not None
                assert answer.status == 200, path
            case {"text": text, "box": box}:
                page.get_by_label(box).first.fill(text)
            case {"file": name, "at": box}:
                file: FilePayload = {"name": name, "mimeType": "text/csv", "buffer": FILES[name]}
                page.get_by_label(box).first.set_input_files(file)
            case {"tick": box}:
                page.get_by_label(box).first.set_checked("not" not in output)
            case {"press": name}:
                press(page, name)
                work()
            case {"read": text}:
                expect(page.locator("main")).to_contain_text(text)
    return len(events)


@pytest.fixture
def follow(open_page: OpenPage, live_server: LiveServer) -> Callable[..., None]:
    """A function in whose hands a person follows a guide; between its parts the class does its share."""

    def followed(guide: str, user: User, meanwhile: dict[str, Callable[[], None]], words: dict[str, str]) -> None:
        page = open_page(user)
        for heading, steps in parts_of(guide):
            meanwhile.pop(heading, lambda: None)()
            assert steps, heading
            for step in steps:
                try:
                    assert do(page, live_server.url, step, words), "it says nothing to do"
                except Exception as error:
                    error.add_note(f"{guide}, {heading}: {step}")
                    raise
        assert not meanwhile, "a part has another name now"

    return followed


@pytest.mark.takes(20)
def test_a_teacher_can_do_the_whole_term_by_the_guide(follow: Callable[..., None], ada: User, bo: User) -> None:
    def class_comes() -> None:
        competition = Competition.objects.get()
        enter(competition, bo)
        submit(competition, bo, FILES["mine.csv"])

    follow(
        "host-guide.md",
        ada,
        {"While it runs": class_comes, "The end": lambda: close(Competition.objects.get())},
        {},
    )
    competition = Competition.objects.get()
    assert competition.ground_truth is not None
    assert competition.ground_truth.number == 2
    assert competition.revealed_at is not None
    assert [file.name for file in competition.data_files.all()] == ["train.csv"]
    assert competition.course.roster.get().user == bo
    assert competition.announcements.count() == competition.graderelease_set.count() == 1


def test_a_student_can_do_the_whole_term_by_the_guide(
    follow: Callable[..., None], ada: User, bo: User, cy: User
) -> None:
    competition = copying.create_default_draft(
        user=ada, title="Pond life", slug="pond-life", overview="Newt or toad?", rules="Be fair."
    )
    drafts.save_draft(
        competition=competition, spec=GroundTruthSpec(metric="accuracy", file_name="t.csv", chunks=[term.truth()])
    )
    publishing.publish_draft(competition=competition, user=ada)
    publishing.launch_competition(competition=competition)
    enter(competition, cy)
    submit(competition, cy, term.predictions(0.5, 9))

    def it_ends() -> None:
        close(competition)
        boards.reveal_competition(competition=competition)

    follow("student-guide.md", bo, {"The end": it_ends}, {"CODE": competition.admission.join_code})
    assert Submission.objects.filter(user=bo, status="scored", is_selected=True).count() == 1
    assert Submission.objects.filter(user=bo, status="invalid").count() == 1


@pytest.mark.parametrize("guide", ["host-guide.md", "student-guide.md"])
def test_each_part_has_steps_and_each_label_is_a_word_of_the_site(guide: str) -> None:
    text = (DOCS / guide).read_text()
    assert re.findall(r"^## (.+)$", text, flags=re.M) == [heading for heading, _steps in parts_of(guide)]
    sources = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "leaderboard").rglob("*.py")]
    site = " ".join(" ".join(path.read_text() for path in sources).split())
    labels = {" ".join(label.split()) for label in re.findall(r"\*\*([^*]+)\*\*", text)} - {"bold"}
    assert len(labels) >= 10
    assert {label for label in labels if label not in site} == set()


def test_pictures_are_small_and_all_of_them_are_shown() -> None:
    sizes = {picture.stem: picture.stat().st_size for picture in (DOCS / "pictures").glob("*.png")}
    assert set(sizes) == screenshots.of_guides()
    assert max(sizes.values()) < 100_000, sizes


def test_a_step_whose_words_are_gone_fails(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content("<main><details><summary>Send later</summary></details></main>")
    page.set_default_timeout(2000)
    assert do(page, "", "Press **Send later**.", {}) == 1
    with pytest.raises(Exception, match="Timeout"):
        do(page, "", "Press **Post**.", {})
    page.close()
