"""Nothing needs JavaScript: a student's way from the code to the final pick, and what a host does in the middle."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Extension, Submission, Team
from leaderboard.notifications.models import Announcement
from tests.browser.conftest import OpenPage
from tests.conftest import answers, enter

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_student_joins_hands_in_and_picks_the_final_file(
    open_page: OpenPage, pets: Competition, bo: User, work: Callable[[], int]
) -> None:
    page = open_page(bo, java_script_enabled=False)
    main = page.get_by_role("main")
    page.goto("/join/")
    main.get_by_label("Join code").fill(pets.admission.join_code)
    main.get_by_role("button", name="Continue").click()
    main.get_by_label("I have read the rules").check()
    main.get_by_role("button", name="Join", exact=True).click()
    page.get_by_role("link", name="Data", exact=True).click()
    with page.expect_download() as download:
        main.get_by_role("link", name="Download sample_submission.csv").click()
    assert download.value.path().read_text().startswith("id,label\n")
    page.get_by_role("link", name="Submit", exact=True).click()
    file = main.get_by_label("Drop your file here")
    assert file.evaluate("input => getComputedStyle(input).opacity") == "1", "the browser's own words name the file"
    file.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": answers(public=2)})
    page.set_viewport_size({"width": 320, "height": 480})
    main.get_by_role("button", name="Submit").click()
    expect(main.get_by_text("Waiting…")).to_be_in_viewport()
    assert work() == 1
    main.get_by_role("link", name="Refresh").click()
    expect(main.get_by_text("0.667").first).to_be_in_viewport()
    page.set_viewport_size({"width": 1180, "height": 820})
    expect(main).to_contain_text("Rank 1 of 1")
    page.get_by_role("link", name="Submissions").click()
    main.get_by_label("is a final submission").check()
    main.get_by_role("button", name="Save final submissions").click()
    expect(main).to_contain_text("1 of 2")
    assert Submission.objects.get().is_selected
    main.get_by_role("link", name="mine.csv", exact=True).click()
    expect(main).to_contain_text("SHA-256")


def test_a_refused_file_is_explained(open_page: OpenPage, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    page = open_page(bo, java_script_enabled=False)
    page.goto("/c/pets/submit/")
    main = page.get_by_role("main")
    main.get_by_label("Drop your file here").set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": b""})
    main.get_by_role("button", name="Submit").click()
    expect(main.locator(".errors")).to_contain_text("This file is empty")
    assert not Submission.objects.exists()


def test_a_host_announces_pauses_and_extensions(open_page: OpenPage, pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    page = open_page(ada, java_script_enabled=False)
    main = page.get_by_role("main")
    page.goto("/host/pets/announcements/")
    main.get_by_label("Title").fill("A new column")
    main.get_by_label("Text").fill("See **train.csv**.")
    main.get_by_role("button", name="Send").click()
    expect(main.get_by_test_id("announcements")).to_contain_text("A new column")
    page.goto("/host/pets/settings/")
    main.get_by_text("Pause submissions").click()
    main.get_by_label("Reason").fill("The answers are being checked")
    main.get_by_role("button", name="Pause", exact=True).click()
    expect(main).to_contain_text("The answers are being checked")
    main.get_by_role("button", name="Resume").click()
    page.goto(f"/host/pets/teams/{Team.objects.get().pk}/")
    main.get_by_text("Grant an extension").click()
    main.get_by_label("Extra attempts").fill("2")
    main.get_by_label("Reason").first.fill("Ill last week")
    main.get_by_role("button", name="Grant").click()
    expect(main).to_contain_text("2 extra attempts")
    assert Announcement.objects.get().reached == 1
    assert Extension.objects.get().extra_attempts == 2
    assert Competition.objects.get().limits.paused_at is None
