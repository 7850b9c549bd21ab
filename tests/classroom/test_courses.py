"""A course: one class list, several competitions, and who may see what of it."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.accounts.personal_data import delete_account, export_account
from leaderboard.classroom import courses, roster
from leaderboard.classroom.models import RosterDraft, RosterEntry
from leaderboard.classroom.teams import CannotJoin
from leaderboard.competitions.models import Competition, Course, Membership
from leaderboard.competitions.services import CannotHost
from tests.conftest import answers, close, enter, make_competition, person, submit
from tests.pages import signed_in, text_of

LIST = "name,email,student id\nBo Berg,bo@example.org,7\nCy Clay,cy@example.org,8\n"


@pytest.fixture
def pets(ada: User, bo: User, cy: User) -> Competition:
    """STAT 451 with its list; Bo and Cy compete in the first competition."""
    pets = make_competition(ada, course="STAT 451")
    for student in (bo, cy):
        student.emailaddress_set.update_or_create(email=student.email, defaults={"verified": True})  # type: ignore[attr-defined]
        enter(pets, student)
    roster.save_roster_draft(competition=pets, user=ada, file_name="class.csv", data=LIST)
    roster.apply_roster(competition=pets, user=ada)
    return pets


@pytest.fixture
def birds(pets: Competition, ada: User) -> Competition:
    return make_competition(ada, slug="birds", title="Birds", course=pets.course)


def test_a_student_on_the_list_enters_a_further_competition_without_a_code(birds: Competition, bo: User) -> None:
    client = signed_in(bo)
    assert "/c/birds/join/" in client.get("/").content.decode()
    assert client.get("/join/?competition=birds").headers["Location"] == "/c/birds/join/"
    assert client.get("/c/birds/").status_code == 200
    answer = client.post("/c/birds/join/", {"accepted": "on"})
    assert answer.headers["Location"] == "/c/birds/"
    assert Membership.objects.get(competition=birds, user=bo).has_accepted_rules()
    assert RosterEntry.objects.get(user=bo).name == "Bo Berg"


def test_a_stranger_of_the_course_neither_sees_nor_enters_it(birds: Competition, dee: User) -> None:
    client = signed_in(dee)
    assert client.get("/c/birds/").status_code == 404
    assert client.get("/c/birds/join/").status_code == 404
    assert client.get(f"/course/{birds.course.slug}/").status_code == 404
    with pytest.raises(CannotJoin, match="join code"):
        courses.enter_from_course(user=dee, competition=birds)


def test_a_course_with_the_same_title_is_another_course(birds: Competition, dee: User, bo: User) -> None:
    hal = person("hal", can_host=True)
    other = make_competition(hal, slug="hers", title="Hers", course="STAT 451")
    enter(other, dee)
    assert other.course.slug != birds.course.slug
    assert signed_in(dee).get(f"/course/{birds.course.slug}/").status_code == 404
    assert signed_in(bo).get(f"/course/{other.course.slug}/").status_code == 404
    assert "Birds" not in text_of(signed_in(dee).get("/"))


def test_who_has_left_the_course_needs_a_code_again(birds: Competition, bo: User) -> None:
    RosterEntry.objects.filter(user=bo).update(left_at="2020-01-01T00:00:00+00:00")
    with pytest.raises(CannotJoin, match="join code"):
        courses.enter_from_course(user=bo, competition=birds)


def test_a_draft_and_an_ended_competition_cannot_be_entered(pets: Competition, ada: User, bo: User) -> None:
    draft = make_competition(ada, slug="draft", title="Draft", course=pets.course, launched=False)
    ended = make_competition(ada, slug="ended", title="Ended", course=pets.course)
    close(ended)
    with pytest.raises(CannotJoin, match="join code"):
        courses.enter_from_course(user=bo, competition=draft)
    with pytest.raises(CannotJoin, match="deadline"):
        courses.enter_from_course(user=bo, competition=ended)


def test_a_student_reads_the_page_of_the_course(birds: Competition, ada: User, bo: User) -> None:
    make_competition(ada, slug="draft", title="Secret draft", course=birds.course, launched=False)
    page = text_of(signed_in(bo).get(f"/course/{birds.course.slug}/"))
    assert "STAT 451" in page
    assert "Cats or dogs" in page
    assert "Birds" in page
    assert "Secret draft" not in page
    assert "Add a competition" not in page


def test_a_host_adds_a_competition_with_the_people_and_limits_of_the_last_one(
    pets: Competition, ada: User, dee: User
) -> None:
    hal = person("hal", can_host=True)
    pets.hosts.add(hal)
    pets.assistants.add(dee)
    pets.limits.daily_attempts = 3
    pets.limits.save()
    host = signed_in(ada)
    assert "Add a competition" in text_of(host.get(f"/course/{pets.course.slug}/"))
    where = host.post(f"/course/{pets.course.slug}/add/").headers["Location"]
    draft = Competition.objects.get(slug=where.split("/")[2])
    assert draft.course == pets.course
    assert set(draft.hosts.all()) == {ada, hal}
    assert list(draft.assistants.all()) == [dee]
    assert draft.limits.daily_attempts == 3
    assert draft.admission.join_code != pets.admission.join_code


def test_who_hosts_nothing_of_the_course_adds_nothing(pets: Competition, bo: User, dee: User) -> None:
    pets.assistants.add(dee)
    for user, status in ((bo, 404), (dee, 403)):
        assert signed_in(user).post(f"/course/{pets.course.slug}/add/").status_code == status
    with pytest.raises(CannotHost):
        courses.new_competition_in(course=pets.course, user=dee)
    assert Competition.objects.count() == 1


def test_a_moved_competition_brings_its_class_list(pets: Competition, ada: User, bo: User) -> None:
    term = make_competition(ada, slug="term", title="Term", course="STAT 452")
    term.course.roster.create(name="Bo Berg", email="BO@example.org", section="Lab 2")
    old = pets.course
    courses.move_competition(competition=pets, course=term.course, user=ada)
    pets.refresh_from_db()
    assert pets.course == term.course
    assert not Course.objects.filter(pk=old.pk).exists()
    entries = {entry.name: entry for entry in term.course.roster.all()}
    assert set(entries) == {"Bo Berg", "Cy Clay"}
    assert (entries["Bo Berg"].user, entries["Bo Berg"].section) == (bo, "Lab 2")
    assert entries["Bo Berg"].student_id == "7"
    assert pets.memberships.count() == 2


def test_one_of_several_takes_only_its_members_along(birds: Competition, ada: User, bo: User) -> None:
    enter(birds, bo)
    old = birds.course
    courses.move_competition(competition=birds, course=None, user=ada)
    birds.refresh_from_db()
    assert birds.course != old
    assert list(birds.course.roster.values_list("name", "user")) == [("Bo Berg", bo.pk)]
    assert old.roster.count() == 2


def test_two_accounts_of_one_person_are_named_and_nothing_is_moved(pets: Competition, ada: User, dee: User) -> None:
    term = make_competition(ada, slug="term", title="Term")
    term.course.roster.create(name="Bo Berg", student_id="7", user=dee)
    before = list(RosterEntry.objects.values())
    with pytest.raises(CannotHost) as refusal:
        courses.move_competition(competition=pets, course=term.course, user=ada)
    assert "Bo Berg" in refusal.value.details[0]
    assert list(RosterEntry.objects.values()) == before
    assert Competition.objects.get(pk=pets.pk).course == pets.course
    page = signed_in(ada).post("/host/pets/people/course/", {"course": term.course.pk})
    assert page.status_code >= 400
    assert "Bo Berg" in text_of(page)


def test_only_who_hosts_both_moves_a_competition(pets: Competition, ada: User) -> None:
    hal = person("hal", can_host=True)
    others = make_competition(hal, slug="hers", title="Hers")
    for competition, course, user in ((pets, others.course, ada), (pets, others.course, hal)):
        with pytest.raises(CannotHost):
            courses.move_competition(competition=competition, course=course, user=user)
    assert signed_in(ada).post("/host/pets/people/course/", {"course": others.course.pk}).status_code == 422
    assert Competition.objects.get(pk=pets.pk).course == pets.course


def test_who_has_moved_it_first_wins_and_the_other_reads_why(pets: Competition, ada: User) -> None:
    term = make_competition(ada, slug="term", title="Term")
    stale = Competition.objects.get(pk=pets.pk)
    courses.move_competition(competition=pets, course=term.course, user=ada)
    with pytest.raises(CannotHost, match="just moved"):
        courses.move_competition(competition=stale, course=None, user=ada)
    with pytest.raises(CannotHost, match="just moved"):
        roster.apply_roster(competition=stale, user=ada)
    roster.save_roster_draft(competition=Competition.objects.get(pk=pets.pk), user=ada, file_name="", data=LIST)
    roster.apply_roster(competition=Competition.objects.get(pk=pets.pk), user=ada)


def test_a_teacher_with_one_competition_reads_nothing_of_courses(pets: Competition, ada: User) -> None:
    host = signed_in(ada)
    for address in ("/", "/host/pets/people/"):
        page = host.get(address).content.decode()
        assert "/course/" not in page
        assert "used by" not in page
        assert "another course" not in page


def test_the_people_page_says_whose_list_it_is(birds: Competition, ada: User, bo: User) -> None:
    page = text_of(signed_in(ada).get("/host/birds/people/"))
    assert "shared by 2 competitions" in page
    assert "Joined here" in page
    assert "Bo Berg" in page


def test_home_groups_the_competitions_of_a_course(birds: Competition, ada: User, bo: User) -> None:
    enter(birds, bo)
    make_competition(ada, slug="alone", title="Alone")
    for user in (ada, bo):
        page = signed_in(user).get("/").content.decode()
        assert page.count(f'href="/course/{birds.course.slug}/"') == 1


def test_a_submission_stays_where_it_is_when_its_competition_moves(pets: Competition, ada: User, bo: User) -> None:
    file = submit(pets, bo, answers())
    courses.move_competition(competition=pets, course=None, user=ada)
    assert submit(Competition.objects.get(pk=pets.pk), bo, answers()).competition_id == file.competition_id
    assert Membership.objects.get(user=bo).competition_id == pets.pk
    assert signed_in(ada).get("/host/pets/people/").status_code == 200


def test_pages_of_a_course_refuse_visitors(pets: Competition, client: Client) -> None:
    answer = client.get(f"/course/{pets.course.slug}/")
    assert answer.status_code == 302
    assert "/accounts/login/" in answer.headers["Location"]


def test_a_student_takes_along_what_the_class_list_holds(birds: Competition, bo: User) -> None:
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        export_account(archive, account=bo, at=timezone.now())
        (row,) = json.loads(archive.read("rosters.json"))
    assert (row["course__title"], row["name"], row["student_id"]) == ("STAT 451", "Bo Berg", "7")


def test_an_account_that_goes_leaves_nothing_in_the_course(birds: Competition, ada: User, bo: User) -> None:
    roster.save_roster_draft(competition=birds, user=ada, file_name="next.csv", data=LIST)
    delete_account(account=bo, user=None)
    assert not RosterEntry.objects.filter(name="Bo Berg").exists()
    assert not RosterDraft.objects.exists()
