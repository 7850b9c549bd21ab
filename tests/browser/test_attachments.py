"""Bo attaches a notebook on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, expect

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Attachment
from tests.browser.conftest import OpenPage
from tests.browser.for_everybody import findings
from tests.conftest import answers, enter, make_competition, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_bo_attaches_a_notebook_on_a_phone(open_page: OpenPage, ada: User, bo: User) -> None:
    pets = make_competition(ada, attachments="required")
    enter(pets, bo)
    submit(pets, bo, answers(public=1), file_name="forest.csv")
    page = open_page(bo, viewport={"width": 390, "height": 800})
    page.goto("/c/pets/submissions/")
    page.get_by_role("link", name="Attach until").click()
    program = FilePayload(name="work.exe", mimeType="application/json", buffer=b"{}")
    notebook = FilePayload(name="work.ipynb", mimeType="application/json", buffer=b"{}")
    page.get_by_label("Notebook, script, ZIP or PDF").set_input_files(program)
    page.get_by_label("This is our own work").fill("pandas, scikit-learn; a chatbot for the plots")
    page.get_by_role("button", name="Attach forest.csv").click()
    expect(page.get_by_label("This is our own work")).to_have_value("pandas, scikit-learn; a chatbot for the plots")
    page.get_by_label("Notebook, script, ZIP or PDF").set_input_files(notebook)
    page.get_by_role("button", name="Attach forest.csv").click()
    expect(page.get_by_text("Attached, not run")).to_be_visible()
    assert Attachment.objects.get().file_name == "work.ipynb"
    assert findings(page) == []
