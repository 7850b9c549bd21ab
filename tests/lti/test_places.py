"""Where a launch leads: students into the competition, teachers to their page, others nowhere."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.classroom.joining import enter_competition
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.clock import database_now
from leaderboard.competitions.models import Competition, Membership
from leaderboard.competitions.services import bin_competition
from leaderboard.lti import people
from leaderboard.lti.launching import CLAIM, TEST_USER
from leaderboard.lti.models import LtiLink, LtiPerson, Platform, Seat
from tests.conftest import make_competition, person
from tests.lti.platforms import INSTRUCTOR, LEARNER, FakePlatform, hidden_fields

pytestmark = pytest.mark.django_db


@pytest.fixture
def moodle() -> FakePlatform:
    fake = FakePlatform()
    fake.approve()
    return fake


def allow(fake: FakePlatform, **ticks: bool) -> None:
    Platform.objects.filter(pk=fake.platform.pk).update(**ticks)


def connected(fake: FakePlatform, ada: User, **fields: Any) -> Competition:
    """Ada's competition, connected with the activity of her platform's course."""
    competition = make_competition(ada, **fields)
    LtiPerson.objects.create(platform=fake.platform, subject="ada", user=ada)
    client = Client()
    assert fake.launch(client, "ada", roles=INSTRUCTOR)["Location"] == "/lti/connect/"
    answer = client.post("/lti/connect/", {"competition": competition.slug})
    assert answer["Location"] == f"/host/{competition.slug}/"
    return competition


def account_of(client: Client) -> User | None:
    number = client.session.get("_auth_user_id")
    return User.objects.get(pk=number) if number else None


def test_a_student_is_in_the_competition_in_two_clicks(moodle: FakePlatform, ada: User) -> None:
    pets = connected(moodle, ada)
    client = Client()
    answer = moodle.launch(client, "bo")
    assert (answer.status_code, answer["Location"]) == (303, f"/c/{pets.slug}/")
    bo = account_of(client)
    assert bo is not None
    assert (bo.get_full_name(), bo.has_usable_password()) == ("Bo Example", False)
    assert Membership.objects.filter(competition=pets, user=bo).exists()
    entry = RosterEntry.objects.get(course=pets.course, user=bo)
    assert entry.name == "Bo Example"
    assert not EmailAddress.objects.filter(user=bo, verified=True).exists()


def test_the_second_launch_finds_the_same_account(moodle: FakePlatform, ada: User) -> None:
    connected(moodle, ada)
    first, second = Client(), Client()
    moodle.launch(first, "bo")
    moodle.launch(second, "bo")
    assert account_of(first) == account_of(second)
    assert Membership.objects.count() == 1


def test_a_launch_takes_the_place_of_somebody_else_in_this_browser(moodle: FakePlatform, ada: User, cy: User) -> None:
    connected(moodle, ada)
    client = Client()
    client.force_login(cy)
    key = client.session.session_key
    moodle.launch(client, "bo")
    account = account_of(client)
    assert account is not None
    assert account != cy
    assert client.session.session_key != key


def test_a_student_before_the_teacher_reads_that_it_is_not_connected(moodle: FakePlatform) -> None:
    answer = moodle.launch(Client(), "bo")
    assert answer.status_code == 403
    assert not User.objects.exists()
    assert not LtiLink.objects.exists()


def test_a_student_on_the_list_finds_the_account_that_the_list_names(moodle: FakePlatform, ada: User, bo: User) -> None:
    pets = connected(moodle, ada)
    RosterEntry.objects.create(course=pets.course, name="Bo", user=bo, lms_user=f"{moodle.platform.pk}:bo")
    client = Client()
    moodle.launch(client, "bo")
    assert account_of(client) == bo


@pytest.mark.parametrize("vouches", [True, False])
def test_an_address_finds_an_account_only_where_both_sides_confirm_it(
    vouches: bool, moodle: FakePlatform, ada: User, bo: User
) -> None:
    connected(moodle, ada)
    allow(moodle, vouches_for_addresses=vouches)
    EmailAddress.objects.create(user=bo, email="bo@uni.example", verified=True, primary=True)
    client = Client()
    moodle.launch(client, "bo")
    assert (account_of(client) == bo) is vouches
    bo.refresh_from_db()
    assert bo.has_usable_password() is not vouches


@pytest.mark.parametrize("power", ["is_superuser", "can_host"])
def test_an_address_never_leads_to_a_hosts_or_operators_account(power: str, moodle: FakePlatform, ada: User) -> None:
    connected(moodle, ada)
    allow(moodle, vouches_for_addresses=True)
    olga = person("olga", **{power: True})
    EmailAddress.objects.create(user=olga, email="olga@uni.example", verified=True, primary=True)
    client = Client()
    moodle.launch(client, "olga")
    assert account_of(client) != olga
    olga.refresh_from_db()
    assert olga.has_usable_password()


def test_an_operator_or_a_person_with_a_second_factor_signs_in_with_it(
    moodle: FakePlatform, ada: User, bo: User
) -> None:
    pets = connected(moodle, ada)
    LtiPerson.objects.create(platform=moodle.platform, subject="bo", user=bo)
    TOTP.activate(bo, generate_totp_secret())
    RecoveryCodes.activate(bo)
    client = Client()
    answer = moodle.launch(client, "bo")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")
    assert f"/c/{pets.slug}/" in answer["Location"]
    assert account_of(client) is None


def test_a_blocked_account_does_not_come_in(moodle: FakePlatform, ada: User, bo: User) -> None:
    connected(moodle, ada)
    LtiPerson.objects.create(platform=moodle.platform, subject="bo", user=bo)
    User.objects.filter(pk=bo.pk).update(is_active=False)
    client = Client()
    assert moodle.launch(client, "bo").status_code == 403
    assert account_of(client) is None


def test_after_the_deadline_a_student_sees_the_competition_and_is_not_in_it(moodle: FakePlatform, ada: User) -> None:
    pets = connected(moodle, ada)
    opened_at = pets.opens_at - timedelta(days=9)
    Competition.objects.filter(pk=pets.pk).update(opens_at=opened_at, closes_at=opened_at + timedelta(days=1))
    client = Client()
    answer = moodle.launch(client, "bo")
    assert answer["Location"] == f"/c/{pets.slug}/"
    assert not Membership.objects.exists()


def test_a_teacher_who_hosts_comes_to_the_dashboard_and_another_one_does_not(moodle: FakePlatform, ada: User) -> None:
    pets = connected(moodle, ada)
    assert moodle.launch(Client(), "ada", roles=INSTRUCTOR)["Location"] == f"/host/{pets.slug}/"
    before = User.objects.count()
    assert moodle.launch(Client(), "dee", roles=INSTRUCTOR).status_code == 403
    assert User.objects.count() == before


def test_a_new_teacher_makes_a_competition_only_where_the_operator_said_so(moodle: FakePlatform) -> None:
    client = Client()
    moodle.launch(client, "dee", roles=INSTRUCTOR)
    client.post("/lti/connect/", {"competition": "new"})
    dee = account_of(client)
    assert dee is not None
    assert not dee.can_host
    allow(moodle, teachers_may_host=True)
    assert client.post("/lti/connect/", {"competition": "new"})["Location"] == "/host/new/"
    dee.refresh_from_db()
    assert dee.can_host


def test_nobody_connects_an_activity_with_a_competition_of_another(moodle: FakePlatform, ada: User) -> None:
    pets = make_competition(ada)
    client = Client()
    moodle.launch(client, "dee", roles=INSTRUCTOR)
    client.post("/lti/connect/", {"competition": pets.slug})
    assert not LtiLink.objects.exclude(competition=None).exists()
    assert Client().get("/lti/connect/").status_code == 302
    other = Client()
    other.force_login(ada)
    assert other.get("/lti/connect/").status_code == 404


def test_an_activity_stays_with_its_competition(moodle: FakePlatform, ada: User) -> None:
    pets = connected(moodle, ada)
    other = make_competition(ada, slug="other")
    client = Client()
    moodle.launch(client, "ada", roles=INSTRUCTOR)
    client.post("/lti/connect/", {"competition": other.slug})
    assert LtiLink.objects.get().competition == pets


def test_custom_parameters_of_a_launch_name_no_competition(moodle: FakePlatform, ada: User) -> None:
    connected(moodle, ada)
    other = make_competition(ada, slug="other")
    custom: Any = {CLAIM + "custom": {"competition": other.slug}}
    moodle.launch(Client(), "bo", **custom)
    assert not Membership.objects.filter(competition=other).exists()


def test_lecture_and_lab_are_two_links_to_one_competition(moodle: FakePlatform, ada: User) -> None:
    pets = connected(moodle, ada)
    lab: Any = {CLAIM + "context": {"id": "c-2", "title": "Lab"}, CLAIM + "resource_link": {"id": "r-9"}}
    teacher = Client()
    moodle.launch(teacher, "ada", roles=INSTRUCTOR, **lab)
    teacher.post("/lti/connect/", {"competition": pets.slug})
    moodle.launch(Client(), "bo")
    moodle.launch(Client(), "bo", **lab)
    seat = Seat.objects.get()
    assert seat.link.context == "c-2"
    moodle.launch(Client(), "cy", **lab)
    assert RosterEntry.objects.get(name="Cy Example").section == "Lab"


def test_two_people_with_one_address_are_two_accounts(moodle: FakePlatform, ada: User) -> None:
    connected(moodle, ada)
    first, second = Client(), Client()
    moodle.launch(first, "bo")
    moodle.launch(second, "bo2", email="bo@uni.example")
    assert account_of(first) != account_of(second)
    assert RosterEntry.objects.count() == 2


def has_earlier_account(fake: FakePlatform, subject: str, *, earlier: User, roles: list[str] = INSTRUCTOR) -> Client:
    """The browser of a person after a first launch, in which they have signed in with the account that they had."""
    client = Client()
    fake.launch(client, subject, roles=roles)
    assert client.get("/lti/account/")["Location"].startswith("/accounts/login/")
    client.force_login(earlier)
    return client


def test_a_teacher_connects_the_account_that_she_had_and_the_competition_in_one_step(
    moodle: FakePlatform, ada: User
) -> None:
    make_competition(ada)
    client = has_earlier_account(moodle, "ada.lms", earlier=ada)
    made = LtiPerson.objects.get().user
    assert made.username in client.get("/lti/connect/").content.decode()
    assert client.post("/lti/connect/", {"competition": "pets"})["Location"] == "/host/pets/"
    assert LtiPerson.objects.get().user == ada
    assert not User.objects.filter(pk=made.pk).exists()
    assert LtiLink.objects.get().competition is not None


def test_a_teacher_without_a_competition_connects_the_account_that_she_had(moodle: FakePlatform, ada: User) -> None:
    client = has_earlier_account(moodle, "ada.lms", earlier=ada)
    assert client.post("/lti/connect/")["Location"] == "/lti/connect/"
    assert LtiPerson.objects.get().user == ada
    assert client.get("/lti/connect/").status_code == 200


def test_a_student_who_connects_the_account_that_they_had_is_in_the_competition(
    moodle: FakePlatform, ada: User, bo: User
) -> None:
    pets = connected(moodle, ada)
    client = has_earlier_account(moodle, "bo.lms", earlier=bo, roles=LEARNER)
    assert client.post("/lti/connect/")["Location"] == "/c/pets/"
    assert list(Membership.objects.filter(competition=pets).values_list("user", flat=True)) == [bo.pk]
    assert list(pets.course.roster.values_list("user", flat=True)) == [bo.pk]
    assert Seat.objects.get().user == bo


def test_a_teacher_who_may_host_connects_the_account_that_she_had(moodle: FakePlatform, ada: User) -> None:
    """She pressed "New competition" before she saw the other link."""
    allow(moodle, teachers_may_host=True)
    client = Client()
    moodle.launch(client, "ada.lms", roles=INSTRUCTOR)
    client.post("/lti/connect/", {"competition": "new"})
    client.get("/lti/account/")
    client.force_login(ada)
    client.post("/lti/connect/")
    assert LtiPerson.objects.get().user == ada


def test_an_account_is_connected_in_the_browser_of_the_launch_alone(moodle: FakePlatform, ada: User) -> None:
    """Else Dee could have Ada press a button by which Dee's launches open Ada's account."""
    attacker, victim = Client(), Client()
    moodle.launch(attacker, "dee", roles=INSTRUCTOR)
    attacker.get("/lti/account/")
    victim.force_login(ada)
    assert victim.get("/lti/account/").status_code == 404
    assert victim.post("/lti/connect/").status_code == 404
    assert LtiPerson.objects.get().user != ada


def test_an_account_is_connected_once(moodle: FakePlatform, ada: User, cy: User) -> None:
    client = has_earlier_account(moodle, "ada.lms", earlier=ada)
    assert client.post("/lti/connect/").status_code == 303
    client.force_login(cy)
    assert client.post("/lti/connect/").status_code == 404
    assert LtiPerson.objects.get().user == ada


def test_a_host_cannot_get_at_what_a_student_has_elsewhere_by_the_class_list(
    moodle: FakePlatform, ada: User, bo: User
) -> None:
    """Ada may write any person of her platform into Bo's row, also one that she can launch as."""
    pets = connected(moodle, ada)
    other = make_competition(person("eve", can_host=True), slug="other")
    enter_competition(user=bo, competition=other)
    RosterEntry.objects.create(course=pets.course, name="Bo", user=bo, lms_user=f"{moodle.platform.pk}:adas-test")
    client = Client()
    moodle.launch(client, "adas-test")
    assert account_of(client) not in (None, bo)


def test_an_address_that_a_campus_gave_away_again_opens_no_account_of_the_one_who_had_it(
    moodle: FakePlatform, ada: User, bo: User
) -> None:
    connected(moodle, ada)
    allow(moodle, vouches_for_addresses=True)
    EmailAddress.objects.create(user=bo, email="bo@uni.example", verified=True, primary=True)
    LtiPerson.objects.create(platform=moodle.platform, subject="bo-who-left", user=bo)
    client = Client()
    moodle.launch(client, "bo")
    assert account_of(client) not in (None, bo)


def test_a_teacher_in_the_student_view_has_no_part(moodle: FakePlatform, ada: User) -> None:
    connected(moodle, ada)
    before = User.objects.count()
    assert moodle.launch(Client(), "view", roles=[*LEARNER, TEST_USER]).status_code == 403
    assert User.objects.count() == before


def test_a_teacher_who_does_not_host_reads_whom_to_ask(moodle: FakePlatform, ada: User) -> None:
    connected(moodle, ada, contact="Room 7")
    page = moodle.launch(Client(), "dee", roles=INSTRUCTOR).content.decode()
    assert "ada" in page
    assert "Room 7" in page


def test_two_launches_of_a_new_person_at_once_are_one_account(
    moodle: FakePlatform, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected(moodle, ada)
    moodle.launch(Client(), "bo")
    find, calls = people.find_account, list[None]()

    def find_too_early(launch: Any, course: Any) -> User | None:
        calls.append(None)
        return None if len(calls) == 1 else find(launch, course)

    monkeypatch.setattr(people, "find_account", find_too_early)
    client = Client()
    assert moodle.launch(client, "bo").status_code == 303
    assert account_of(client) == LtiPerson.objects.get(subject="bo").user
    assert User.objects.filter(first_name="Bo").count() == 1


def test_a_launch_while_the_class_list_is_imported_goes_on(
    moodle: FakePlatform, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    pets, now, imported = connected(moodle, ada), database_now, list[bool]()

    def import_meanwhile() -> Any:
        if not imported:
            imported.append(True)
            RosterEntry.objects.create(course=pets.course, name="Bo", lms_user=f"{moodle.platform.pk}:bo")
        return now()

    monkeypatch.setattr("leaderboard.lti.people.database_now", import_meanwhile)
    assert moodle.launch(Client(), "bo").status_code == 303
    assert RosterEntry.objects.count() == 1


def test_an_activity_whose_competition_was_deleted_is_connected_with_another(moodle: FakePlatform, ada: User) -> None:
    pets = connected(moodle, ada)
    moodle.launch(Client(), "bo")
    other = make_competition(ada, slug="other")
    bin_competition(competition=pets, user=ada)
    client = Client()
    moodle.launch(client, "ada", roles=INSTRUCTOR)
    assert client.post("/lti/connect/", {"competition": other.slug})["Location"] == f"/host/{other.slug}/"
    assert LtiLink.objects.get().competition == other
    assert not Seat.objects.exists()


def test_a_launch_in_a_frame_offers_a_window_of_its_own(moodle: FakePlatform) -> None:
    asked = {"iss": moodle.address, "login_hint": "7", "target_link_uri": "http://testserver/lti/launch/"}
    answer = Client().post("/lti/login/", asked, headers={"Sec-Fetch-Dest": "iframe"})
    assert answer.status_code == 200
    assert not answer.cookies
    assert "<form" not in answer.content.decode()
    assert not hidden_fields(answer.content.decode())
