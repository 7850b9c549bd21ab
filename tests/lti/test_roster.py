"""The platform's class list in the preview of an import: who is on it, and what a host decides."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom.models import RosterDraft, RosterEntry
from leaderboard.competitions.models import Competition
from leaderboard.lti import places, roster
from leaderboard.lti.launching import CLAIM, ROLE
from leaderboard.lti.models import LtiLink, Platform
from tests.lti.platforms import INSTRUCTOR, FakePlatform

pytestmark = pytest.mark.django_db


def member(subject: str, *, role: str = "Learner", **given: Any) -> dict[str, Any]:
    name = subject.capitalize()
    return {
        "user_id": subject,
        "name": f"{name} Example",
        "email": f"{subject}@uni.example",
        "roles": [ROLE + role],
        "status": "Active",
        "lis_person_sourcedid": f"s-{subject}",
        **given,
    }


def update(teacher: Client) -> None:
    teacher.post(f"/host/pets/people/roster/{LtiLink.objects.get().pk}/")
    roster.read_roster(LtiLink.objects.get().pk)


def test_ada_updates_her_class_from_the_platform(moodle: FakePlatform, teacher: Client) -> None:
    left, staff = member("eve", status="Inactive"), member("tom", role="Instructor")
    moodle.members = [
        member("bo"),
        member("cy"),
        left,
        staff,
        member("dee", name="", given_name="Dee", family_name="D"),
    ]
    update(teacher)
    assert not RosterEntry.objects.exists()
    teacher.post("/host/pets/people/roster/", {"action": "take"})
    entries = {entry.name: entry for entry in RosterEntry.objects.all()}
    assert set(entries) == {"Bo Example", "Cy Example", "Dee D"}
    bo = entries["Bo Example"]
    assert (bo.lms_user, bo.email, bo.student_id) == (f"{moodle.platform.pk}:bo", "bo@uni.example", "s-bo")


def test_a_second_list_changes_who_changed_and_keeps_who_was_added_by_hand(
    moodle: FakePlatform, teacher: Client
) -> None:
    pets = Competition.objects.get()
    RosterEntry.objects.create(course=pets.course, name="By hand")
    moodle.members = [member("bo")]
    update(teacher)
    teacher.post("/host/pets/people/roster/", {"action": "take"})
    moodle.members = [
        member("bo", name="Bo Changed", email="new@uni.example", lis_person_sourcedid="s-2"),
        member("cy"),
    ]
    update(teacher)
    teacher.post("/host/pets/people/roster/", {"action": "take"})
    assert {entry.name for entry in RosterEntry.objects.all()} == {"By hand", "Bo Changed", "Cy Example"}


def test_a_student_who_is_read_before_their_first_launch_is_one_person(moodle: FakePlatform, teacher: Client) -> None:
    moodle.members = [member("bo"), member("cy")]
    update(teacher)
    teacher.post("/host/pets/people/roster/", {"action": "take"})
    moodle.launch(Client(), "bo")
    entry = RosterEntry.objects.get(name="Bo Example")
    assert entry.user is not None
    assert RosterEntry.objects.count() == 2


def test_two_people_whose_names_in_the_platform_differ_by_case_are_two(moodle: FakePlatform, teacher: Client) -> None:
    moodle.members = [member("aB", email=""), member("ab", email="", lis_person_sourcedid="")]
    update(teacher)
    teacher.post("/host/pets/people/roster/", {"action": "take"})
    assert set(RosterEntry.objects.values_list("lms_user", flat=True)) == {
        f"{moodle.platform.pk}:{name}" for name in ("aB", "ab")
    }


def test_sections_of_canvas_come_along(moodle: FakePlatform, teacher: Client) -> None:
    Platform.objects.update(family="canvas")
    said = [{CLAIM + "custom": {"section_names": '["Lab 1"]'}}]
    moodle.members = [
        member("bo", message=said),
        member("cy", message=[{CLAIM + "custom": {"section_names": "$com.x"}}]),
    ]
    update(teacher)
    teacher.post("/host/pets/people/roster/", {"action": "take"})
    assert dict(RosterEntry.objects.values_list("name", "section")) == {"Bo Example": "Lab 1", "Cy Example": ""}


BAD_LISTS: dict[str, Any] = {
    "nobody": {"members": []},
    "no list": {"members": {"user_id": "bo"}},
    "no object": [],
    "a text": "members",
}


@pytest.mark.parametrize("name", BAD_LISTS)
def test_a_list_that_cannot_be_used_changes_nothing_and_says_why(
    name: str, moodle: FakePlatform, teacher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = moodle.answer
    monkeypatch.setattr(
        moodle,
        "answer",
        lambda method, path, *rest: (200, BAD_LISTS[name], {}) if path == "/members" else whole(method, path, *rest),
    )
    update(teacher)
    assert not RosterDraft.objects.exists()
    assert LtiLink.objects.get().roster_problem


def test_the_next_page_of_a_list_on_another_host_is_not_asked(
    moodle: FakePlatform, teacher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, link = moodle.answer, {"Link": '<https://evil.example/members>; rel="next"'}
    first = {"members": [member("bo")]}
    monkeypatch.setattr(
        moodle,
        "answer",
        lambda method, path, *rest: (200, first, link) if path == "/members" else whole(method, path, *rest),
    )
    update(teacher)
    assert not RosterDraft.objects.exists()


def test_people_without_a_usable_name_are_left_out_and_the_others_come(moodle: FakePlatform, teacher: Client) -> None:
    moodle.members = [member("bo"), *(member("x", user_id=odd) for odd in ("", "a\nb", "a\0", "\ud800", "x" * 300, 7))]
    update(teacher)
    teacher.post("/host/pets/people/roster/", {"action": "take"})
    assert [entry.name for entry in RosterEntry.objects.all()] == ["Bo Example"]


def test_a_list_that_ada_has_in_preview_is_not_replaced_by_her_launch(moodle: FakePlatform, teacher: Client) -> None:
    LtiLink.objects.update(roster_asked_at=None)
    RosterDraft.objects.create(course=Competition.objects.get().course, text="name\nBo\n")
    moodle.launch(Client(), "ada", roles=INSTRUCTOR)
    assert places.links_to_read() == []


def test_platforms_that_are_off_do_not_keep_the_lists_of_others_waiting(moodle: FakePlatform, teacher: Client) -> None:
    assert places.links_to_read()
    Platform.objects.update(off_at=timezone.now())
    assert not places.links_to_read()


@pytest.mark.parametrize("status", [401, 403, 500])
def test_a_platform_that_refuses_its_list_is_named(status: int, moodle: FakePlatform, teacher: Client) -> None:
    moodle.before = lambda method, path, body: status if path == "/members" else None
    update(teacher)
    page = unescape(teacher.get("/host/pets/people/roster/").content.decode())
    assert LtiLink.objects.get().roster_problem in page


def test_dee_cannot_ask_for_the_list(moodle: FakePlatform, teacher: Client, bo: User) -> None:
    client = Client()
    client.force_login(bo)
    assert client.post(f"/host/pets/people/roster/{LtiLink.objects.get().pk}/").status_code == 404
