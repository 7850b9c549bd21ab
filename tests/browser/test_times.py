"""The script writes times in the reader's zone, in the same way and language as the server."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db.models import F
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import standings
from leaderboard.competitions.models import Admission, Competition, Submission
from leaderboard.notifications.kinds import NoticeKind, NoticeText
from leaderboard.notifications.services import notify_people
from tests.browser.conftest import OpenPage
from tests.common.languages import CODE, second_language
from tests.conftest import answers, enter, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("locale", ["en-US", "de-AT"])
def test_every_time_is_written_alike_whatever_the_browser_speaks(
    open_page: OpenPage, pets: Competition, locale: str
) -> None:
    Admission.objects.update(is_listed=True)
    written = []
    for runs_scripts in (True, False):
        page = open_page(locale=locale, timezone_id="Asia/Tokyo", java_script_enabled=runs_scripts)
        page.goto("/c/pets/")
        written.append(page.locator("main time[data-moment='']").all_inner_texts())
    by_script, by_server = written
    assert len(by_script) == len(by_server) > 0
    for text in by_script:
        assert re.fullmatch(r"\d{1,2} [A-Z][a-z]{2,3}(?: \d{4})?, \d\d:\d\d GMT\+9", text)
    for text in by_server:
        assert re.fullmatch(r"\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d GMT", text)


def test_a_date_of_another_year_shows_its_year_and_one_of_this_year_none(
    open_page: OpenPage, pets: Competition
) -> None:
    this = timezone.now().astimezone(ZoneInfo("Asia/Tokyo")).replace(month=7, day=1)
    Admission.objects.update(is_listed=True)
    page, deadlines = open_page(timezone_id="Asia/Tokyo"), []
    for year in (this.year - 1, this.year):
        Competition.objects.update(opens_at=this.replace(year=year - 1), closes_at=this.replace(year=year))
        page.goto("/c/pets/")
        deadlines.append(page.locator("dl.stats time[data-moment='']").inner_text())
    assert f" {this.year - 1}, " in deadlines[0]
    assert re.fullmatch(r"\d{1,2} Jul, \d\d:\d\d GMT\+9", deadlines[1])


def test_a_countdown_that_is_over_says_that_it_is(open_page: OpenPage, pets: Competition) -> None:
    Admission.objects.update(is_listed=True)
    page = open_page()
    page.clock.install()
    page.goto("/c/pets/")
    assert "Closes in" in page.locator("#head-facts").inner_text()
    page.clock.fast_forward(60 * 86_400_000)
    facts = page.locator("#head-facts").inner_text()
    assert "Ended" in facts
    assert "Closes in" not in facts


def test_spans_of_time_are_in_the_language_of_the_page(open_page: OpenPage, pets: Competition) -> None:
    Admission.objects.update(is_listed=True)
    Competition.objects.update(closes_at=timezone.now() + timedelta(minutes=30, seconds=40))
    output = []
    with second_language():
        for locale in ("en-US", CODE):
            page = open_page(locale=locale)
            page.goto("/c/pets/")
            output.append(page.locator("time[data-moment='left']").first.inner_text())
    # The bracket closes after the last of the words that the page gives to the script.
    assert output == ["30 min", "30 min⟧"]


def test_what_lies_ahead_is_said_with_its_date_also_where_others_are_so_long_ago(
    open_page: OpenPage, pets: Competition, bo: User, cy: User
) -> None:
    enter(pets, bo), enter(pets, cy)
    now, ahead = timezone.now(), datetime(timezone.now().year + 1, 3, 5, 9, 30, tzinfo=UTC)
    for who, at in ((bo, now - timedelta(hours=2, minutes=5)), (cy, ahead)):
        Submission.objects.filter(pk=submit(pets, who, answers()).pk).update(received_at=at)
    assert pets.ground_truth
    standings.rebuild_standings(pets.ground_truth)
    Admission.objects.update(is_listed=True)
    Competition.objects.update(board_version=F("board_version") + 1)
    page = open_page(timezone_id="UTC")
    page.goto("/c/pets/leaderboard/")
    output = page.locator(".board td time").all_inner_texts()
    assert sorted(output) == ["2 h ago", f"5 Mar {now.year + 1}"]


def test_the_browser_tells_its_zone_and_the_next_page_has_it_without_the_script(
    open_page: OpenPage, pets: Competition, bo: User
) -> None:
    enter(pets, bo)
    page = open_page(bo, timezone_id="America/New_York")
    page.goto("/c/pets/")
    zone = next(cookie for cookie in page.context.cookies() if cookie["name"] == "zone")
    assert zone["value"] == "America/New_York"
    notify_people(NoticeText(NoticeKind.ROLE, "More", "", "/"), User.objects.all(), competition=None)
    without = open_page(bo, java_script_enabled=False)
    without.context.add_cookies([zone])  # type: ignore[list-item]
    without.goto("/notifications/")
    assert "(America/New_York)" in (without.get_attribute("main time", "title") or "")
