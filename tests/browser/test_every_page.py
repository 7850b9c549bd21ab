"""Every page is for everybody: in light and in dark, 320 px wide, and for fingers that are not precise.

The long test looks at all pages of a term, and none may escape it; the short one at a page of each kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.contrib import admin
from django.test import Client
from django.urls import resolve
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from bench import term
from leaderboard.accounts.models import SetupLink, User
from leaderboard.competitions.models import Competition
from leaderboard.lti import registering
from leaderboard.lti.models import Deployment, LtiPerson
from tests.attacks.scene import addresses
from tests.conftest import answers, enter, submit
from tests.lti.platforms import INSTRUCTOR, FakePlatform

from .conftest import OpenPage
from .for_everybody import NARROW, WIDE, WIDER, findings, in_both_themes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STATES = ("live", "ended", "ready", "new", "draft")
# Each with the reason why no GET of the long test shows a page there.
SEEN_BY_NOBODY = {
    "theme": "leads back",
    "notice": "leads to what it tells of",
    "host_left": "leads back",
    "host_restore": "leads back",
    "host_send_again": "leads back",
    "host_platform_roster": "leads back",
    "host_team": "leads to a student of the team",
    "course_add": "leads to the new competition",
    "lti_register": "only from a learning platform; a short test opens it",
    "lti_connect": "only from a learning platform; a short test opens it",
    "lti_account": "only from a learning platform; a short test opens it",
    "submission_convert": "leads back",
    "password_link": "leads to the page where the password is chosen",
    "favicon": "a picture",
    "robots": "for programs",
    "host_activity": "a part of the dashboard",
    "page_task": "only until a worker has answered a form",
    "host_join_cards": "takes a POST; pressed below",
    "setup": "only before there is an operator; the short test opens it",
    "account_email_verification_sent": "nobody's address is checked before the first visit",
    "account_confirm_email": "needs the key of an e-mail",
    "account_reset_password_from_key": "needs the key of an e-mail",
    "account_confirm_login_code": "only half-way through signing in",
    "account_set_password": "everybody has a password",
    "mfa_authenticate": "only half-way through signing in",
    "mfa_reauthenticate": "only with a second factor",
    "mfa_deactivate_totp": "only with a second factor",
    "mfa_view_recovery_codes": "only with a second factor",
    "mfa_generate_recovery_codes": "only with a second factor",
    "mfa_activate_totp": "asks for the password first; pressed below",
    "my_data": "a file",
    "institution_login": "only with an institution; `test_institution.py` opens it",
    "institution_callback": "only with an institution; `test_institution.py` opens it",
    "socialaccount_login_error": "a refusal; `test_institution.py` opens it",
    "socialaccount_signup": "leads to the sign-in page",
    "": "older addresses of django-allauth, which lead on",
}


# Django's own, which no template or colour of ours reaches, with what axe says of it.
DJANGOS = {
    ".select2-container": "the chooser of people: its field has no label, and its list holds a field",
    ".inline-group table": "the heads of the columns for the name and for removing have no text",
}


@pytest.fixture
def page_of(open_page: OpenPage) -> Callable[[str], Page]:
    """The browser of each person, signed in; of a visitor for an empty name."""

    @cache
    def page_of(who: str) -> Page:
        user = User.objects.get(username=who) if who else None
        return open_page(user, timezone_id="Europe/Vienna", watched=False)

    return page_of


def is_shown(page: Page, path: str) -> bool:
    """Open an address; whether a page is there for this reader, and leads nowhere else."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    answer = page.goto(path)
    assert answer is not None
    assert answer.status < 500, path
    is_page = answer.status == 200 or "nowhere" in path
    return (
        is_page
        and answer.header_value("content-type") == "text/html; charset=utf-8"
        and urlsplit(page.url).path == path
    )


@pytest.mark.long
def test_every_page_of_a_term_is_for_everybody(page_of: Callable[[str], Page]) -> None:
    """Each in at most two states for each reader: those that say most come first."""
    rank = {f"-{state}-": place for place, state in enumerate(STATES)}
    pages = sorted(term.pages(term.fill()), key=lambda one: [place for part, place in rank.items() if part in one.name])
    seen: Counter[tuple[str, str]] = Counter()
    found: list[str] = []
    for one in pages:
        name = resolve(one.path).view_name if "nowhere" not in one.path else "nowhere"
        page = page_of(one.who)
        if seen[name, one.who] < 2 and is_shown(page, one.path):
            seen[name, one.who] += 1
            found += [f"{one.name} {one.path}: {finding}" for finding in findings(page)]
    for what, page in pressed(page_of):
        found += [f"{what}: {finding}" for finding in findings(page)]
    assert found == []
    own = {
        address.name
        for address in addresses()
        if not address.route.startswith(("admin/", "api/"))
        and not any(part in f"/{address.route}" for part in term.NO_PAGES)
    }
    assert own - {name for name, _who in seen} == set(SEEN_BY_NOBODY)


def pressed(page_of: Callable[[str], Page]) -> Iterator[tuple[str, Page]]:
    """What comes of a press: refusals above a form, and answers that have no address."""
    visitor, bo, ada = page_of(""), page_of("bo"), page_of("ada")
    visitor.goto("/accounts/login/")
    visitor.fill("#id_login", "bo")
    visitor.fill("#id_password", "wrong")
    visitor.get_by_role("main").get_by_role("button", name="Sign in").click()
    yield "a wrong password", visitor
    visitor.fill("#id_password", term.PASSWORD)
    visitor.get_by_role("main").get_by_role("button", name="Sign in").click()
    visitor.goto("/accounts/2fa/totp/activate/")
    yield "a second factor", visitor
    bo.goto("/join/")
    bo.get_by_label("Join code").fill("WRONGONE")
    bo.get_by_role("button", name="Continue").click()
    yield "a wrong code", bo
    bo.goto("/c/pond-life/submit/")
    bo.set_input_files(
        "#id_file", {"name": "bad.csv", "mimeType": "text/csv", "buffer": b"id,species\n1,newt\n1,newt\n"}
    )
    bo.get_by_role("button", name="Submit", exact=True).click()
    bo.locator("#progress").wait_for()
    yield "a file with faults", bo
    ada.goto("/host/pond-life/settings/")
    ada.get_by_text("Pause submissions").click()
    ada.get_by_role("main").get_by_role("button", name="Pause", exact=True).click()
    ada.locator(".errors").wait_for()
    yield "a pause without a reason", ada
    ada.goto("/host/pond-life/people/")
    ada.get_by_role("link", name="Select all").click()
    ada.get_by_role("button", name="Print join cards").click()
    ada.locator(".join-cards").wait_for()
    yield "join cards", ada
    ada.goto("/host/pond-life/teams/similar/")
    ada.get_by_role("main").get_by_role("button").first.click()
    yield "similar files", ada


def test_a_page_of_each_kind_is_for_everybody(page_of: Callable[[str], Page], pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers(public=1))
    setup = f"/setup/{SetupLink.issue()}/"
    kinds = {
        "bo": ("/c/pets/", "/c/pets/leaderboard/", "/c/pets/submissions/", "/c/pets/submit/"),
        "ada": ("/host/pets/", "/host/pets/settings/"),
        "": (setup,),
    }
    found = []
    for who, path in ((who, path) for who, paths in kinds.items() for path in paths):
        page = page_of(who)
        assert is_shown(page, path), path
        found += [f"{path}: {finding}" for finding in findings(page)]
    assert found == []


def test_the_pages_of_a_learning_platform_are_for_everybody(
    open_page: OpenPage, live_server: LiveServer, settings: LazySettings, olga: User, pets: Competition
) -> None:
    moodle, launched, found = FakePlatform(), Client(), list[str]()
    moodle.approve(teachers_may_host=True)
    Deployment.objects.create(platform=moodle.platform, name="d-2")
    moodle.launch(launched, "mia", roles=INSTRUCTOR)
    pets.hosts.add(LtiPerson.objects.get(subject="mia").user)
    teacher, operator = open_page(), open_page(olga)
    cookies = {name: launched.cookies[name].value for name in ("sessionid", "lti")}
    teacher.context.add_cookies([{"name": name, "value": one, "url": live_server.url} for name, one in cookies.items()])

    def look(page: Page, what: str) -> None:
        found.extend(f"{what}: {finding}" for finding in findings(page))

    teacher.goto("/lti/connect/")
    look(teacher, "the choice of a competition")
    launched.get("/lti/account/")
    launched.force_login(olga)
    cookies["sessionid"] = launched.cookies["sessionid"].value
    teacher.context.add_cookies([{"name": name, "value": one, "url": live_server.url} for name, one in cookies.items()])
    teacher.goto("/lti/connect/")
    look(teacher, "an earlier account")
    settings.SITE_URL = live_server.url  # without it operators make no link
    link = registering.new_link()
    for query in ("", "?openid_configuration=nowhere", "?openid_configuration=nowhere"):
        teacher.goto(link + query)
        look(teacher, f"registration: {teacher.get_by_role('heading').inner_text()}")
    teacher.goto("/lti/login/")
    look(teacher, "a refused launch")
    operator.goto("/lti/platforms/")
    operator.get_by_role("button", name="New registration link").click()
    operator.get_by_test_id("registration-link").wait_for()
    look(operator, "platforms")
    assert found == []


def admin_pages() -> Iterator[str]:
    """The front page, and of each kind of row its list and the pages of one row; not all may be added or deleted."""
    yield "/admin/"
    for model, its in admin.site._registry.items():
        start = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        one = its.model._default_manager.first()
        yield from (start, f"{start}add/")
        yield from (f"{start}{one.pk}/{page}/" for page in ("change", "delete", "history") if one)


@pytest.mark.parametrize("is_all", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_admin_is_for_everybody_but_for_what_is_djangos_own(
    page_of: Callable[[str], Page], pets: Competition, bo: User, olga: User, *, is_all: bool
) -> None:
    """In light and in dark, and no wider than a telephone."""
    enter(pets, bo)
    submit(pets, bo, answers(public=1))
    few = ["competitions/competition/", f"competitions/competition/{pets.pk}/change/", "competitions/competition/add/"]
    page, found, shown = page_of("olga"), [], 0
    for path in admin_pages() if is_all else (f"/admin/{part}" for part in few):
        if is_shown(page, path):
            shown += 1
            page.set_viewport_size(NARROW)
            found += [f"{path}: {finding}" for finding in page.evaluate(WIDER)]
            page.set_viewport_size(WIDE)
            found += [f"{path}: {finding}" for finding in in_both_themes(page, DJANGOS)]
    assert found == []
    assert shown >= (15 if is_all else len(few))


def test_a_board_on_paper_fits_and_has_nothing_to_press(
    page_of: Callable[[str], Page], pets: Competition, bo: User
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers(public=1))
    page = page_of("bo")
    page.goto("/c/pets/leaderboard/")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 between its margins
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    table, row = page.locator(".table-wrap").bounding_box(), page.locator("tr[aria-current]").bounding_box()
    assert table is not None
    assert row is not None
    assert row["width"] <= table["width"]
    assert page.locator("button:visible, a.button:visible, input:visible, nav:visible").count() == 0
    assert "ago" not in page.locator("tr[aria-current]").inner_text()
    closes = re.search(r"Closes in [^(]+ \(\d+ \w+(?: \d{4})?, \d", page.locator(".competition-head").inner_text())
    assert closes, "paper gets old"
    title = page.locator("table.board caption").bounding_box()
    assert title is not None
    assert title["height"] > 10, "paper says which board it is"


def test_what_is_not_for_everybody_is_found(chromium: Browser) -> None:
    """The tests above could not fail if nothing were ever found."""
    page = chromium.new_page()
    page.set_content(
        "<!doctype html><html lang='en'><title>x</title><meta name='color-scheme' content='light dark'>"
        "<style>.x { color: light-dark(black, #333); background: light-dark(white, black) } button { height: 30px }"
        "input { height: 20px } div { width: 500px }</style>"
        "<main><h1>x</h1><p class='x'>Hard to read in the dark</p><button>Small</button>"
        "<label><input type='checkbox'> Low</label><div>Wide</div><img src='data:,'></main>"
    )
    found = "\n".join(findings(page))
    page.close()
    for part in (
        "light: image-alt", "dark: color-contrast: <p", "320 px: scrolls sideways to 5", "x30 <button > Small", "> Low",
    ):  # fmt: skip
        assert part in found
    assert "light: color-contrast" not in found
