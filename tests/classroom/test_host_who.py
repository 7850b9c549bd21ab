"""A class list was read and the class joined with the code: Ada says which account is whom."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import people, roster
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.grades import queries as grade_queries
from tests.conftest import enter, person
from tests.grades.test_services import set_rules
from tests.pages import signed_in

COURSE_SIZES = (1, 3)

LIST = "Name,Email,Student ID,Section\nBo Berg,bo@example.org,7,Lab 1\nCy Clay,clay@example.org,8,Lab 2\n"
WHO = "/host/pets/people/who/"


@pytest.fixture
def hers(ada: User, pets: Competition) -> Client:
    """Ada's browser, with a class list read."""
    roster.save_roster_draft(competition=pets, user=ada, file_name="class.csv", data=LIST)
    roster.apply_roster(competition=pets, user=ada)
    return signed_in(ada)


def entry(name: str) -> RosterEntry:
    return RosterEntry.objects.get(name=name)


def test_who_joined_with_the_code_is_guessed_by_address_and_counts_once_ada_says_so(
    hers: Client, pets: Competition, bo: User
) -> None:
    membership = enter(pets, bo)
    assert "1 account is not on the roster" in hers.get("/host/pets/people/").content.decode()
    page = hers.get(WHO).content.decode()
    assert 'value="Bo Berg · bo@example.org"' in page
    assert entry("Bo Berg").user is None, "an address alone says nothing"
    answer = hers.post(WHO, {f"who-{membership.pk}": "Bo Berg · bo@example.org"}, follow=True)
    assert "1 account matched." in answer.content.decode()
    assert entry("Bo Berg").user == bo
    assert entry("Bo Berg").joined_at == membership.joined_at
    assert "Match accounts" not in hers.get("/host/pets/people/").content.decode()
    students = [row.student for row in grade_queries.grade_sheet(pets, at=timezone.now()).rows]
    assert {student.name: student.user_id for student in students} == {"Bo Berg": bo.pk, "Cy Clay": None}
    assert AuditEntry.objects.filter(event=AuditEvent.ROSTER_CHANGED.value).count() == 1


def test_an_account_called_like_a_login_of_the_list_is_guessed(hers: Client, pets: Competition, ada: User) -> None:
    listed = b'Student,ID,SIS User ID,SIS Login ID,Section\n"Ngo, Dee",9,s-9,dngo,Lab 1\n'
    roster.save_roster_draft(competition=pets, user=ada, file_name="canvas.csv", data=listed.decode())
    roster.apply_roster(competition=pets, user=ada)
    enter(pets, person("dngo"))
    assert 'value="Dee Ngo · 9"' in hers.get(WHO).content.decode()
    assert entry("Dee Ngo").user is None, "anybody can call an account so"


def test_who_may_stand_twice_among_the_grades_is_said_until_ada_says_who_is_who(
    hers: Client, pets: Competition, bo: User, cy: User
) -> None:
    pages = [f"/host/pets/grades/{page}" for page in ("", "canvas/", "release/")]
    set_rules(pets)
    assert not any(
        "with a grade, and on the roster without submissions" in hers.get(page).content.decode() for page in pages
    )
    first, second = enter(pets, bo), enter(pets, cy)
    for page in pages:
        assert "2 accounts aren" in hers.get(page).content.decode(), page
    hers.post(WHO, {f"who-{first.pk}": "Bo Berg", f"who-{second.pk}": "Cy Clay"})
    assert not any(
        "with a grade, and on the roster without submissions" in hers.get(page).content.decode() for page in pages
    )


@pytest.mark.parametrize("words", ["Cy Clay", "8", "CLAY@example.org", " cy  clay "])
def test_a_person_is_found_by_name_number_or_address(hers: Client, pets: Competition, cy: User, words: str) -> None:
    membership = enter(pets, cy)
    hers.post(WHO, {f"who-{membership.pk}": words})
    assert entry("Cy Clay").user == cy


def test_words_for_nobody_are_refused_and_kept_and_nothing_is_changed(
    hers: Client, pets: Competition, bo: User, cy: User
) -> None:
    his, theirs = enter(pets, bo), enter(pets, cy)
    answer = hers.post(WHO, {f"who-{his.pk}": "Bo Berg", f"who-{theirs.pk}": "Dee Dorn"})
    assert answer.status_code == 422
    assert "“Dee Dorn” isn" in answer.content.decode()
    assert 'value="Dee Dorn"' in answer.content.decode()
    assert entry("Bo Berg").user is None


def test_two_accounts_are_not_one_person(hers: Client, pets: Competition, bo: User, cy: User) -> None:
    his, theirs = enter(pets, bo), enter(pets, cy)
    answer = hers.post(WHO, {f"who-{his.pk}": "Bo Berg", f"who-{theirs.pk}": "7"})
    assert answer.status_code == 422
    assert "Two accounts for one person" in answer.content.decode()
    with pytest.raises(competitions.CannotHost):
        people.link_accounts(
            competition=pets, pairs={his.pk: entry("Bo Berg").pk, theirs.pk: entry("Bo Berg").pk}, user=bo
        )
    assert entry("Bo Berg").user is None


def test_nothing_filled_in_is_said(hers: Client, pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    assert "Match at least one account" in hers.post(WHO, {f"who-{membership.pk}": ""}).content.decode()


def test_nobody_is_taken_from_somebody_and_nobody_of_another_class_is_taken(
    hers: Client, pets: Competition, bo: User, cy: User
) -> None:
    his, theirs = enter(pets, bo), enter(pets, cy)
    number = entry("Bo Berg").pk
    people.link_accounts(competition=pets, pairs={his.pk: number}, user=None)
    for pairs in ({theirs.pk: number}, {his.pk: entry("Cy Clay").pk}, {10**6: entry("Cy Clay").pk}):
        with pytest.raises(competitions.CannotHost, match="Nothing was changed"):
            people.link_accounts(competition=pets, pairs=pairs, user=None)
    assert entry("Bo Berg").user == bo


def test_a_join_join_card_ends_when_its_person_has_an_account(hers: Client, pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    people.make_join_cards(competition=pets, entries=[entry("Bo Berg").pk], user=None)
    people.link_accounts(competition=pets, pairs={membership.pk: entry("Bo Berg").pk}, user=None)
    assert entry("Bo Berg").join_card_digest == ""


def test_a_wrong_account_is_taken_off_again_and_keeps_its_team(hers: Client, pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    people.link_accounts(competition=pets, pairs={membership.pk: entry("Bo Berg").pk}, user=None)
    answer = hers.post(WHO, {"action": "part", "entry": entry("Bo Berg").pk}, follow=True)
    assert "1 account unlinked." in answer.content.decode()
    assert entry("Bo Berg").user is None
    assert pets.memberships.get().user == bo
    assert AuditEntry.objects.filter(event=AuditEvent.ROSTER_CHANGED.value).count() == 2


def test_the_page_asks_the_database_no_more_for_a_large_class(hers: Client, pets: Competition) -> None:
    for number in range(60):
        enter(pets, person(f"guest{number}"))
    hers.get(WHO)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert "60 accounts not on the roster" in hers.get(WHO).content.decode()
    assert len(asked) <= 12
