"""A term of four homeworks in one course: the list is read once, and nobody types a code after the first."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Membership
from metrics.tests.answer_files import table
from tests.browser.conftest import OpenPage
from tests.browser.for_everybody import findings
from tests.browser.test_create import Hand
from tests.conftest import enter, make_competition

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = table("id,species", lambda i, dice: dice.choice(["newt", "toad", "frog"]), 400)
CLASS = "name,email,section\n" + "".join(f"Student {i:03},s{i:03}@example.org,Lab {i % 4}\n" for i in range(1, 121))
MOST_ACTIONS = 3


@pytest.mark.takes(60)
def test_each_further_homework_takes_three_actions_and_no_code(open_page: OpenPage, ada: User) -> None:
    first = make_competition(ada, slug="hw1", title="Homework 1", course="11-785", rules="")
    students = [User.objects.create(username=f"s{i:03}", email=f"s{i:03}@example.org") for i in range(1, 121)]
    for student in students:
        enter(first, student)
    page = open_page(ada)
    page.goto("/host/hw1/people/roster/")
    page.get_by_label("Or paste it here").fill(CLASS)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import").first.click()
    expect(page.locator("main")).to_contain_text("120 matched by an unconfirmed e-mail address.")
    for number in (2, 3, 4):
        page.goto(f"/course/{first.course.slug}/")
        assert findings(page) == []
        hand = Hand(page)
        hand.press("Add a competition")
        hand.clicks += 1  # choosing the file
        page.set_input_files("#id_files", {"name": f"hw{number}.csv", "mimeType": "text/csv", "buffer": ANSWERS})
        page.get_by_role("heading", name="Check what we found").wait_for()
        hand.press("Launch now")
        expect(page.locator("main")).to_contain_text("Live")
        assert hand.clicks <= MOST_ACTIONS
    assert Competition.objects.filter(course=first.course).exclude(launched_at=None).count() == 4
    s001 = open_page(students[0])
    for left in (3, 2, 1):
        s001.goto("/")
        assert findings(s001) == []
        expect(s001.get_by_test_id("enterable").get_by_role("link", name="Join")).to_have_count(left)
        s001.get_by_test_id("enterable").get_by_role("link", name="Join").first.click()
        s001.get_by_role("button", name="Join").click()
        expect(s001.locator("main")).to_contain_text("Welcome")
    assert Membership.objects.filter(user=students[0]).count() == 4
    s001.goto(f"/course/{first.course.slug}/")
    expect(s001.get_by_test_id("of-course").get_by_role("link", name="Open")).to_have_count(4)
    assert findings(s001) == []
    page.goto(f"/host/{Competition.objects.latest('created_at').slug}/people/")
    assert findings(page) == []
    page.get_by_label("Student 001").check()
    page.get_by_role("button", name="Move to section").wait_for()
    assert findings(page) == []
