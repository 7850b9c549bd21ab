"""A student hands in a file: what is taken, what is refused, what it costs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.models import F
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import extensions, joining, teams
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DailyAttempts, Limits, Membership, Submission, Team
from leaderboard.scoring.scorer_answer import ScorerAnswer
from leaderboard.submissions import allowances, score, submitting
from leaderboard.submissions import services as submission_services
from leaderboard.submissions.submit_conditions import SubmissionRefused
from tests.conftest import answers, broken_promises, close, enter, make_competition, submit


def used(membership: Membership) -> int:
    return sum(DailyAttempts.objects.filter(team=membership.team).values_list("used", flat=True))


def upload(competition: Competition, user: User, data: bytes = b"", **fields: Any) -> Submission:
    return submitting.submit_file(
        competition=competition, user=user, file_name="mine.csv", chunks=[data or answers()], **fields
    )


def refusal(competition: Competition, user: User) -> str:
    with pytest.raises(SubmissionRefused) as caught:
        upload(competition, user)
    return caught.value.code


def test_bo_hands_in_a_file_and_it_waits_with_its_receipt(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    before = timezone.now()
    submission = upload(pets, bo, note=" first try ")
    assert submission.status == Submission.Status.PENDING
    assert before <= submission.received_at <= timezone.now()
    assert path_of(submission.file_key).read_bytes() == answers()
    assert submission.note == "first try"
    assert not submission.is_late


def test_dee_cannot_hand_in_without_joining(pets: Competition, dee: User) -> None:
    assert refusal(pets, dee) == "not_joined"


def test_bo_must_accept_the_rules_first(pets: Competition, bo: User) -> None:
    joining.enter_competition(user=bo, competition=pets)
    assert refusal(pets, bo) == "rules"


def test_new_rules_must_be_accepted_again(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    Competition.objects.filter(pk=pets.pk).update(rules_version=2)
    pets.refresh_from_db()
    assert refusal(pets, bo) == "rules"


def test_nothing_is_taken_before_the_opening(ada: User, bo: User) -> None:
    later = timezone.now() + timedelta(hours=1)
    competition = make_competition(ada, opens_at=later)
    enter(competition, bo)
    assert refusal(competition, bo) == "not_open"


def test_nothing_is_taken_after_the_deadline(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    close(pets)
    assert refusal(pets, bo) == "closed"
    assert not Submission.objects.exists()


STOPS: dict[str, Callable[[Competition, User, Team], None]] = {
    "paused": lambda competition, ada, _team: competitions.pause_competition(
        competition=competition, user=ada, reason="Wrong truth."
    ),
    "disqualified": lambda _competition, ada, team: extensions.disqualify_team(team=team, user=ada, reason="Copied."),
}


@pytest.mark.parametrize("stop", STOPS)
def test_a_file_received_before_a_stop_counts_also_when_its_row_is_written_after(
    pets: Competition, ada: User, bo: User, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    team = enter(pets, bo).team

    def meanwhile(*_: object) -> list[object]:
        STOPS[stop](pets, ada, team)
        return []

    monkeypatch.setattr(submitting, "check_beginning", meanwhile)
    assert upload(pets, bo).status == Submission.Status.PENDING
    assert used(team.memberships.get()) == 1
    pets.refresh_from_db()
    assert refusal(pets, bo) == stop


@pytest.mark.parametrize("allows_late", [True, False])
def test_a_deadline_that_moves_just_before_the_row_is_written_is_the_one_that_counts(
    pets: Competition, ada: User, bo: User, monkeypatch: pytest.MonkeyPatch, allows_late: bool
) -> None:
    """Ada's change judges all files that are there; this one is not there yet."""
    enter(pets, bo)

    def meanwhile(*_: object) -> list[object]:
        earlier = timezone.now() - timedelta(hours=1)
        competitions.change_competition(competition=pets, user=ada, closes_at=earlier, allows_late=allows_late)
        return []

    monkeypatch.setattr(submitting, "check_beginning", meanwhile)
    if allows_late:
        assert upload(pets, bo).is_late
    else:
        assert refusal(pets, bo) == "closed"
        assert not Submission.objects.exists()
        assert not DailyAttempts.objects.filter(used__gt=0).exists()
    assert broken_promises() == []


def test_late_files_are_taken_where_ada_allows_them_and_never_ranked(pets: Competition, ada: User, bo: User) -> None:
    membership = enter(pets, bo)
    Limits.objects.filter(pk=pets.pk).update(allows_late=True)
    close(pets)
    submission = submit(pets, bo, answers())
    assert submission.is_late
    assert submission.status == Submission.Status.SCORED
    assert not membership.team.standings.exists()


def test_the_sixth_file_of_a_day_is_refused(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    for _ in range(5):
        upload(pets, bo)
    assert refusal(pets, bo) == "attempts"
    assert used(membership) == 5


def test_attempts_start_again_at_midnight_utc(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    yesterday = (timezone.now() - timedelta(days=1)).astimezone(UTC).date()
    DailyAttempts.objects.create(team=membership.team, day=yesterday, used=5)
    assert allowances.allowance_of(membership, timezone.now()).left == 5
    upload(pets, bo)
    allowed = allowances.allowance_of(membership, timezone.now())
    assert allowed.left == 4
    assert allowed.resets_at - timezone.now() <= timedelta(days=1)


@pytest.mark.attack("more attempts than allowed")
def test_attempts_belong_to_the_team(pets: Competition, bo: User, cy: User) -> None:
    membership = enter(pets, bo)
    joining.accept_rules(membership=joining.join_by_invitation(user=cy, invitation=membership.team.invitation))
    for _ in range(5):
        upload(pets, bo)
    assert refusal(pets, cy) == "attempts"


def test_a_bad_file_shows_its_problems_and_uses_no_attempt(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    submission = submit(pets, bo, b"id,label\n1,cat\n1,cat\n77,dog\n")
    assert submission.status == Submission.Status.INVALID
    codes = {problem["code"] for problem in submission.problems}
    assert len(codes) >= 3, submission.problems
    assert used(membership) == 0
    assert allowances.allowance_of(membership, timezone.now()).left == 5


def test_a_file_that_is_no_table_is_invalid_at_once(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    submission = upload(pets, bo, b"%PDF-1.7 not a table")
    assert submission.status == Submission.Status.INVALID
    assert submission.problems
    assert used(membership) == 0


def a_minute_passes() -> None:
    Submission.objects.update(received_at=F("received_at") - timedelta(minutes=1, seconds=1))


@pytest.fixture
def at_noon(pets: Competition) -> None:
    """The day of the competition began hours ago, whenever this test runs."""
    zone = "UTC" if 6 <= timezone.now().hour < 18 else "Etc/GMT-12"
    Competition.objects.filter(pk=pets.pk).update(zone=zone)
    pets.refresh_from_db()


@pytest.mark.parametrize("fails", [False, True], ids=["unreadable", "failed through no fault of theirs"])
def test_after_twenty_free_files_a_day_further_ones_are_taken_one_a_minute(
    pets: Competition, at_noon: None, bo: User, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    membership = enter(pets, bo)
    monkeypatch.setattr(score, "compute_outcome", lambda *arguments: ScorerAnswer(failure="ours"))
    for _ in range(20):
        submit(pets, bo, answers() if fails else b"%PDF-1.7")
    assert used(membership) == 0
    assert refusal(pets, bo) == "one_a_minute"
    assert allowances.submit_refusal_now(pets, membership, timezone.now()) is None
    for _ in range(2):
        a_minute_passes()
        assert upload(pets, bo).status == Submission.Status.PENDING
        assert refusal(pets, bo) == "one_a_minute"
    assert used(membership) == 2
    Submission.objects.update(received_at=F("received_at") - timedelta(days=1))
    for _ in range(2):
        upload(pets, bo)


@pytest.mark.attack("a member who closes the team by unreadable files")
def test_a_member_who_sends_one_unreadable_file_a_minute_keeps_no_teammate_waiting(
    pets: Competition, at_noon: None, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    joining.join_by_invitation(user=cy, invitation=team.invitation)
    joining.accept_rules(membership=Membership.objects.get(user=cy))
    for _ in range(20):
        upload(pets, bo, b"%PDF-1.7")
    for _ in range(2):
        assert refusal(pets, bo) == "one_a_minute"
        assert upload(pets, cy).status == Submission.Status.PENDING
        a_minute_passes()
        upload(pets, bo, b"%PDF-1.7")
    # Another team does not help.
    teams.leave_team(membership=Membership.objects.select_related("competition", "team", "user").get(user=bo))
    assert refusal(pets, bo) == "one_a_minute"


def test_the_same_upload_twice_is_one_submission(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    first = upload(pets, bo, upload_key="k1")
    second = upload(pets, bo, upload_key="k1")
    assert first.pk == second.pk
    assert used(membership) == 1


def test_cy_cannot_reach_bos_submission_by_guessing_its_upload_key(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo)
    enter(pets, cy)
    assert upload(pets, bo, upload_key="k1").pk != upload(pets, cy, upload_key="k1").pk


def test_a_file_over_the_limit_leaves_nothing_behind(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    Limits.objects.filter(pk=pets.pk).update(max_bytes=2000)
    pets.refresh_from_db()
    with pytest.raises(Exception, match="larger than"):
        upload(pets, bo, b"id,label\n" + b"1,cat\n" * 1000)
    assert used(membership) == 0
    assert not [p for p in path_of("").rglob("submissions/**/*") if p.is_file()]


def test_bo_picks_at_most_two_finals(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    files = [str(submit(pets, bo, answers(public=n)).pk) for n in range(3)]
    with pytest.raises(SubmissionRefused, match="at most 2"):
        submission_services.select_finals(competition=pets, user=bo, submission_ids=files, at=timezone.now())
    submission_services.select_finals(competition=pets, user=bo, submission_ids=files[:2], at=timezone.now())
    submission_services.select_finals(competition=pets, user=bo, submission_ids=files[1:], at=timezone.now())
    assert {str(pk) for pk in Submission.objects.filter(is_selected=True).values_list("pk", flat=True)} == set(
        files[1:]
    )


def test_cy_cannot_pick_bos_submission(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo)
    enter(pets, cy)
    submission = submit(pets, bo, answers())
    submission_services.select_finals(competition=pets, user=cy, submission_ids=[str(submission.pk)], at=timezone.now())
    submission.refresh_from_db()
    assert not submission.is_selected


def test_picks_stand_after_the_deadline(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    close(pets)
    with pytest.raises(SubmissionRefused, match="deadline"):
        submission_services.select_finals(competition=pets, user=bo, submission_ids=[], at=timezone.now())


def test_a_file_name_cannot_carry_folders_or_hidden_characters(
    pets: Competition, bo: User, settings: LazySettings
) -> None:
    enter(pets, bo)
    hidden = chr(0x202E)
    submission = submitting.submit_file(
        competition=pets, user=bo, file_name=f"..\\..\\etc/pass{hidden}wd\n.csv", chunks=[answers()]
    )
    assert submission.file_name == "passwd.csv"
    assert path_of(submission.file_key).is_relative_to(settings.FILES_DIR)


@pytest.mark.fault(21)
def test_a_failed_file_gives_the_attempt_back(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    submission = upload(pets, bo)
    path_of(submission.file_key).write_bytes(b"bit rot")
    assert score.score_one(submission.pk) == Submission.Status.FAILED
    submission.refresh_from_db()
    assert "damaged" in submission.failure
    assert used(membership) == 0
