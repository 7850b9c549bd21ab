"""Times are right to the minute in the reader's zone, also on the days on which clocks are changed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.test import Client
from django.test.html import parse_html
from django.utils import timezone, translation
from django.utils.dateformat import format as date_format
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.accounts.models import User
from leaderboard.common.display_time import day_and_time_text, moment
from leaderboard.common.form_widgets import LongSelect
from leaderboard.competitions import services as competitions
from leaderboard.competitions.forms import moment_in, wall_text
from leaderboard.competitions.models import Competition
from leaderboard.notifications import emails
from leaderboard.notifications.models import Notice
from tests.conftest import enter, make_competition
from tests.pages import signed_in, upload

# A day on which clocks are put forward, and one on which they are put back; Lord Howe moves by half an hour.
CHANGES = {
    "Europe/Vienna": ("2026-03-29", "2026-10-25"),
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Australia/Lord_Howe": ("2026-10-04", "2026-04-05"),
    "America/St_Johns": ("2026-03-08", "2026-11-01"),
    "Asia/Kathmandu": ("2026-03-29", "2026-10-25"),
    "UTC": ("2026-03-29", "2026-10-25"),
}
ZONES = st.sampled_from(sorted(CHANGES))
MINUTES = st.integers(0, 2 * 24 * 60 - 1)


def wall_of(zone: str, which: int, minute: int) -> datetime:
    """A time on the clocks of a zone, at most a day from one of its changes."""
    return datetime.fromisoformat(CHANGES[zone][which]) - timedelta(hours=12) + timedelta(minutes=minute)


@given(zone=ZONES, which=st.integers(0, 1), minute=MINUTES)
def test_what_a_host_writes_is_one_moment_or_refused_and_comes_back_as_written(
    zone: str, which: int, minute: int
) -> None:
    wall = wall_of(zone, which, minute)
    # Independent of the form: try every offset that any zone has.
    shown = ZoneInfo(zone)
    moments = {
        at
        for quarter in range(-48, 57)
        if (at := (wall - timedelta(minutes=15 * quarter)).replace(tzinfo=UTC)).astimezone(shown).replace(tzinfo=None)
        == wall
    }
    if len(moments) != 1:
        with pytest.raises(ValidationError, match="doesn't exist" if not moments else "twice"):
            moment_in(wall, zone)
        return
    found = moment_in(wall, zone)
    assert {found.astimezone(UTC)} == moments
    assert wall_text(found, zone) == wall.strftime("%Y-%m-%dT%H:%M")


def test_a_draft_begins_in_the_zone_of_its_host(ada: User) -> None:
    client = signed_in(ada)

    def zone_of_new_draft(**sent: str) -> str:
        client.post("/host/new/", {"files": upload("id,label\n1,cat\n"), **sent})
        return Competition.objects.latest("created_at").zone

    assert zone_of_new_draft() == zone_of_new_draft(zone="Europe/Atlantis") == "UTC"
    assert zone_of_new_draft(zone="America/Lima") == "America/Lima"
    client.cookies["zone"] = "Europe/Vienna"
    assert zone_of_new_draft(zone="America/Lima") == "Europe/Vienna"
    User.objects.filter(pk=ada.pk).update(zone="Asia/Tokyo")
    assert zone_of_new_draft() == "Asia/Tokyo"


@given(zone=ZONES, which=st.integers(0, 1), minute=MINUTES)
def test_a_page_shows_the_minute_that_the_readers_clock_shows(zone: str, which: int, minute: int) -> None:
    at = wall_of(zone, which, minute).replace(tzinfo=UTC)
    with timezone.override(ZoneInfo(zone)):
        html = moment(at)
    found = re.search(r'datetime="([^"]+)".*?title="([^"]+)">([^<]+)<', html)
    assert found
    assert datetime.fromisoformat(found.group(1)) == at
    local = at.astimezone(ZoneInfo(zone))
    assert found.group(3) == f"{local.day} {local:%b %Y, %H:%M} {local.tzname()}".replace("UTC", "GMT")
    assert found.group(2) == (found.group(3) if zone == "UTC" else f"{found.group(3)} ({zone})")


def deadline(page: str) -> str:
    found = re.search(r"<dt>Deadline</dt><dd><time[^>]*>([^<]+)</time>", page)
    assert found
    return found.group(1)


@pytest.fixture
def vienna(ada: User) -> Competition:
    """Ada's class in Vienna: open since this summer, closed at a minute to midnight on a winter's day."""
    closes_at = datetime(2099, 1, 10, 22, 59, tzinfo=UTC)
    return make_competition(ada, is_listed=True, zone="Europe/Vienna", closes_at=closes_at)


def test_a_stranger_sees_the_clocks_of_the_competition(vienna: Competition) -> None:
    assert deadline(Client().get("/c/pets/").content.decode()) == "10 Jan 2099, 23:59 CET"


def test_what_the_browser_said_comes_before_that(vienna: Competition) -> None:
    client = Client()
    client.cookies["zone"] = "America/New_York"
    assert deadline(client.get("/c/pets/").content.decode()) == "10 Jan 2099, 17:59 EST"


def test_what_bo_chose_comes_before_everything(vienna: Competition, bo: User) -> None:
    enter(vienna, bo)
    client = signed_in(bo)
    choices = {
        name: field.initial for name, field in client.get("/account/preferences/").context["form"].fields.items()
    }
    client.post("/account/preferences/", {**choices, "zone": "Asia/Kathmandu"})
    client.cookies["zone"] = "America/New_York"
    page = client.get("/c/pets/").content.decode()
    assert deadline(page) == "11 Jan 2099, 04:44 +0545"
    assert 'data-zone="Asia/Kathmandu"' in page


@pytest.mark.parametrize("nonsense", ["Mars/Olympus", "../../etc/passwd", "", "UTC\x00", "e" * 5000])
def test_a_zone_that_there_is_not_is_no_zone(vienna: Competition, nonsense: str) -> None:
    client = Client()
    client.cookies["zone"] = nonsense
    assert deadline(client.get("/c/pets/").content.decode()) == "10 Jan 2099, 23:59 CET"


def test_no_request_leaves_its_zone_to_the_next(vienna: Competition) -> None:
    client = Client()
    client.cookies["zone"] = "America/New_York"
    client.get("/c/pets/")
    assert timezone.get_current_timezone_name() == "UTC"


def test_readers_of_one_board_in_two_zones_have_their_own(vienna: Competition, bo: User) -> None:
    enter(vienna, bo)
    pages = []
    for zone in ("Europe/Vienna", "America/New_York"):
        client = Client()
        client.cookies["zone"] = zone
        pages.append(client.get("/c/pets/leaderboard/"))
    assert pages[0]["ETag"] != pages[1]["ETag"]
    assert "CET" in pages[0].content.decode()
    assert "CET" not in pages[1].content.decode()


@pytest.mark.parametrize(
    ("closes_at", "words"),
    [
        ("2099-03-29T02:30", "exist in this zone:"),
        ("2099-10-25T02:30", "This time occurs twice in this zone:"),
    ],
)
def test_a_host_reads_what_is_wrong_with_a_time_and_loses_nothing(
    vienna: Competition, ada: User, closes_at: str, words: str
) -> None:
    client = signed_in(ada)
    response = client.post("/host/pets/deadline/", {"closes_at": closes_at})
    assert response.status_code == 422
    page = response.content.decode()
    assert words in page
    assert closes_at in page


def test_the_footer_has_the_time_of_the_reader(vienna: Competition) -> None:
    client = Client()
    client.cookies["zone"] = "Asia/Kathmandu"
    footer = client.get("/c/pets/").content.decode().partition("<footer")[2]
    assert "+0545</time>" in footer
    assert "UTC" not in footer


@given(
    labels=st.lists(st.text("ab<&\"' ", max_size=6), min_size=1, max_size=5),
    value=st.sampled_from(["", "0", "3", 2, None]),
)
def test_a_long_choice_is_the_same_as_a_short_one(labels: list[str], value: object) -> None:
    choices = [("", "none"), *((str(place), label) for place, label in enumerate(labels))]
    attrs = {"id": "id_zone", "required": True, "aria-describedby": 'a"b'}
    long, short = (kind(choices=choices).render("zone", value, attrs) for kind in (LongSelect, forms.Select))
    assert parse_html(long) == parse_html(short)


def test_a_long_select_keeps_its_groups_as_djangos_own_does() -> None:
    choices = [("", "None"), ("Cats & dogs", [("a", "<A>"), ("b", "B")]), ("Fish", [("c", "C")])]
    long, short = (kind(choices=choices).render("metric", "b", {"id": "x"}) for kind in (LongSelect, forms.Select))
    assert parse_html(long) == parse_html(short)


@pytest.mark.parametrize("language", ["en", "de"])
def test_days_are_written_as_django_writes_them(language: str) -> None:
    with translation.override(language):
        for month in range(1, 13):
            day = datetime(2026, month, month, 7, month, tzinfo=UTC)
            assert day_and_time_text(day) == date_format(day, "j M Y, H:i")


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("Europe/Vienna", "is now 1 Feb 2036, 00:59 CET."),
        ("America/Sao_Paulo", "is now 31 Jan 2036, 20:59 America/Sao_Paulo."),
        ("Africa/Abidjan", "is now 31 Jan 2036, 23:59 GMT."),
    ],
)
def test_who_reads_that_the_deadline_is_moved_reads_by_whose_clocks(
    pets: Competition, bo: User, zone: str, words: str
) -> None:
    enter(pets, bo)
    competitions.change_competition(competition=pets, zone=zone)
    competitions.change_competition(competition=pets, closes_at=datetime(2036, 1, 31, 23, 59, tzinfo=UTC))
    said_to_user = Notice.objects.get(user=bo)
    assert words in said_to_user.text
    assert words in str(emails.build_email(said_to_user).body)
