"""The way through a host's pages: every page within two clicks, and nobody is led to a door that is shut."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from leaderboard.accounts.models import User
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.competitions.models import Competition
from leaderboard.competitions.navigation import HOST_TABS, SHARED, STUDENT_TABS
from tests.conftest import answers, close, enter, submit
from tests.pages import signed_in, tidy

ROOT = Path(__file__).parents[2]
# What is no page of its own: files, forms that another page sends, a part of a page, what leads on.
NO_PAGE = {
    "host_board_csv",
    "host_report_csv",
    "host_submissions_zip",
    "host_export",
    "host_activity",
    "host_grade_file",
    "host_restore",
    "host_projector",
}
HELD = [name for tab in HOST_TABS for page in tab.pages for name in (page.name, *page.beneath)]


@pytest.fixture
def cy_assists(pets: Competition, cy: User) -> Client:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT)
    return signed_in(cy)


def links(text: str) -> list[str]:
    """The addresses of the tabs and of the pages behind the current one, in order."""
    rows = re.findall(r'<nav class="(?:tabs|switch page-switch)".*?</nav>', text, re.S)
    return re.findall(r'<a[^>]* href="([^"]+)"', "".join(rows))


def test_no_page_about_a_competition_is_left_out_of_the_tabs_and_none_is_in_two() -> None:
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    pages = {name for name in names if name.startswith("host_")} - NO_PAGE - {"host_new"}
    pages -= {"host_truth_file"}
    assert set(HELD) - set(SHARED) == pages
    assert len(HELD) == len(set(HELD))


@pytest.mark.parametrize("state", ["draft", "live", "closed"])
def test_every_link_that_a_host_reads_opens(ada: User, pets: Competition, state: str) -> None:
    if state == "draft":
        Competition.objects.update(launched_at=None)
    if state == "closed":
        close(pets)
    client, first = signed_in(ada), "/host/pets/"
    seen = {first}
    for address in links(client.get(first).content.decode()):
        seen |= set(links(client.get(address).content.decode()))
    assert len(seen) >= 16
    assert {address: client.get(address).status_code for address in seen if address != "/host/pets/setup/"} == {
        address: 200 for address in seen if address != "/host/pets/setup/"
    }


def test_an_assistant_reads_no_link_that_would_be_refused(cy_assists: Client) -> None:
    seen = {"/host/pets/"}
    for address in links(cy_assists.get("/host/pets/").content.decode()):
        seen |= set(links(cy_assists.get(address).content.decode()))
    assert {cy_assists.get(address).status_code for address in seen} == {200}
    assert "/host/pets/teams/" in seen
    assert not [address for address in seen if "truth" in address or "settings" in address or "roles" in address]


def test_the_page_shown_and_its_group_are_marked(ada: User, pets: Competition) -> None:
    text = tidy(signed_in(ada).get("/host/pets/people/roles/").content.decode())
    assert 'href="/host/pets/people/" aria-current="true"' in text
    assert 'href="/host/pets/people/roles/" aria-current="page"' in text
    assert text.count('class="switch page-switch"') == 1


def test_whoever_runs_a_competition_reads_the_board_below_their_own_tabs(
    ada: User, bo: User, pets: Competition
) -> None:
    enter(pets, bo)
    assert "/host/pets/people/" in links(signed_in(ada).get("/c/pets/leaderboard/").content.decode())
    assert not [one for one in links(signed_in(bo).get("/c/pets/leaderboard/").content.decode()) if "/host/" in one]


def test_whoever_assists_finds_the_way_from_every_page(cy_assists: Client, dee: User) -> None:
    assert 'href="/host/"' in cy_assists.get("/").content.decode()
    assert 'href="/host/"' not in signed_in(dee).get("/").content.decode()
    assert 'href="/host/"' not in Client().get("/").content.decode()
    page = cy_assists.get("/host/").content.decode()
    assert "/host/pets/" in page
    assert "/host/new/" not in page


def test_a_host_who_may_open_no_new_ones_finds_it_too(pets: Competition, bo: User) -> None:
    pets.hosts.add(bo)
    assert 'href="/host/"' in signed_in(bo).get("/").content.decode()


def test_only_who_may_open_new_ones_is_led_to_a_copy(pets: Competition, ada: User, bo: User) -> None:
    pets.hosts.add(bo)
    settings = "/host/pets/settings/"
    assert 'value="copy"' in signed_in(ada).get(settings).content.decode()
    assert 'value="copy"' not in signed_in(bo).get(settings).content.decode()
    assert signed_in(bo).post(settings, {"action": "copy", "copy-title": "Mine"}).status_code == 403


def test_pages_of_students_and_hosts_ask_the_database_twelve_times_at_most(
    ada: User, pets: Competition, bo: User
) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers(public=1))
    submit(pets, bo, answers(public=2))
    student = [
        "submit/",
        "submissions/",
        f"submissions/{submission.pk}/",
        "submissions/?show=finals",
        "team/",
    ]
    host = ["", "people/", "people/roles/", "settings/", "truth/", "teams/", "submissions/"]
    asked = {}
    for client, addresses in (
        (signed_in(bo), [f"/c/pets/{one}" for one in student]),
        (signed_in(ada), [f"/host/pets/{one}" for one in host]),
    ):
        client.get("/c/pets/")
        for address in addresses:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(address).status_code == 200
            asked[address] = len(queries)
    assert max(asked.values()) <= 12, asked


def test_roles_are_read_with_the_row_and_only_for_whom_they_were_read(ada: User, pets: Competition, bo: User) -> None:
    roles.give_role(competition=pets, name="bo", role=HostingRole.ASSISTANT)
    mine = Competition.objects.with_roles_of(bo).get(pk=pets.pk)
    with CaptureQueriesContext(connection) as queries:
        assert mine.is_run_by(bo)
        assert not mine.is_hosted_by(bo)
    assert len(queries) == 0
    assert mine.is_hosted_by(ada)
    bo.is_active = False
    assert not mine.is_run_by(bo)


def test_every_icon_that_pages_name_is_in_the_file_and_no_other() -> None:
    sprite = ROOT / "leaderboard/common/static/leaderboard/icons.svg"
    drawn = re.findall(r'<path id="(\w+)"', sprite.read_text())
    templates = "".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    tasks = re.findall(r'\btask\(\s*"(\w+)"', (ROOT / "leaderboard/site/views/home.py").read_text())
    tabs = {tab.icon for tab in (*STUDENT_TABS, *HOST_TABS)}
    assert sorted(drawn) == sorted({*re.findall(r'\{% icon "(\w+)"', templates), *tasks, *tabs})
