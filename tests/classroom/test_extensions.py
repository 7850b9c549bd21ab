"""What Ada allows, or forbids, a single team: attempts, time, a place on the board; and a pause for all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db.models import Case, QuerySet, When
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import reveal
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions, joining, teams
from leaderboard.common.display_time import moment_text
from leaderboard.common.models import AuditEntry
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import (
    Competition,
    DailyAttempts,
    Extension,
    Membership,
    Standing,
    Submission,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import ranking_opens_at
from leaderboard.competitions.services import CannotHost
from leaderboard.notifications.models import Notice
from leaderboard.operations import consistency
from leaderboard.submissions import allowances, score, submit_conditions, submitting
from leaderboard.submissions import services as submission_services
from tests.conftest import answers, close, enter, make_competition, submit
from tests.pages import signed_in


def upload(competition: Competition, user: User) -> Submission:
    return submitting.submit_file(competition=competition, user=user, file_name="a.csv", chunks=[answers(public=1)])


def refusal(competition: Competition, user: User) -> submit_conditions.SubmissionRefused:
    with pytest.raises(submit_conditions.SubmissionRefused) as caught:
        upload(competition, user)
    return caught.value


def give(membership: Membership, ada: User, **what: object) -> Extension:
    return extensions.grant_extension(team=membership.team, user=ada, reason="Ill last week", **what)  # type: ignore[arg-type]


def on_the_board(competition: Competition, split: Split = Split.PUBLIC) -> list[str]:
    competition.refresh_from_db()
    return [row.name for row in boards_module.ranked_lines(competition, split)]


def events(competition: Competition) -> list[str]:
    return list(AuditEntry.objects.filter(competition=competition.pk).order_by("pk").values_list("event", flat=True))


def broken() -> list[str]:
    return [line for result in consistency.run_checks(only={6, 7}) for line in result.examples]


@pytest.fixture
def strict(ada: User) -> Competition:
    """One attempt a day, two teams to come."""
    return make_competition(ada, daily_attempts=1)


# --- attempts ---------------------------------------------------------------------------------------------------


def test_bo_has_the_extra_attempts_of_every_day_and_cy_has_none(
    strict: Competition, ada: User, bo: User, cy: User
) -> None:
    granted, plain = enter(strict, bo), enter(strict, cy)
    give(granted, ada, extra_attempts=2)
    now = timezone.now()
    assert allowances.allowance_of(granted, now).limit == 3
    assert allowances.allowance_of(granted, now + timedelta(days=3)).limit == 3
    assert allowances.allowance_of(plain, now).limit == 1
    for _ in range(3):
        submit(strict, bo, answers())
    assert refusal(strict, bo).code == "attempts"
    assert "all 3 attempts" in refusal(strict, bo).message
    assert broken() == []


def test_an_ended_extension_leaves_what_was_used_and_the_checks_hold(strict: Competition, ada: User, bo: User) -> None:
    membership = enter(strict, bo)
    granted = give(membership, ada, extra_attempts=1)
    submit(strict, bo, answers()), submit(strict, bo, answers())
    competitions.end_extension(extension=granted, user=ada)
    competitions.end_extension(extension=granted, user=ada)
    assert allowances.allowance_of(membership, timezone.now()).left == 0
    assert DailyAttempts.objects.get(team=membership.team).used == 2
    assert broken() == []
    assert events(strict)[-2:] == ["extension_granted", "extension_ended"]


def test_who_loses_an_extension_reads_which_deadline_is_left(strict: Competition, ada: User, bo: User) -> None:
    membership, later = enter(strict, bo), strict.closes_at + timedelta(days=2)
    attempts = give(membership, ada, extra_attempts=1)
    longer, shorter = give(membership, ada, closes_at=later + timedelta(days=1)), give(membership, ada, closes_at=later)
    for extension in (attempts, longer, shorter):
        competitions.end_extension(extension=extension, user=ada)
    said_to_user = list(
        Notice.objects.filter(user=bo, title__contains="has ended").order_by("pk").values_list("text", flat=True)
    )
    assert "deadline" not in said_to_user[0]
    assert f"Your deadline is {moment_text(later, strict.zone)}." in said_to_user[1]
    assert f"Your deadline is {moment_text(strict.closes_at, strict.zone)}." in said_to_user[2]


@pytest.mark.parametrize("what", [{}, {"extra_attempts": 1001}])
def test_an_extension_gives_something_possible(
    strict: Competition, ada: User, bo: User, what: dict[str, object]
) -> None:
    membership = enter(strict, bo)
    with pytest.raises(ValidationError):
        give(membership, ada, **what)
    assert not Extension.objects.exists()
    assert "extension_granted" not in events(strict)


def test_a_deadline_no_later_than_everybodys_is_no_extension(strict: Competition, ada: User, bo: User) -> None:
    membership = enter(strict, bo)
    with pytest.raises(ValidationError, match="This isn't later than the regular deadline"):
        give(membership, ada, closes_at=strict.closes_at)


# --- time -------------------------------------------------------------------------------------------------------


def test_bo_hands_in_after_the_deadline_of_the_others_and_is_ranked(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    membership = enter(pets, bo)
    enter(pets, cy)
    submit(pets, cy, answers(public=2))
    give(membership, ada, closes_at=pets.closes_at + timedelta(days=2))
    close(pets)
    assert refusal(pets, cy).code == "closed"
    submission = submit(pets, bo, answers())
    assert not submission.is_late
    assert on_the_board(pets) == ["bo", "cy"]
    submission_services.select_finals(competition=pets, user=bo, submission_ids=[str(submission.pk)], at=timezone.now())
    assert Submission.objects.get(is_selected=True) == submission
    with pytest.raises(submit_conditions.SubmissionRefused, match="change your final submissions"):
        submission_services.select_finals(competition=pets, user=cy, submission_ids=[], at=timezone.now())
    assert broken() == []


def test_nothing_is_revealed_before_the_last_extension_ends(pets: Competition, ada: User, bo: User) -> None:
    membership = enter(pets, bo)
    until = pets.closes_at + timedelta(days=2)
    give(membership, ada, closes_at=until)
    close(pets)
    assert ranking_opens_at(pets) == until
    assert reveal.reveal_due_competitions(timezone.now()) == []
    with pytest.raises(CannotHost, match=f"until {until.astimezone(UTC).day} {until.astimezone(UTC):%b %Y}, "):
        boards.reveal_competition(competition=pets)
    assert reveal.reveal_due_competitions(until) == [pets]


@pytest.mark.parametrize("gives", ["a team more time", "all more time", "time to look"])
def test_time_that_ada_gives_while_another_board_opens_still_counts(
    pets: Competition, ada: User, bo: User, gives: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board of a large class takes seconds, and many classes end at the same minute."""
    membership, other = enter(pets, bo), make_competition(ada, slug="ponds", title="Ponds")
    close(pets)
    close(other)
    tomorrow = timezone.now() + timedelta(days=1)
    events: dict[str, Callable[[], object]] = {
        "a team more time": lambda: give(membership, ada, closes_at=tomorrow),
        "all more time": lambda: competitions.change_competition(competition=pets, user=ada, closes_at=tomorrow),
        "time to look": lambda: competitions.change_competition(competition=pets, user=ada, reveals_itself=False),
    }

    really = reveal.reveal_private_board

    def slowly(opened: Competition, at: datetime) -> bool:
        if opened == other:
            events[gives]()
        return really(opened, at)

    monkeypatch.setattr(reveal, "_competitions_due", in_order(reveal._competitions_due, [other, pets]))
    monkeypatch.setattr(reveal, "reveal_private_board", slowly)
    assert reveal.reveal_due_competitions(timezone.now()) == [other]
    pets.refresh_from_db()
    assert pets.revealed_at is None


def in_order(
    due: Callable[[datetime], QuerySet[Competition]], order: list[Competition]
) -> Callable[[datetime], QuerySet[Competition]]:
    first, _ = order
    return lambda at: due(at).order_by(Case(When(pk=first.pk, then=0), default=1))


def test_an_extension_of_a_disqualified_team_holds_nobody_up(pets: Competition, ada: User, bo: User) -> None:
    membership = enter(pets, bo)
    give(membership, ada, closes_at=pets.closes_at + timedelta(days=2))
    close(pets)
    extensions.disqualify_team(team=membership.team, user=ada, reason="Copied")
    assert reveal.reveal_due_competitions(timezone.now()) == [pets]
    pets.refresh_from_db()
    extensions.readmit_team(team=membership.team, user=ada)
    assert not pets.private_is_visible_to(bo, timezone.now()), "bo can still submit"
    assert broken() == []


def test_once_the_private_board_is_open_nobody_gets_or_loses_time(pets: Competition, ada: User, bo: User) -> None:
    membership = enter(pets, bo)
    earlier = give(membership, ada, closes_at=pets.closes_at + timedelta(seconds=1))
    close(pets)
    Extension.objects.update(closes_at=pets.closes_at)
    boards.reveal_competition(competition=pets)
    with pytest.raises(CannotHost, match="The final ranking is open"):
        give(membership, ada, closes_at=timezone.now() + timedelta(days=1))
    earlier.refresh_from_db()
    with pytest.raises(CannotHost, match="count"):
        competitions.end_extension(extension=earlier, user=ada)


def test_files_received_before_an_extension_was_ended_count_and_later_ones_are_refused(
    pets: Competition, ada: User, bo: User
) -> None:
    membership = enter(pets, bo)
    granted = give(membership, ada, closes_at=pets.closes_at + timedelta(days=2))
    close(pets)
    submission = submit(pets, bo, answers())
    competitions.end_extension(extension=granted, user=ada)
    submission.refresh_from_db()
    assert not submission.is_late
    assert on_the_board(pets) == ["bo"]
    assert refusal(pets, bo).code == "closed"
    give(membership, ada, closes_at=timezone.now() + timedelta(minutes=1))
    assert submit(pets, bo, answers()).status == Submission.Status.SCORED
    assert broken() == []


@pytest.mark.parametrize("hours", [-5, 30])
def test_an_extension_moves_along_with_the_deadline_and_its_team_reads_the_new_date(
    pets: Competition, ada: User, bo: User, cy: User, hours: int
) -> None:
    membership, other = enter(pets, bo), enter(pets, cy)
    attempts, ended = give(membership, ada, extra_attempts=1), give(other, ada, closes_at=later(pets, days=1))
    running = give(membership, ada, closes_at=later(pets, days=2))
    competitions.end_extension(extension=ended, user=ada)
    ended.refresh_from_db()
    stays = ended.closes_at
    moved_to = later(pets, hours=hours)
    competitions.change_competition(competition=pets, user=ada, closes_at=moved_to)
    for extension in (attempts, ended, running):
        extension.refresh_from_db()
    assert running.closes_at == moved_to + timedelta(days=2)
    assert attempts.closes_at is None
    assert ended.closes_at == stays
    said_to_user = Notice.objects.filter(title__contains="moves along")
    assert [notice.user for notice in said_to_user] == [bo]
    assert moment_text(running.closes_at, pets.zone) in said_to_user.get().text


def later(competition: Competition, **by: float) -> datetime:
    return competition.closes_at + timedelta(**by)


def test_an_earlier_deadline_for_all_leaves_the_extended_team_its_lead(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    membership = enter(pets, bo)
    enter(pets, cy)
    give(membership, ada, closes_at=pets.closes_at + timedelta(days=1))
    mine, other = submit(pets, bo, answers()), submit(pets, cy, answers())
    change = competitions.deadline_change(pets, timezone.now() - timedelta(hours=1))
    assert (change.is_earlier, change.late_files, len(change.extensions)) == (True, 1, 1)
    competitions.change_competition(competition=pets, user=ada, closes_at=change.closes_at)
    mine.refresh_from_db()
    other.refresh_from_db()
    assert (mine.is_late, other.is_late) == (False, True)
    assert on_the_board(pets) == ["bo"]
    assert broken() == []


# --- disqualified, hidden ---------------------------------------------------------------------------------------


def test_a_disqualified_team_stands_nowhere_hands_in_nothing_and_can_come_back(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    submit(pets, bo, answers()), submit(pets, cy, answers(public=1))
    extensions.disqualify_team(team=team, user=ada, reason=" Shared an\naccount ")
    assert on_the_board(pets) == ["cy"]
    assert refusal(pets, bo).code == "disqualified"
    assert "Shared an account" in refusal(pets, bo).message
    with pytest.raises(CannotHost, match="already"):
        extensions.disqualify_team(team=team, user=ada, reason="again")
    assert broken() == []
    extensions.readmit_team(team=team, user=ada)
    extensions.readmit_team(team=team, user=ada)
    assert on_the_board(pets) == ["bo", "cy"]
    assert submit(pets, bo, answers()).status == Submission.Status.SCORED
    assert events(pets)[-2:] == ["disqualified", "readmitted"]


def test_nobody_leaves_a_disqualified_team_to_go_on_in_another_and_nobody_joins_it(
    pets: Competition, ada: User, bo: User, cy: User, dee: User
) -> None:
    team = enter(pets, bo).team
    shared = joining.join_by_invitation(user=cy, invitation=team.invitation)
    other = enter(pets, dee).team
    extensions.disqualify_team(team=team, user=ada, reason="Copied")
    with pytest.raises(teams.CannotJoin, match="disqualified"):
        teams.leave_team(membership=shared)
    with pytest.raises(teams.CannotJoin, match="disqualified"):
        joining.join_by_invitation(user=cy, invitation=other.invitation)
    with pytest.raises(teams.CannotJoin, match="disqualified"):
        joining.join_by_invitation(user=dee, invitation=team.invitation)
    extensions.readmit_team(team=team, user=ada)
    assert teams.leave_team(membership=shared).team != team


def test_a_file_that_is_scored_after_the_disqualification_does_not_bring_the_team_back(
    pets: Competition, ada: User, bo: User
) -> None:
    team = enter(pets, bo).team
    waiting = upload(pets, bo)
    extensions.disqualify_team(team=team, user=ada, reason="Copied")
    score.score_one(waiting.pk)
    waiting.refresh_from_db()
    assert waiting.status == Submission.Status.SCORED
    assert on_the_board(pets) == []
    assert broken() == []


def test_a_hidden_file_gives_way_to_the_teams_next_best(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    worse, best = submit(pets, bo, answers(public=1)), submit(pets, bo, answers())
    submission_services.hide_submission(submission=best, user=ada, reason="Made by hand")
    assert {row.submission_id for row in boards_module.ranked_lines(pets, Split.PUBLIC)} == {str(worse.pk)}
    assert broken() == []
    submission_services.show_submission(submission=best, user=ada)
    submission_services.show_submission(submission=best, user=ada)
    assert broken() == []
    assert events(pets)[-2:] == ["submission_hidden", "submission_shown"]


def test_a_hidden_file_is_no_final_also_after_the_reveal(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    picked, other = submit(pets, bo, answers(private=1)), submit(pets, bo, answers(private=3))
    submission_services.select_finals(competition=pets, user=bo, submission_ids=[str(picked.pk)], at=timezone.now())
    close(pets)
    boards.reveal_competition(competition=pets)
    submission_services.hide_submission(submission=picked, user=ada, reason="Made by hand")
    assert set(Standing.objects.values_list("submission", flat=True)) == {other.pk}
    assert broken() == []


def test_a_hidden_pick_is_given_up_with_the_next_choice(ada: User, bo: User) -> None:
    pets = make_competition(ada, final_count=1)
    enter(pets, bo)
    first, second = submit(pets, bo, answers()), submit(pets, bo, answers(public=1))
    submission_services.select_finals(competition=pets, user=bo, submission_ids=[str(first.pk)], at=timezone.now())
    submission_services.hide_submission(submission=first, user=ada, reason="Made by hand")
    ids = [str(first.pk), str(second.pk)]
    submission_services.select_finals(competition=pets, user=bo, submission_ids=ids, at=timezone.now())
    submission_services.show_submission(submission=first, user=ada)
    assert list(Submission.objects.filter(is_selected=True)) == [second]


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_what_takes_something_away_needs_a_reason(pets: Competition, ada: User, bo: User, reason: str) -> None:
    team = enter(pets, bo).team
    submission = submit(pets, bo, answers())
    with pytest.raises(CannotHost, match="reason"):
        extensions.disqualify_team(team=team, user=ada, reason=reason)
    with pytest.raises(CannotHost, match="reason"):
        submission_services.hide_submission(submission=submission, user=ada, reason=reason)
    with pytest.raises(CannotHost, match="reason"):
        competitions.pause_competition(competition=pets, user=ada, reason=reason)
    assert on_the_board(pets) == ["bo"]


def test_a_baseline_is_not_hidden_but_removed(pets: Competition, ada: User) -> None:
    baseline = boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="b.csv", chunks=[answers()])
    with pytest.raises(CannotHost, match="baseline"):
        submission_services.hide_submission(submission=baseline, user=ada, reason="no")


# --- a pause, and failed files ----------------------------------------------------------------------------------


def test_a_pause_refuses_files_in_the_hosts_words_and_moves_no_deadline(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    waiting, deadline = upload(pets, bo), pets.closes_at
    competitions.pause_competition(competition=pets, user=ada, reason="The truth is being corrected")
    pets.refresh_from_db()
    assert refusal(pets, bo).code == "paused"
    assert "The truth is being corrected" in refusal(pets, bo).message
    score.score_one(waiting.pk)
    assert on_the_board(pets) == ["bo"]
    with pytest.raises(CannotHost, match="already"):
        competitions.pause_competition(competition=pets, user=ada, reason="again")
    competitions.resume_competition(competition=pets, user=ada)
    competitions.resume_competition(competition=pets, user=ada)
    pets.refresh_from_db()
    assert pets.closes_at == deadline
    assert submit(pets, bo, answers()).status == Submission.Status.SCORED
    assert events(pets)[-2:] == ["paused", "resumed"]


def test_ending_an_extension_is_asked_and_says_whether_it_opens_the_ranking(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team, other = enter(pets, bo).team, enter(pets, cy).team
    later = pets.closes_at + timedelta(days=2)
    granted = extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=later)
    theirs = extensions.grant_extension(team=other, user=ada, reason="Ill", closes_at=later)
    close(pets)
    page, form = f"/host/pets/teams/{team.pk}/", {"action": "end", "grant": granted.pk}
    assert "open the ranking" not in signed_in(ada).post(page, form).content.decode(), "cy has time as well"
    competitions.end_extension(extension=theirs, user=ada)
    assert "open the ranking" in signed_in(ada).post(page, form).content.decode()
    granted.refresh_from_db()
    assert granted.ended_at is None
    assert signed_in(ada).post(page, {**form, "is_meant": "yes"}).status_code == 303
    granted.refresh_from_db()
    assert granted.ended_at is not None
