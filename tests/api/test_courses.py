"""Courses, their hosts, class lists and grades for the programs of hosts; nothing for anybody else."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import ApiToken, User
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions.models import Competition
from leaderboard.grades import services as grade_services
from tests.conftest import enter, make_competition

from .conftest import ROOT, Program

HOST = ApiToken.Scope.HOST


@pytest.fixture
def birds(pets: Competition, ada: User, bo: User, dee: User) -> Competition:
    """A second competition of Ada's course, with Bo on its list and Dee as assistant."""
    birds = make_competition(ada, slug="birds", title="Birds", course=pets.course)
    birds.assistants.add(dee)
    RosterEntry.objects.create(course=pets.course, name="Bo Berg", email="bo@example.org", section="A", user=bo)
    RosterEntry.objects.create(course=pets.course, name="Eve", email="eve@example.org")
    return birds


def test_a_host_reads_the_course_its_hosts_and_its_people(birds: Competition, ada: User) -> None:
    program, slug = Program(ada, HOST), birds.course.slug
    assert program.get("courses") == (200, {"items": [{"slug": slug, "title": ""}]})
    status, course = program.get(f"courses/{slug}")
    assert status == 200
    assert {one["slug"]: (one["hosts"], one["assistants"]) for one in course["competitions"]} == {
        "pets": (["ada"], []),
        "birds": (["ada"], ["dee"]),
    }
    status, people = program.get(f"courses/{slug}/people")
    assert [(one["name"], one["section"], one["state"], one["username"]) for one in people["items"]] == [
        ("Bo Berg", "A", "joined", "bo"),
        ("Eve", "", "new", None),
    ]


def test_students_assistants_and_strangers_read_nothing(birds: Competition, bo: User, cy: User, dee: User) -> None:
    enter(birds, bo)
    for user in (bo, cy, dee):
        program = Program(user, HOST)
        assert program.get("courses") == (200, {"items": []})
        for path in ("", "/people", "/grades"):
            assert program.get(f"courses/{birds.course.slug}{path}")[0] == 404
    assert Program(None).get("courses")[0] == 401


def test_a_token_without_the_right_to_host_reads_no_class_list(birds: Competition, ada: User) -> None:
    assert Program(ada).get(f"courses/{birds.course.slug}/people")[0] == 403


def test_a_host_of_all_its_competitions_reads_the_grades_of_a_course(
    birds: Competition, pets: Competition, ada: User, bo: User, dee: User
) -> None:
    enter(birds, bo)
    program, path = Program(ada, HOST), f"courses/{birds.course.slug}/grades"
    assert program.get(path)[0] == 409
    parts = [{"competition": slug, "weight": 50} for slug in ("pets", "birds")]
    grade_services.set_grade_rules(graded=birds.course, values={"parts": parts}, user=ada)
    response = program.client.get(ROOT + path, headers=program.headers)
    assert response.content.decode().startswith("name,email,student_id,")
    assert "bo@example.org" in response.content.decode()
    assert program.get(f"{path}?kind=abacus")[0] == 422
    pets.hosts.add(dee)
    assert Program(dee, HOST).get(path)[0] == 404
