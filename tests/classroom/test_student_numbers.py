"""The student number that an institution names finds a person on the roster."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.conf import LazySettings

from leaderboard.accounts.institution.people import apply_claims
from leaderboard.accounts.models import User
from leaderboard.classroom import joining, people, roster, teams
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions.models import Competition
from tests.conftest import enter
from tests.institutions import institution_at

COURSE_SIZES = (1, 3)

ISSUER = "https://login.uni.example"


@pytest.fixture(autouse=True)
def institution(settings: LazySettings) -> None:
    settings.INSTITUTIONS = (institution_at(ISSUER, student_number_claim="student_number"),)


def name_number(user: User, number: str) -> None:
    """The institution names it at a sign-in."""
    fields = {"user": user, "provider": ISSUER, "uid": f"subject-{user.pk}"}
    held, _is_new = SocialAccount.objects.update_or_create(
        **fields, defaults={"extra_data": {"student_number": number}}
    )
    apply_claims(account=user, social_account=held)


def listed(competition: Competition, **fields: Any) -> RosterEntry:
    return RosterEntry.objects.create(course=competition.course, **{"name": "Somebody", **fields})


@pytest.mark.parametrize(
    ("fields", "is_matched"),
    [
        ({"student_id": "4711"}, True),
        ({"student_id": "98", "sis_user_id": "4711"}, True),
        # The first is the learning platform's own number, whoever has it at the institution.
        ({"student_id": "4711", "sis_user_id": "98"}, False),
        ({"student_id": "04711"}, False),
        ({"login": "4711"}, False),
    ],
)
def test_bo_is_found_as_he_joins(pets: Competition, bo: User, fields: dict[str, str], is_matched: bool) -> None:
    entry = listed(pets, **fields)
    name_number(bo, "4711")
    enter(pets, bo)
    entry.refresh_from_db()
    assert (entry.user == bo) is is_matched


def test_a_member_is_found_at_the_sign_in_after(pets: Competition, bo: User) -> None:
    entry = listed(pets, student_id="4711")
    enter(pets, bo)
    name_number(bo, "4711")
    entry.refresh_from_db()
    assert entry.user == bo


def test_a_member_is_found_by_a_later_list_and_the_preview_says_so(pets: Competition, ada: User, bo: User) -> None:
    name_number(bo, "4711")
    enter(pets, bo)
    draft = roster.save_roster_draft(competition=pets, user=ada, file_name="a.csv", data="name,student id\nBo,4711\n")
    assert [one.name for one in roster.preview_roster(pets, draft).joined] == ["Bo"]
    roster.apply_roster(competition=pets, user=ada)
    assert pets.course.roster.get().user == bo


def test_the_roster_admits_a_number_without_any_address(pets: Competition, bo: User, dee: User) -> None:
    pets.admission.kind = "roster"
    pets.admission.save()
    listed(pets, student_id="4711")
    name_number(bo, "4711")
    assert joining.join_by_code(user=bo, code=pets.admission.join_code)
    name_number(dee, "4712")
    with pytest.raises(teams.CannotJoin):
        joining.join_by_code(user=dee, code=pets.admission.join_code)


@pytest.mark.attack("signing in by an institution as somebody else")
def test_a_number_that_two_lines_have_matches_neither(pets: Competition, ada: User, bo: User) -> None:
    listed(pets, student_id="4711")
    listed(pets, student_id="4711")
    name_number(bo, "4711")
    enter(pets, bo)
    people.link_members(pets.course)
    assert not pets.course.roster.exclude(user=None).exists()


@pytest.mark.attack("signing in by an institution as somebody else")
def test_a_line_that_somebody_has_is_taken_from_nobody(pets: Competition, bo: User, cy: User) -> None:
    entry = listed(pets, student_id="4711", user=cy)
    name_number(bo, "4711")
    enter(pets, bo)
    entry.refresh_from_db()
    assert entry.user == cy


def test_a_number_counts_more_than_an_address(pets: Competition, bo: User) -> None:
    bo.emailaddress_set.create(email=bo.email, verified=True)  # type: ignore[attr-defined]
    listed(pets, email=bo.email)
    by_number = listed(pets, student_id="4711")
    name_number(bo, "4711")
    enter(pets, bo)
    by_number.refresh_from_db()
    assert by_number.user == bo
    assert pets.course.roster.filter(user=bo).count() == 1


def test_a_number_of_an_institution_that_is_gone_finds_nobody(
    pets: Competition, bo: User, settings: LazySettings
) -> None:
    entry = listed(pets, student_id="4711")
    name_number(bo, "4711")
    settings.INSTITUTIONS = ()
    enter(pets, bo)
    entry.refresh_from_db()
    assert entry.user is None
