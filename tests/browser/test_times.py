"""The script writes times in the reader's zone, in the same way and language as the server."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from leaderboard.accounts.models import User
from leaderboard.boards import standings
from leaderboard.competitions.models import Admission, Competition, Submission
from leaderboard.notifications.kinds import NoticeKind, NoticeText
from leaderboard.notifications.services import notify
from tests.common.languages import CODE, second_language
from tests.conftest import answers, enter, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("locale", ["en-US", "de-AT"])
def test_every_time_is_written_alike_whatever_the_browser_speaks(
    chromium: Browser, live_server: LiveServer, pets: Competition, locale: str
) -> None:
    Admission.objects.update(is_listed=True)
    written = []
    for runs_scripts in (True, False):
        context = chromium.new_context(
            locale=locale, timezone_id="Asia/Tokyo", java_script_enabled=runs_scripts, base_url=live_server.url
        )
        page = context.new_page()
        page.goto("/c/pets/")
        written.append(page.locator("main time[data-moment='']").all_inner_texts())
        context.close()
    by_script, by_server = written
    assert len(by_script) == len(by_server) >= 2
    for text in by_script:
        assert re.fullmatch(r"\d{1,2} [A-Z][a-z]{2,3}(?: \d{4})?, \d\d:\d\d GMT\+9", text)
    for text in by_server:
        assert re.fullmatch(r"\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d UTC", text)


def test_a_date_of_another_year_shows_its_year_and_one_of_this_year_none(
    chromium: Browser, live_server: LiveServer, pets: Competition
) -> None:
    this = timezone.now().astimezone(ZoneInfo("Asia/Tokyo")).replace(month=7, day=1)
    Admission.objects.update(is_listed=True)
    Competition.objects.update(opens_at=this.replace(year=this.year - 1), closes_at=this)
    context = chromium.new_context(timezone_id="Asia/Tokyo", base_url=live_server.url)
    page = context.new_page()
    page.goto("/c/pets/")
    opens, deadline = page.locator("dl.facts time[data-moment='']").all_inner_texts()[:2]
    context.close()
    assert f" {this.year - 1}, " in opens
    assert re.fullmatch(r"\d{1,2} Jul, \d\d:\d\d GMT\+9", deadline)


def test_spans_of_time_are_in_the_language_of_the_page(
    chromium: Browser, live_server: LiveServer, pets: Competition
) -> None:
    Admission.objects.update(is_listed=True)
    Competition.objects.update(closes_at=timezone.now() + timedelta(minutes=30, seconds=40))
    output = []
    with second_language():
        for locale in ("en-US", CODE):
            context = chromium.new_context(locale=locale, base_url=live_server.url)
            page = context.new_page()
            page.goto("/c/pets/")
            output.append(page.locator("time[data-moment='left']").first.inner_text())
            context.close()
    # The bracket closes after the last of the words that the page gives to the script.
    assert output == ["30 min", "30 min⟧"]


def test_what_lies_ahead_is_said_with_its_date_also_where_others_are_so_long_ago(
    chromium: Browser, live_server: LiveServer, pets: Competition, bo: User, cy: User
) -> None:
    enter(pets, bo), enter(pets, cy)
    now, ahead = timezone.now(), datetime(timezone.now().year + 1, 3, 5, 9, 30, tzinfo=UTC)
    for who, at in ((bo, now - timedelta(hours=2, minutes=5)), (cy, ahead)):
        Submission.objects.filter(pk=submit(pets, who, answers()).pk).update(received_at=at)
    assert pets.ground_truth
    standings.rebuild_standings(pets.ground_truth)
    Admission.objects.update(is_listed=True)
    Competition.objects.update(board_version=F("board_version") + 1)
    context = chromium.new_context(timezone_id="UTC", base_url=live_server.url)
    page = context.new_page()
    page.goto("/c/pets/leaderboard/")
    output = page.locator(".board td time").all_inner_texts()
    context.close()
    assert sorted(output) == ["2 h ago", f"5 Mar {now.year + 1}"]


def test_the_browser_tells_its_zone_and_the_next_page_has_it_without_the_script(
    chromium: Browser, live_server: LiveServer, pets: Competition, bo: User
) -> None:
    enter(pets, bo)
    client = Client()
    client.force_login(bo)
    session = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
    context = chromium.new_context(timezone_id="America/New_York", base_url=live_server.url)
    context.add_cookies([session])  # type: ignore[list-item]
    context.new_page().goto("/c/pets/")
    zone = next(cookie["value"] for cookie in context.cookies() if cookie["name"] == "zone")
    context.close()
    assert zone == "America/New_York"
    notify(NoticeText(NoticeKind.ROLE, "More", "", "/"), User.objects.all(), competition=None)
    plain = chromium.new_context(java_script_enabled=False, base_url=live_server.url)
    plain.add_cookies([session, {"name": "zone", "value": zone, "url": live_server.url}])  # type: ignore[list-item]
    without = plain.new_page()
    without.goto("/notifications/")
    assert "(America/New_York; " in (without.get_attribute("main time", "title") or "")
    plain.close()
