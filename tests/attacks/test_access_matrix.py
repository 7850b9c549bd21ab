"""Who opens what: made from the URLconf, so that a view without a declared policy fails."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.views.generic.base import RedirectView

from leaderboard.accounts.models import User
from tests.conftest import enter, make_competition

from .scene import ROLES, TEAM, Address, Scene, addresses, ask, filled, text_of

pytestmark = pytest.mark.thorough

MEMBERS = {*TEAM, "eve", "ivy", "ada"}
ALLOWED = {
    "anyone": set(ROLES),
    "visitors": set(ROLES),  # the competition of the scene is listed
    "signed_in": set(ROLES) - {"anonymous"},
    "site_hosts": {"ada", "hal", "otto"},
    "members": MEMBERS,
    "course_members": MEMBERS,
    "course_hosts": {"ada"},
    "course_graders": {"ada"},
    "hosts": {"ada"},
    "assistants": {"ada", "ivy"},
    "graders": {"ada"},  # Ivy as well where the competition says so
    "operators": set(),
    "token": set(ROLES) - {"anonymous"},
    "staff": set(),
    "one_who_was_sent_here": set(),  # half signed in, or with a key from an e-mail
}
# django-allauth's pages and Django's admin have no decorator of ours; their policies are written down here.
ELSEWHERE = {
    "account_login": "anyone",
    "account_signup": "anyone",
    "account_reset_password": "anyone",
    "account_reset_password_done": "anyone",
    "account_reset_password_from_key": "anyone",
    "account_reset_password_from_key_done": "anyone",
    "account_confirm_email": "anyone",
    "account_email_verification_sent": "anyone",
    "account_inactive": "anyone",
    "account_logout": "anyone",
    "account_confirm_login_code": "one_who_was_sent_here",
    "mfa_authenticate": "one_who_was_sent_here",
    "mfa_trust": "one_who_was_sent_here",
    "account_email": "signed_in",
    "account_change_password": "signed_in",
    "account_set_password": "signed_in",
    "account_reauthenticate": "signed_in",
    "mfa_index": "signed_in",
    "mfa_reauthenticate": "signed_in",
    "mfa_activate_totp": "signed_in",
    "mfa_deactivate_totp": "signed_in",
    "mfa_view_recovery_codes": "signed_in",
    "mfa_generate_recovery_codes": "signed_in",
    "mfa_download_recovery_codes": "signed_in",
    "usersessions_list": "signed_in",
    "socialaccount_login_cancelled": "anyone",
    "socialaccount_login_error": "anyone",
    "socialaccount_signup": "one_who_was_sent_here",
    "socialaccount_connections": "signed_in",
    "api": "anyone",
    "openapi": "anyone",
    "api_nothing": "anyone",
    "api_competitions": "token",
    "api_competition": "token",
    "api_leaderboard": "token",
    "api_submissions": "token",
    "api_submission": "token",
    "api_files": "members",
    "api_file": "members",
    "api_convert": "members",
    "api_task": "token",
    "api_truth": "hosts",
    "api_truth_publish": "hosts",
    "api_launch": "hosts",
    "api_rescoring": "hosts",
    "api_rescoring_apply": "hosts",
    "api_rescoring_discard": "hosts",
    "api_again": "assistants",
    "api_courses": "token",
    "api_course": "course_hosts",
    "api_people": "course_hosts",
    "api_course_grades": "course_graders",
    "api_grades": "graders",
    "api_export": "hosts",
}
# What an address says to everybody, whoever they are: nothing behind it, or the form asks for more.
NOT_A_PAGE = (400, 404, 405, 409, 410, 415, 422)


def policy_of(address: Address) -> str:
    """The declared policy of an address."""
    if declared := getattr(address.view, "audience", None):
        return str(declared)
    if address.name.startswith("admin:"):
        return "staff"
    if getattr(address.view, "view_class", None) is RedirectView:
        return "anyone"  # an older address, which only leads on
    if address.name in ELSEWHERE:
        return ELSEWHERE[address.name]
    raise LookupError(f"{address.route} ({address.name}) declares no policy")


@pytest.mark.attack("a view that forgot its policy; hosts of one competition in another; former hosts")
def test_every_address_of_the_site_declares_its_policy() -> None:
    found = {policy_of(address) for address in addresses()}
    assert found <= set(ALLOWED)
    assert {"anyone", "signed_in", "site_hosts", "visitors", "members", "hosts", "staff", "token"} <= found


@pytest.fixture
def eve_elsewhere(scene: Scene) -> None:
    """Eve competes in a third competition too."""
    enter(make_competition(User.objects.get(username="hal"), slug="third"), User.objects.get(username="eve"))


def test_an_address_without_a_policy_is_noticed() -> None:
    with pytest.raises(LookupError, match="secrets/ "):
        policy_of(Address("secrets/", "secrets", lambda request: None))


@pytest.mark.parametrize(
    "role", [pytest.param(role, marks=pytest.mark.long if role in ("dee", "otto", "cy") else ()) for role in ROLES]
)
@pytest.mark.attack("a view that forgot its policy; hosts of one competition in another; former hosts")
def test_nobody_opens_or_changes_what_is_for_others(scene: Scene, role: str) -> None:
    """A page that is not for them answers with a refusal or leads away, to GET and to POST. Pages of hosts are
    not there for others who are signed in, but for Ivy, who knows of them."""
    opened = []
    for address in addresses():
        if role in ALLOWED[policy_of(address)] or "login" in address.route:
            continue
        path = filled(address.route, scene.arguments)
        for data in (None, {"action": "x"}):
            savepoint = transaction.savepoint()
            response = ask(scene, role, "GET", path, data)
            transaction.savepoint_rollback(savepoint)
            is_hidden = address.route.startswith("host/<slug:slug>/") and role not in ("anonymous", "ivy")
            if response.status_code < 300 or response.status_code >= 500 or (is_hidden and response.status_code != 404):
                opened.append((address.route, response.status_code))
    assert opened == []


@pytest.mark.parametrize("role", ["bo", "ada"])
def test_pages_open_for_those_they_are_for(scene: Scene, role: str) -> None:
    """The test above would also pass on a site that opens nothing."""
    pages = [a for a in addresses() if role in ALLOWED[policy_of(a)] and policy_of(a) in ("members", "hosts")]
    statuses = {a.route: status(scene, role, a) for a in pages}
    assert len([status for status in statuses.values() if status == 200]) >= 6
    assert {r: s for r, s in statuses.items() if s not in (200, 286, 302, 303, *NOT_A_PAGE)} == {}


@pytest.mark.parametrize("other", ["eve", "dee", "anonymous", "hal", "otto"])
@pytest.mark.attack("another team's ids")
def test_the_id_of_somebody_elses_file_opens_nothing(scene: Scene, other: str) -> None:
    for address in addresses():
        if "submission_id" not in address.route:
            continue
        found = status(scene, other, address)
        if found == 405:
            found = ask(scene, other, "POST", filled(address.route, scene.arguments)).status_code
        assert found in (302, 401, 403, 404), address.route


# What is not there on this site or for these arguments: wrong codes, a path for whatever has no page, what needs a
# setting, a worker or a file that `up` makes, the notice or the form of somebody else, a rescoring while there is none,
# what hosts of the site open.
NOT_THERE = {
    "bo": {
        "join_code", "invitation", "setup", "home_scorer", "home_scorer_file", "api_nothing", "healthz_deep", "readyz",
        "prometheus", "lti_login", "lti_register", "lti_connect", "lti_account",
        "host", "host_restore", "password_link", "page_task", "api_task",
    },
    "ada": {
        "join_code", "invitation", "setup", "home_scorer", "home_scorer_file", "api_nothing", "healthz_deep", "readyz",
        "prometheus", "lti_login", "lti_register", "lti_connect", "lti_account",
        "notice", "api_rescoring", "api_task", "host_restore", "password_link",
    },
}  # fmt: skip


@pytest.mark.parametrize("role", [pytest.param("bo", marks=pytest.mark.long), "ada"])
def test_the_walks_of_the_attacks_open_every_page_that_there_is(scene: Scene, role: str) -> None:
    """A page that answers “not found” to those it is for hides from every canary."""
    closed = {}
    for address in addresses():
        if role not in ALLOWED[policy_of(address)] or address.name in NOT_THERE[role] or ":" in address.name:
            continue
        if address.route.startswith(("admin/", "accounts/")):
            continue
        if (code := status(scene, role, address)) >= 400 and code not in (405,):
            closed[address.name] = code
    assert closed == {}


@pytest.mark.parametrize(("role", "own"), [("hal", "other"), ("eve", "third")])
def test_numbers_of_one_competition_open_nothing_under_the_name_of_another(
    scene: Scene, eve_elsewhere: None, role: str, own: str
) -> None:
    """Who hosts another competition, or competes there, puts its name before numbers that belong to this one."""
    tried, opened = 0, []
    for address in addresses():
        named = {
            name
            for name in ("submission_id", "team_id", "number", "file_id", "baseline_id")
            if f":{name}>" in address.route
        }
        if not named or "<slug:slug>" not in address.route or address.name == "host_truth_file":
            continue
        path = filled(address.route, {**scene.arguments, "slug": own})
        for method, data in (("GET", None), ("POST", {"action": "withdraw", "confirm": own})):
            savepoint = transaction.savepoint()
            response = ask(scene, role, method, path, data)
            transaction.savepoint_rollback(savepoint)
            tried += 1
            text = text_of(response)
            if response.status_code not in (302, 401, 403, 404, 405) or "canary" in text:
                opened.append((method, address.route, response.status_code))
    assert opened == []
    assert tried >= 10


def status(scene: Scene, role: str, address: Address) -> int:
    """The status of a GET, read to its end so that no file stays open."""
    response = ask(scene, role, "GET", filled(address.route, scene.arguments))
    response.getvalue()
    return int(response.status_code)
