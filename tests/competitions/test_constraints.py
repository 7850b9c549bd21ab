"""The database itself refuses what may never be, whatever code writes it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions.models import (
    Admission,
    Baseline,
    CandidateProblem,
    Competition,
    Course,
    DailyAttempts,
    DataFile,
    Extension,
    GroundTruth,
    Limits,
    Membership,
    PageTask,
    Score,
    Standing,
    Submission,
    Team,
    TruthDraft,
)
from leaderboard.competitions.models.page_task import Worker
from leaderboard.grades.models import Grade, Gradebook, GradeRelease, HandPoints, Override, SavedRules
from leaderboard.lti.models import Deployment, LtiLink, LtiPerson, Platform, PlatformMark, Seat
from leaderboard.notifications.models import Notice, NoticeChoice
from tests.conftest import answers, enter, submit

TODAY = timezone.now().date()


def competition(**fields: object) -> None:
    Competition.objects.update(**fields)


def ground_truth(**fields: object) -> None:
    found = GroundTruth.objects.get()
    values = {field.name: getattr(found, field.name) for field in GroundTruth._meta.fields if field.name != "id"}
    GroundTruth.objects.create(**{**values, "number": 2, **fields})


def submission(**fields: object) -> None:
    Submission.objects.update(**fields)


def another_submission(**fields: object) -> None:
    values = {"file_name": "a", "file_key": "a", "sha256": "a", "size": 1, "received_at": timezone.now()}
    Submission.objects.create(
        competition=Competition.objects.get(), **{"upload_key": uuid.uuid4().hex, **values, **fields}
    )


def score(**fields: object) -> None:
    found = {"submission": Submission.objects.get(), "ground_truth": GroundTruth.objects.get()}
    Score.objects.filter(split="private").delete()
    Score.objects.create(**{**found, "split": "private", "value": 0.5, **fields})


def twice(model: type, **fields: object) -> None:
    for _ in range(2):
        model.objects.create(**fields)  # type: ignore[attr-defined]


def here() -> dict[str, Competition]:
    return {"competition": Competition.objects.get()}


def course() -> dict[str, Course]:
    return {"course": Course.objects.get()}


def a_file() -> dict[str, object]:
    return {"file_key": "k", "sha256": "s", "size": 1}


def team() -> Team:
    return Team.objects.get()


def bo() -> User:
    return User.objects.get(username="bo")


def entry() -> RosterEntry:
    return RosterEntry.objects.get_or_create(course=Course.objects.get(), name="Eve")[0]


def release() -> GradeRelease:
    return GradeRelease.objects.create(**here(), number=1, rules={}, ground_truth_number=1)


def deployment() -> dict[str, Deployment]:
    platform = Platform.objects.create(issuer="https://platform.example", client_id="1")
    return {"deployment": Deployment.objects.create(platform=platform, name="1")}


def link() -> LtiLink:
    return LtiLink.objects.create(**deployment(), context="c", resource="r")


OFFENCES: dict[str, Callable[[], object]] = {
    "user_name_once_whatever_case": lambda: User.objects.create(username="BO"),
    "user_email_once_whatever_case": lambda: User.objects.create(username="x", email="BO@example.org"),
    "competition_opens_before_it_closes": lambda: competition(closes_at=timezone.now() - timedelta(days=9)),
    "competition_launched_with_a_ground_truth": lambda: competition(ground_truth=None),
    "competition_revealed_after_launch": lambda: competition(launched_at=None, revealed_at=timezone.now()),
    "limits_are_positive": lambda: Limits.objects.update(daily_attempts=0),
    "ground_truth_number_once": lambda: ground_truth(number=1),
    "ground_truth_rows_add_up": lambda: ground_truth(ignored_rows=5),
    "ground_truth_has_both_splits": lambda: ground_truth(rows=6, public_rows=6, private_rows=0),
    "truth_draft_share_between_0_and_1": lambda: TruthDraft.objects.create(
        **here(), file_key="a", file_name="a", metric="accuracy", public_share=1.0
    ),
    "data_file_name_once": lambda: twice(DataFile, **here(), name="a.csv", **a_file()),
    "team_name_once_per_competition": lambda: Team.objects.create(**here(), name="BO"),
    "one_team_per_user_and_competition": lambda: twice(Membership, **here(), team=team(), user=bo()),
    "one_count_per_team_and_day": lambda: twice(DailyAttempts, team=team(), day=TODAY - timedelta(days=1)),
    "attempts_not_negative": lambda: DailyAttempts.objects.update(used=-1),
    "baseline_name_once": lambda: twice(Baseline, **here(), name="Guess"),
    "an_upload_is_stored_once": lambda: another_submission(team=team(), upload_key=Submission.objects.get().upload_key),
    "submission_of_a_team_or_a_baseline": lambda: another_submission(),
    "submission_status_known": lambda: submission(status="running"),
    "submission_final_has_a_time": lambda: submission(finished_at=None),
    "submission_tries_at_most_five": lambda: submission(tries=6),
    "submission_deaths_at_most_three": lambda: submission(deaths=4),
    "submission_claim_has_a_lease": lambda: submission(status="pending", finished_at=None, claim=uuid.uuid4()),
    "only_a_ranked_file_is_selected": lambda: submission(is_late=True, is_selected=True),
    "score_once_per_submission_truth_and_split": lambda: score(split="public"),
    "score_is_finite": lambda: score(value=float("inf")),
    "score_split_known": lambda: score(split="both"),
    "candidate_problem_once": lambda: twice(
        CandidateProblem, submission=Submission.objects.get(), ground_truth=GroundTruth.objects.get()
    ),
    "worker_reports_once": lambda: twice(Worker, host="here", process=1, version="1", last_seen_at=timezone.now()),
    "a_pause_says_why": lambda: Limits.objects.update(paused_at=timezone.now()),
    "admission_kind_known": lambda: Admission.objects.update(kind="everybody"),
    "roster_user_once": lambda: twice(RosterEntry, **course(), user=bo()),
    "roster_email_once": lambda: [
        RosterEntry.objects.create(**course(), email=text) for text in ("a@b.org", "A@B.org")
    ],
    "roster_lms_user_once": lambda: twice(RosterEntry, **course(), lms_user="1:bo"),
    "roster_join_card_once": lambda: twice(RosterEntry, **course(), join_card_digest="d"),
    "one_choice_per_kind_of_notice": lambda: twice(NoticeChoice, user=bo(), kind="reveal", delivery="page"),
    "notice_delivery_known": lambda: NoticeChoice.objects.create(user=bo(), kind="reveal", delivery="pigeon"),
    "notice_once": lambda: twice(Notice, user=bo(), kind="reveal", title="t", key="k"),
    "graderelease_once_in_a_competition": lambda: [release(), release()],
    "graderelease_once_in_a_course": lambda: twice(GradeRelease, **course(), number=1, rules={}),
    "graderelease_of_a_competition_or_a_course": lambda: GradeRelease.objects.create(number=1, rules={}),
    "gradebook_of_a_competition_or_a_course": lambda: Gradebook.objects.create(file_name="g", data=b""),
    "gradebook_once_in_a_competition": lambda: twice(Gradebook, **here(), file_name="g", data=b""),
    "gradebook_once_in_a_course": lambda: twice(Gradebook, **course(), file_name="g", data=b""),
    "savedrules_of_a_competition_or_a_course": lambda: SavedRules.objects.create(),
    "savedrules_once_in_a_competition": lambda: twice(SavedRules, **here()),
    "savedrules_once_in_a_course": lambda: twice(SavedRules, **course()),
    "handpoints_of_a_competition_or_a_course": lambda: HandPoints.objects.create(user=bo(), name="Talk", points=1),
    "handpoints_once_in_a_competition": lambda: twice(HandPoints, **here(), user=bo(), name="Talk", points=1),
    "handpoints_once_in_a_course": lambda: twice(HandPoints, **course(), user=bo(), name="Talk", points=1),
    "hand_points_of_an_account_or_an_entry": lambda: HandPoints.objects.create(**here(), name="Talk", points=1),
    "hand_points_once_for_an_entry": lambda: twice(HandPoints, **here(), entry=entry(), name="Talk", points=1),
    "hand_points_once_for_a_course_entry": lambda: twice(HandPoints, **course(), entry=entry(), name="Talk", points=1),
    "override_of_a_competition_or_a_course": lambda: Override.objects.create(user=bo(), points=1, reason="r"),
    "override_once_in_a_competition": lambda: twice(Override, **here(), user=bo(), points=1, reason="r"),
    "override_once_in_a_course": lambda: twice(Override, **course(), user=bo(), points=1, reason="r"),
    "override_is_no_negative_mark": lambda: Override.objects.create(**here(), user=bo(), points=-1, reason="r"),
    "one_grade_per_person_and_release": lambda: twice(Grade, release=release(), user=bo()),
    "grade_is_not_negative": lambda: Grade.objects.create(release=release(), user=bo(), points=-1),
    "a_disqualified_team_reads_why": lambda: Team.objects.filter(pk=team().pk).update(disqualified_at=timezone.now()),
    "team_pseudonym_once": lambda: [Team.objects.create(**here(), name=name, pseudonym="Calm Fox") for name in "xy"],
    "one_task_in_each_place": lambda: twice(PageTask, user=bo(), place=1),
    "one_running_task_each": lambda: [
        PageTask.objects.create(user=bo(), place=place, status="running") for place in (1, 2)
    ],
    "one_running_of_students": lambda: [
        PageTask.objects.create(user=user, place=1, status="running", is_of_student=True)
        for user in (bo(), User.objects.get(username="ada"))
    ],
    "place_of_task_exists": lambda: PageTask.objects.create(user=bo(), place=3),
    "an_extension_gives_something": lambda: Extension.objects.create(team=team(), reason="none"),
    "platform_once": lambda: twice(Platform, issuer="https://platform.example", client_id="1"),
    "deployment_once": lambda: twice(Deployment, platform=deployment()["deployment"].platform, name="2"),
    "lti_person_once": lambda: twice(LtiPerson, platform=link().platform, subject="s", user=bo()),
    "lti_link_once": lambda: twice(LtiLink, **deployment(), context="c", resource="r"),
    "seat_once": lambda: twice(Seat, link=link(), **here(), user=bo()),
    "mark_once": lambda: twice(PlatformMark, link=link(), user=bo()),
    "attachments_known": lambda: Limits.objects.update(attachments="sometimes"),
    "a_hidden_file_says_why": lambda: submission(hidden_at=timezone.now()),
    "one_standing_per_team": lambda: Standing.objects.create(
        ground_truth=GroundTruth.objects.get(),
        team=team(),
        submission=Submission.objects.get(),
        split="public",
        value=1,
        sort_key=-1,
        received_at=timezone.now(),
    ),
}


@pytest.fixture
def scored(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())


@pytest.mark.parametrize("name", OFFENCES)
def test_the_database_refuses(name: str, scored: None) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        OFFENCES[name]()


def test_no_constraint_is_without_an_offence() -> None:
    stated = {
        constraint.name
        for model in apps.get_models()
        if model.__module__.startswith("leaderboard.")
        for constraint in model._meta.constraints
    }
    assert stated == OFFENCES.keys()
