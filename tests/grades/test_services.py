"""Everybody's grade follows from the scores of their team, and released grades do not change."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions, joining
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Submission
from leaderboard.grades import queries
from leaderboard.grades import services as grade_services
from leaderboard.grades.files import graded_students
from leaderboard.grades.models import Grade, GradeRelease, SavedRules
from leaderboard.grades.rules import CourseScheme, GradeRules
from leaderboard.ground_truths.services import publishing
from leaderboard.notifications.models import Notice
from leaderboard.submissions import outside_queue, score
from leaderboard.submissions import services as submission_services
from tests.conftest import answers, close, enter, make_competition, save_truth, submit


def score_term(*rows: Any, **more: Any) -> dict[str, Any]:
    return {"name": "Score", "of": "score", "line": list(rows), **more}


RULES: dict[str, Any] = {"terms": [score_term([{"score": 0.5}, 50], [{"score": 1}, 100])], "title": "Pets"}
PARTICIPATION = {"name": "Taking part", "of": "files", "steps": [[1, 10]]}
LATE = {"every_hours": 24, "off": [10], "then": "add"}


def sheet_of(competition: Competition) -> queries.GradeSheet:
    competition.refresh_from_db()
    return queries.grade_sheet(competition, at=timezone.now())


def end(competition: Competition, person: User, **wrong: int) -> None:
    """One person submits a file with so many wrong answers, and the deadline passes."""
    enter(competition, person)
    submit(competition, person, answers(**wrong))
    close(competition)


def grades(competition: Competition) -> dict[str, float | None]:
    return {row.student.username: row.mark.points for row in sheet_of(competition).rows}


def reasons(competition: Competition) -> dict[str, str]:
    return {row.student.username: row.mark.explanation for row in sheet_of(competition).rows}


def add_baseline(competition: Competition, name: str, **wrong: int) -> None:
    made = boards.add_baseline(
        competition=competition, user=None, name=name, file_name="b.csv", chunks=[answers(**wrong)]
    )
    score.score_one(made.pk)


def set_rules(competition: Competition, **values: Any) -> GradeRules | CourseScheme:
    return grade_services.set_grade_rules(graded=competition, values={**RULES, **values}, user=None)


def test_before_the_deadline_public_scores_are_a_look_ahead_and_then_private_ones_decide(
    pets: Competition, bo: User, cy: User
) -> None:
    set_rules(pets)
    for person in (bo, cy):
        enter(pets, person)
    submit(pets, bo, answers(public=0, private=3))
    submit(pets, cy, answers(public=3, private=0))
    assert grades(pets) == {"bo": 100, "cy": 50}
    close(pets)
    assert grades(pets) == {"bo": 50, "cy": 100}
    assert reasons(pets)["cy"] == "Private score 1.000 reaches 1: 100 points."


def test_everybody_in_a_team_gets_its_grade_and_whoever_handed_nothing_in_gets_none(
    pets: Competition, bo: User, cy: User, dee: User
) -> None:
    set_rules(pets)
    team = enter(pets, bo).team
    joining.join_by_invitation(user=cy, invitation=team.invitation)
    enter(pets, dee)
    submit(pets, bo, answers(private=3))
    close(pets)
    assert grades(pets) == {"bo": 50, "cy": 50, "dee": None}
    assert reasons(pets)["dee"] == "No scored submission, so no grade."
    set_rules(pets, no_file="zero")
    assert grades(pets)["dee"] == 0


def test_an_invalid_file_is_no_file(pets: Competition, bo: User) -> None:
    set_rules(pets, terms=[*RULES["terms"], PARTICIPATION])
    enter(pets, bo)
    submit(pets, bo, b"nothing,here\n1,2\n")
    close(pets)
    assert grades(pets) == {"bo": None}


def test_points_follow_a_baseline_when_its_score_changes(pets: Competition, bo: User) -> None:
    add_baseline(pets, "Guess", private=3)
    add_baseline(pets, "Last year", private=1)
    set_rules(pets, terms=[score_term([{"baseline": "Guess"}, 60], [{"baseline": "Last year"}, 90])])
    end(pets, bo, private=2)
    assert reasons(pets) == {
        "bo": "Private score 0.667 lies between “Guess” 0.500 (60 points) and “Last year” 0.833 (90 points): 75 points."
    }
    add_baseline(pets, "Last year", private=2)
    assert grades(pets) == {"bo": 90}


def test_a_baseline_that_is_gone_stops_grading_with_its_name(pets: Competition, bo: User) -> None:
    add_baseline(pets, "Guess", private=3)
    set_rules(pets, terms=[score_term([{"baseline": "Guess"}, 60])])
    boards.remove_baseline(baseline=pets.baselines.get())
    sheet = sheet_of(pets)
    assert sheet.faults == ("The baseline “Guess” no longer exists or has no score yet.",)
    assert sheet.rows == ()


def late(submission: Submission, competition: Competition, *, hours: float) -> None:
    """As if it had arrived so long after the deadline."""
    received = competition.closes_at + timedelta(hours=hours)
    Submission.objects.filter(pk=submission.pk).update(is_late=True, received_at=received)


def test_a_late_file_loses_its_percents_for_each_day_begun(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    file = submit(pets, bo, answers())
    close(pets)
    competitions.change_competition(competition=pets, allows_late=True)
    late(file, pets, hours=25)
    set_rules(pets)
    assert grades(pets) == {"bo": None}
    set_rules(pets, late=LATE)
    assert reasons(pets) == {"bo": "Private score 1.000 reaches 1: 100 points. 2 days late: 20 % off, 80."}
    late(file, pets, hours=0)
    assert grades(pets) == {"bo": 90}


def test_of_many_late_files_of_a_day_the_best_public_one_counts_so_that_nobody_probes_private_rows(
    pets: Competition, bo: User
) -> None:
    set_rules(pets, late=LATE)
    enter(pets, bo)
    for wrong in ({"public": 2, "private": 0}, {"public": 0, "private": 3}):
        late(submit(pets, bo, answers(**wrong)), pets, hours=3)
    close(pets)
    Submission.objects.update(received_at=pets.closes_at + timedelta(hours=3))
    assert grades(pets) == {"bo": 45}


def test_what_we_propose_follows_from_two_baselines_and_otherwise_from_shares(pets: Competition) -> None:
    rules = queries.suggested_rules(pets)
    assert [step.kind for step in rules.terms[0].steps] == ["top"] * 4
    add_baseline(pets, "Weak", public=3)
    add_baseline(pets, "Strong", public=1)
    rules = queries.suggested_rules(pets)
    assert [(anchor.name, int(anchor.points)) for anchor in rules.terms[0].line] == [("Weak", 60), ("Strong", 100)]
    assert (sheet_of(pets).is_saved, sheet_of(pets).faults) == (False, ())


def test_a_change_of_the_rules_is_written_to_the_audit_log_and_saving_the_same_again_is_not(
    pets: Competition, ada: User
) -> None:
    grade_services.set_grade_rules(graded=pets, values=RULES, user=ada)
    grade_services.set_grade_rules(graded=pets, values=RULES, user=ada)
    grade_services.set_grade_rules(graded=pets, values={**RULES, "least": 20}, user=ada)
    first, second = AuditEntry.objects.filter(event=AuditEvent.GRADE_RULES_CHANGED).order_by("pk")
    assert (second.before, second.after) == ({}, {"least": "20"})
    assert first.by == ada.pk


def test_nothing_is_released_before_the_private_board_is_open(pets: Competition, bo: User) -> None:
    end(pets, bo)
    with pytest.raises(competitions.CannotHost) as refused:
        grade_services.release_grades(graded=pets, user=None)
    assert refused.value.details == [
        "Save the grade rules first.",
        "Reveal the final ranking first: grade reasons contain private scores.",
    ]
    assert not GradeRelease.objects.exists()


@pytest.mark.attack("grades that tell the scores of another competition before its reveal")
@pytest.mark.parametrize("hides_scores", [False, True])
def test_rules_that_name_another_competition_tell_nothing_of_it_before_its_reveal(
    pets: Competition, ada: User, bo: User, *, hides_scores: bool
) -> None:
    """Ada's course has a second competition, which Bo may see the scores of once it is revealed."""
    birds = make_competition(ada, slug="birds", course=pets.course, hides_scores=hides_scores)
    set_rules(pets, terms=[score_term([{"score": 0}, 0], [{"score": 1}, 100], **{"from": ["birds"]})])
    end(pets, bo)
    end(birds, bo, public=3, private=2)
    boards.reveal_competition(competition=pets)
    before = "no score in time" if hides_scores else "ublic score 0.500"
    assert before in reasons(pets)["bo"]
    with pytest.raises(competitions.CannotHost) as refused:
        grade_services.release_grades(graded=pets, user=ada)
    assert refused.value.details == [
        "Reveal the final ranking of “Cats or dogs” first: grade reasons contain its scores."
    ]
    boards.reveal_competition(competition=birds)
    assert "rivate score 0.667" in reasons(pets)["bo"]
    grade_services.release_grades(graded=pets, user=ada)


@pytest.mark.parametrize(
    ("of", "board", "waits"), [("files", "private", 0), ("score", "public", 0), ("place", "private", 1)]
)
def test_grades_wait_only_for_competitions_whose_closed_scores_they_tell(
    pets: Competition, ada: User, bo: User, of: str, board: str, waits: int
) -> None:
    make_competition(ada, slug="birds", course=pets.course)
    step = [{"top": 50} if of == "score" else 1, 10]
    set_rules(pets, terms=[{"name": "Birds", "of": of, "board": board, "from": ["birds"], "steps": [step]}])
    end(pets, bo)
    boards.reveal_competition(competition=pets)
    assert len(grade_services.release_obstacles(sheet_of(pets), pets)) == waits


def test_nothing_is_released_while_a_file_waits_for_its_score(pets: Competition, bo: User) -> None:
    set_rules(pets)
    enter(pets, bo)
    file = submit(pets, bo, answers())
    close(pets)
    boards.reveal_competition(competition=pets)
    Submission.objects.filter(pk=file.pk).update(status="pending", finished_at=None)
    with pytest.raises(competitions.CannotHost) as refused:
        grade_services.release_grades(graded=pets, user=None)
    assert refused.value.details == ["Submissions still waiting for a score: 1."]


def test_released_grades_stay_as_they_were_told_until_they_are_released_again(
    pets: Competition, ada: User, bo: User
) -> None:
    set_rules(pets)
    end(pets, bo, private=3)
    boards.reveal_competition(competition=pets)
    grade_services.release_grades(graded=pets, user=ada)
    set_rules(pets, least=75)
    (row,) = sheet_of(pets).rows
    assert row.released is not None
    assert (row.mark.points, row.released.points, row.mark_for_files.points, row.is_changed) == (75, 50, 50, True)
    grade_services.release_grades(graded=pets, user=ada)
    (row,) = sheet_of(pets).rows
    assert (row.mark_for_files.points, row.is_changed) == (75, False)
    assert [(notice.kind, notice.link) for notice in Notice.objects.filter(user=bo, kind="grade")] == [
        ("grade", "/c/pets/grade/"),
        ("grade", "/c/pets/grade/"),
    ]
    assert list(Grade.objects.order_by("release__number").values_list("points", flat=True)) == [50, 75]


def test_who_still_has_time_gets_no_grade_and_no_zero(pets: Competition, ada: User, bo: User, cy: User) -> None:
    set_rules(pets, no_file="zero")
    enter(pets, cy)
    team, later = enter(pets, bo).team, timezone.now() + timedelta(days=9)
    submit(pets, bo, answers(private=3))
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=later, delays_ranking=False)
    close(pets)
    boards.reveal_competition(competition=pets, late_teams=boards.LateTeams.LATER)
    assert grades(pets) == {"bo": None, "cy": 0}
    assert reasons(pets)["bo"] == "Still has time, so no grade yet."


def test_grades_can_be_withdrawn_and_both_deeds_are_in_the_audit_log(pets: Competition, ada: User, bo: User) -> None:
    set_rules(pets)
    enter(pets, bo)
    close(pets)
    boards.reveal_competition(competition=pets)
    grade_services.release_grades(graded=pets, user=ada)
    grade_services.withdraw_grades(graded=pets, user=ada)
    assert sheet_of(pets).release is None
    with pytest.raises(competitions.CannotHost, match="No grades have been released"):
        grade_services.withdraw_grades(graded=pets, user=ada)
    events = AuditEntry.objects.filter(competition=pets.pk).order_by("-pk").values_list("event", flat=True)[:2]
    assert list(events) == ["grades_withdrawn", "grades_released"]


def test_grades_under_another_ground_truth_can_be_looked_at(ada: User, bo: User) -> None:
    pets = make_competition(ada)
    set_rules(pets)
    enter(pets, bo)
    submit(pets, bo, answers())
    save_truth(
        pets,
        "id,label,Usage\n"
        + "".join(f"{i},{'cat' if i % 3 else 'dog'},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 13)),
        metric="error_rate",
    )
    candidate = publishing.publish_draft(competition=pets, user=ada)
    outside_queue.rescore_batch(candidate.pk)
    pets.refresh_from_db()
    touched = queries.touched_grades(pets, at=timezone.now())
    assert touched is not None
    assert touched.faults == ("Term 1, row 2: row 1 is better than row 2 but gives fewer points.",)
    assert grades(pets) == {"bo": 100}


def test_grades_go_with_the_account_and_with_the_competition(pets: Competition, bo: User, cy: User) -> None:
    set_rules(pets)
    enter(pets, bo)
    end(pets, cy)
    boards.reveal_competition(competition=pets)
    grade_services.release_grades(graded=pets, user=None)
    bo.delete()
    assert [grade.user for grade in Grade.objects.all()] == [cy]
    competitions.delete_competition(competition=pets)
    assert not Grade.objects.exists()
    assert not SavedRules.objects.exists()


def test_a_disqualified_team_gets_zero_with_the_reason_and_is_nobodys_measure(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    set_rules(pets, terms=[score_term(steps=[[{"top": 1}, 100]])])
    for someone, wrong in ((bo, 0), (cy, 1)):
        enter(pets, someone)
        submit(pets, someone, answers(private=wrong))
    close(pets)
    assert grades(pets) == {"bo": 100, "cy": 0}
    extensions.disqualify_team(team=bo.memberships.get().team, user=ada, reason="Shared a file.")
    assert grades(pets) == {"bo": 0, "cy": 100}
    assert reasons(pets)["bo"] == "Disqualified: 0 (Shared a file.)."


def test_a_hidden_file_counts_for_nothing(pets: Competition, ada: User, bo: User) -> None:
    set_rules(pets, terms=[*RULES["terms"], {**PARTICIPATION, "steps": [[2, 10]]}])
    enter(pets, bo)
    best, _ = submit(pets, bo, answers()), submit(pets, bo, answers(private=3))
    assert reasons(pets)["bo"].endswith("2 submissions scored in time: 10 points. Together 110. At most 100.")
    submission_services.hide_submission(submission=best, user=ada, reason="Somebody else's.")
    close(pets)
    assert reasons(pets)["bo"].startswith(
        "Private score 0.500 lies between 0.5 (50 points) and 1 (100 points): 50 points. "
        "1 submission scored in time: 0 points."
    )


def test_days_late_are_counted_from_the_deadline_that_the_team_was_given(
    pets: Competition, ada: User, bo: User
) -> None:
    set_rules(pets, late=LATE)
    team = enter(pets, bo).team
    file = submit(pets, bo, answers())
    close(pets)
    late(file, pets, hours=50)
    assert grades(pets) == {"bo": 70}
    extensions.grant_extension(team=team, user=ada, closes_at=pets.closes_at + timedelta(hours=48), reason="Ill.")
    late(file, pets, hours=50)
    assert grades(pets) == {"bo": 90}


def test_the_roster_names_people_and_whoever_never_joined_is_graded_too(pets: Competition, bo: User, dee: User) -> None:
    set_rules(pets, no_file="zero")
    enter(pets, bo)
    submit(pets, bo, answers())
    facts = {"student_id": "1001", "sis_user_id": "s-1", "login": "bbello", "section": "A"}
    RosterEntry.objects.create(course=pets.course, user=bo, name="Bello, Bo", email="bo@uni.example", **facts)
    RosterEntry.objects.create(course=pets.course, name="Zed Zimmer", student_id="1009")
    RosterEntry.objects.create(course=pets.course, name="Gone Long", left_at=timezone.now())
    close(pets)
    first, second = sheet_of(pets).rows
    assert (first.student.name, first.student.email, first.mark.points) == ("Bello, Bo", "bo@uni.example", 100)
    assert {name: getattr(first.student, name) for name in facts} == facts
    assert (second.student.name, second.mark.explanation) == ("Zed Zimmer", "Hasn't joined: 0.")
    person, absent = graded_students(sheet_of(pets))
    assert (person.first_name, person.last_name, person.is_listed) == ("Bo", "Bello", True)
    assert (absent.student_id, absent.points) == ("1009", "0.0")
    assert (absent.first_name, absent.last_name) == ("Zed", "Zimmer")
