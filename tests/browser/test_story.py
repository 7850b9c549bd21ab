"""The whole story on a whole site: Ada hosts, Bo joins and hands in, the deadline passes, the private board opens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.conftest import TRUTH, answers
from tests.running_site import PASSWORD, Site, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TRUTH_FILE: FilePayload = {"name": "truth.csv", "mimeType": "text/csv", "buffer": TRUTH.encode()}


class Person:
    """Somebody at a browser of their own; no script error and no breach of the security policy is allowed."""

    def __init__(self, site: Site, chromium: Browser, name: str) -> None:
        self.name, self.site = name, site
        self.context = chromium.new_context(viewport={"width": 1180, "height": 900})
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console", lambda message: self.complaints.append(message.text) if message.type == "error" else None
        )

    def open(self, path: str) -> None:
        self.page.goto(self.site.address + path)

    def register(self) -> None:
        self.open("/accounts/signup/")
        self.page.fill("#id_username", self.name)
        self.page.fill("#id_email", f"{self.name}@example.org")
        self.page.fill("#id_password1", PASSWORD)
        self.page.get_by_role("button", name="Create account").click()
        expect(self.page.locator("header")).to_contain_text(self.name)

    def choose(self, data: bytes, name: str = "mine.csv") -> None:
        self.page.set_input_files("#id_file", {"name": name, "mimeType": "text/csv", "buffer": data})


@pytest.fixture
def people(site: Site, chromium: Browser) -> Iterator[tuple[Person, Person]]:
    ada, bo = Person(site, chromium, "ada"), Person(site, chromium, "bo")
    yield ada, bo
    ada.context.close()
    bo.context.close()


@pytest.mark.takes(25)
def test_from_an_empty_site_to_the_private_board(site: Site, people: tuple[Person, Person]) -> None:
    ada, bo = people
    ada.register()
    site.shell(
        "from leaderboard.accounts.models import User\nUser.objects.filter(username='ada').update(can_host=True)"
    )
    code = ada_opens_a_competition(ada)
    bo.register()
    bo_joins(bo, code)
    bo_sees_what_is_wrong_with_his_file(bo)
    bo_sees_his_rank(bo)
    the_deadline_passes(site, bo)
    bo.open("/c/pets/leaderboard/?board=private")
    expect(bo.page.locator("table").first).to_contain_text("0.833")
    assert ada.complaints == []
    assert bo.complaints == []


def ada_opens_a_competition(ada: Person) -> str:
    page = ada.page
    ada.open("/host/new/")
    page.set_input_files("#id_files", TRUTH_FILE)
    page.get_by_role("heading", name="Check what we found").wait_for()
    page.fill("#id_title", "Pets")
    now = datetime.now()
    page.fill("#id_opens_at", (now - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M"))
    page.fill("#id_closes_at", (now + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M"))
    page.get_by_role("button", name="Create as draft").click()
    page.get_by_role("heading", name="Before the launch").wait_for()
    ada.open("/host/pets/settings/")
    page.fill("#id_rules", "Be fair.")
    page.get_by_role("button", name="Save Texts").click()
    ada.open("/host/pets/setup/")
    page.get_by_role("button", name="Launch now").click()
    expect(page.locator("main")).to_contain_text("Live")
    return page.locator("#join-code").inner_text().strip()


def bo_joins(bo: Person, code: str) -> None:
    page = bo.page
    bo.open("/join/")
    page.fill("#id_code", code)
    page.get_by_role("button", name="Continue").click()
    page.locator("#id_accepted").check()
    page.get_by_role("button", name="Join", exact=True).click()
    bo.open("/c/pets/data/")
    expect(page.locator("main")).to_contain_text("sample_submission.csv")


def bo_sees_what_is_wrong_with_his_file(bo: Person) -> None:
    page = bo.page
    bo.open("/c/pets/submit/")
    bo.choose(b"id,label\n1,cat\n1,cat\n99,dog\n", "broken.csv")
    page.get_by_role("button", name="Submit").click()
    main = page.locator("main")
    expect(main).to_contain_text("was not scored")
    expect(main).to_contain_text("No attempt used.")
    for word in ("99", "missing", "repeated"):
        expect(main).to_contain_text(word)
    expect(main).to_contain_text("5 of 5")


def bo_sees_his_rank(bo: Person) -> None:
    page = bo.page
    bo.open("/c/pets/submit/")
    bo.choose(answers(public=2, private=1))
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("main")).to_contain_text("0.667")
    expect(page.locator("main")).to_contain_text("4 of 5")
    bo.open("/c/pets/leaderboard/")
    expect(page.locator("table").first).to_contain_text("0.667")
    expect(page.locator("main")).to_contain_text("You")
    bo.open("/c/pets/leaderboard/?board=private")
    expect(page.locator("main")).not_to_contain_text("0.833")


def the_deadline_passes(site: Site, bo: Person) -> None:
    site.shell(
        "from tests.conftest import close\n"
        "from leaderboard.competitions.models import Competition\n"
        "close(Competition.objects.get())"
    )

    def is_revealed() -> bool:
        bo.open("/c/pets/leaderboard/")
        return "0.833" in bo.page.content()

    until(is_revealed, every=0.5, what="In the final ranking")
