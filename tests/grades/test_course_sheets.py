"""A course's grade adds up what its competitions have released, by weight."""

from __future__ import annotations

import time
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import courses
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions.models import Competition, Course, Membership, Team
from leaderboard.competitions.services import CannotHost
from leaderboard.grades import by_hand, course_sheets
from leaderboard.grades import services as grade_services
from leaderboard.grades.models import Grade, GradeRelease, SavedRules
from leaderboard.notifications.models import Notice
from tests.conftest import answers, enter, make_competition, submit, with_clock
from tests.grades.test_services import LATE, add_baseline, late, set_rules
from tests.pages import signed_in, text_of

WEIGHTS = {"parts": [{"competition": "pets", "weight": 60}, {"competition": "birds", "weight": 40}], "decimals": 1}


@pytest.fixture
def birds(pets: Competition, ada: User) -> Competition:
    """A second competition in the course of `pets`, with a later deadline."""
    made = make_competition(ada, slug="birds", title="Birds", closes_at=timezone.now() + timedelta(days=2))
    courses.move_competition(competition=made, course=pets.course, user=ada)
    return Competition.objects.get(pk=made.pk)


def end(competition: Competition, *, days_ago: float) -> None:
    closes_at = timezone.now() - timedelta(days=days_ago)
    Competition.objects.filter(pk=competition.pk).update(opens_at=closes_at - timedelta(days=9), closes_at=closes_at)
    competition.refresh_from_db()


def release(competition: Competition) -> None:
    boards.reveal_competition(competition=competition)
    grade_services.release_grades(graded=competition, user=None)


def marks(course: Course) -> dict[str, float | None]:
    return {row.student.username: row.mark.points for row in course_sheets.course_sheet(course).rows}


def weigh(course: Course, **values: Any) -> None:
    grade_services.set_grade_rules(graded=course, values={**WEIGHTS, **values}, user=None)


@pytest.fixture
def term(pets: Competition, birds: Competition, bo: User, cy: User) -> Course:
    """Bo has 50 and 100 of 100; Cy 100 in the first alone."""
    for competition, people in ((pets, {bo: 3, cy: 0}), (birds, {bo: 0})):
        set_rules(competition)
        for someone, wrong in people.items():
            enter(competition, someone)
            submit(competition, someone, answers(private=wrong))
    end(pets, days_ago=9)
    end(birds, days_ago=5)
    for competition in (pets, birds):
        release(competition)
    return pets.course


def test_shares_of_released_marks_count_by_weight_and_no_mark_counts_0(term: Course) -> None:
    weigh(term)
    assert marks(term) == {"bo": 70, "cy": 60}
    row = next(row for row in course_sheets.course_sheet(term).rows if row.student.username == "bo")
    assert row.mark.explanation == (
        "Cats or dogs: 50 of 100, 30 of 60 here. Birds: 100 of 100, 40 of 40 here. Together 70."
    )


def test_the_lowest_is_dropped_and_a_bonus_stays_below_the_cap(term: Course, bo: User) -> None:
    weigh(term, drop_lowest=1)
    assert marks(term) == {"bo": 40, "cy": 60}
    weigh(term, out_of=100, cap=102, plus=[{"name": "Talk", "of": "by_hand"}])
    by_hand.set_hand_points(graded=term, points={(bo.pk, "Talk"): Fraction("33.5")}, user=None)
    assert marks(term) == {"bo": 102, "cy": 60}


def test_a_mark_that_ada_sets_for_the_course_comes_last(term: Course, ada: User, cy: User) -> None:
    weigh(term)
    by_hand.set_override(graded=term, student=cy, points=Fraction(90), reason="Illness", user=ada)
    assert marks(term) == {"bo": 70, "cy": 90}


def test_the_course_is_released_after_its_competitions_and_freezes(
    term: Course, pets: Competition, ada: User, bo: User
) -> None:
    weigh(term)
    grade_services.withdraw_grades(graded=pets, user=None)
    with pytest.raises(CannotHost) as refused:
        grade_services.release_grades(graded=term, user=ada)
    assert refused.value.details == ["Release the grades of “Cats or dogs” first."]
    for page, following in (("grades/", "/host/pets/grades/"), ("grades/release/", "/host/pets/grades/release/")):
        assert f'href="{following}"' in signed_in(ada).get(f"/course/{term.slug}/{page}").content.decode()
    grade_services.release_grades(graded=pets, user=None)
    grade_services.release_grades(graded=term, user=ada)
    assert Notice.objects.filter(user=bo).latest("pk").link == f"/course/{term.slug}/grade/"
    weigh(term, drop_lowest=1)
    student, host = Client(), Client()
    student.force_login(bo)
    host.force_login(ada)
    page = f"/course/{term.slug}/"
    assert "70.0" in student.get(f"{page}grade/").content.decode()
    assert f"{page}grade/" in student.get(page).content.decode()
    assert "2 grades would change" not in host.get(f"{page}grades/").content.decode()
    assert "1 grade would change" in host.get(f"{page}grades/").content.decode()
    host.post(f"{page}grades/release/", {"action": "withdraw"})
    assert "No grade yet" in student.get(f"{page}grade/").content.decode()
    assert student.get(f"{page}grades/").status_code == 404
    assert GradeRelease.objects.get(course=term).number == 1


def test_ada_sets_weights_by_clicks_and_faults_are_named(term: Course, ada: User) -> None:
    client = Client()
    client.force_login(ada)
    page = f"/course/{term.slug}/grades/rules/"
    assert 'value="50"' in client.get(page).content.decode()
    form = {"weight-pets": "60", "weight-birds": "-4", "decimals": "1", "action": "save"}
    response = client.post(page, form)
    assert response.status_code == 409
    assert "a weight can&#x27;t be negative." in response.content.decode()
    assert client.post(page, {**form, "weight-birds": "40", "periods": "3", "most": "2"}).status_code == 303
    assert SavedRules.objects.get(course=term).values["slack"] == {"periods": 3, "most": 2}
    for kind in ("plain", "moodle", "brightspace"):
        response = client.get(f"/course/{term.slug}/grades/files/{kind}.csv")
        assert response.status_code == 200, kind
        assert b"70.0" in response.content or kind == "brightspace"
    assert client.get(f"/course/{term.slug}/grades/canvas/").status_code == 200


def course_page(course: Course, someone: User) -> str:
    return text_of(signed_in(someone).get(f"/course/{course.slug}/"))


def test_late_days_are_used_in_the_order_of_deadlines_and_only_where_they_help(
    pets: Competition, birds: Competition, bo: User
) -> None:
    weigh(pets.course, slack={"periods": 3})
    for competition, days_ago in ((pets, 9), (birds, 5)):
        set_rules(competition, late=LATE)
        enter(competition, bo)
        file = submit(competition, bo, answers())
        end(competition, days_ago=days_ago)
        late(file, competition, hours=47)
        boards.reveal_competition(competition=competition)
    with pytest.raises(CannotHost) as refused:
        grade_services.release_grades(graded=birds, user=None)
    assert "Release the grades of “Cats or dogs” first" in refused.value.details[0]
    grade_services.release_grades(graded=pets, user=None)
    assert "1 of 3 late days left. 2 used in Cats or dogs." in course_page(pets.course, bo)
    grade_services.release_grades(graded=birds, user=None)
    page = course_page(pets.course, bo)
    assert "0 of 3 late days left." in page
    assert "1 used in Birds." in page
    given = Grade.objects.order_by("release__competition__closes_at").values_list("points", "slack")
    assert list(given) == [(100, 2), (90, 1)]
    assert marks(pets.course) == {"bo": 96}


# Of CMU 11-785, fall 2025: fixed and moving cut-offs, an early deadline, late days for the term.
CMU = {
    "cap": 105,
    "no_file": "zero",
    "terms": [{"name": "Score", "of": "score", "line": [[{"baseline": "low"}, 50], [{"class": "best"}, 105]]}],
    "factors": [{"name": "Early", "of": "files", "until": -240, "steps": [[1, 100]], "below": 90}],
    "late": {"every_hours": 24, "off": [10], "then": "stay"},
}


@pytest.fixture
def large(ada: User) -> Course:
    """500 students in 8 competitions, all of them released."""
    course = make_competition(ada, slug="c0", title="c0").course
    people = User.objects.bulk_create([User(username=f"s{number}") for number in range(500)])
    RosterEntry.objects.bulk_create(RosterEntry(course=course, user=one, name=one.username) for one in people)
    for number in range(1, 8):
        make_competition(ada, slug=f"c{number}", title=f"c{number}", course=course)
    weigh(
        course,
        parts=[{"competition": f"c{number}", "weight": "12.5"} for number in range(8)],
        drop_lowest=1,
        slack={"periods": 10, "most": 7},
    )
    for number, competition in enumerate(course.competitions.order_by("slug")):
        add_baseline(competition, "low", private=3)
        rules = set_rules(competition, **CMU).as_json()
        facts = {"number": 1, "rules": rules, "ground_truth_number": 1}
        made_release = GradeRelease.objects.create(competition=competition, **facts)
        Grade.objects.bulk_create(Grade(release=made_release, user=someone, points=77.5) for someone in people)
        teams = Team.objects.bulk_create(
            Team(competition=competition, name=someone.username, invitation=f"{competition.pk}-{someone.pk}")
            for someone in people
        )
        Membership.objects.bulk_create(
            Membership(competition=competition, user=someone, team=team)
            for someone, team in zip(people, teams, strict=True)
        )
        end(competition, days_ago=20 - number)
        boards.reveal_competition(competition=competition)
        by_hand.set_override(graded=competition, student=people[0], points=Fraction(90), reason="Illness", user=ada)
    grade_services.release_grades(graded=course, user=ada)
    return course


def test_a_course_of_500_students_and_8_competitions_takes_a_second_and_twelve_questions(
    large: Course, ada: User
) -> None:
    begun = time.process_time()
    assert set(marks(large).values()) == {67.8}
    assert time.process_time() - begun < 1
    student = User.objects.get(username="s1")
    rooms = [f"/course/{large.slug}/grades/", "/host/c7/grades/"]
    about_grades = ("", "rules/", "points/", "canvas/", "release/", f"of/{student.pk}/")
    pages = [(ada, room + page) for room in rooms for page in about_grades]
    pages += [(ada, f"/course/{large.slug}/"), (ada, "/host/c7/people/")]
    pages += [(student, f"/course/{large.slug}/"), (student, f"/course/{large.slug}/grade/"), (student, "/c/c7/grade/")]
    asked = {}
    for someone, page in pages:
        client = Client()
        client.force_login(someone)
        assert client.get(page).status_code == 200, page
        with CaptureQueriesContext(connection) as queries:
            client.get(page)
        asked[someone.username, page] = len(queries)
    assert {page: number for page, number in asked.items() if number > with_clock(12)} == {}
