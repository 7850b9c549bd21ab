"""A person who changes teams or signs up again brings along the day's attempts.

Ada hosts on 40 public and 20 private rows, as in `test_hidden_board`.
"""

from __future__ import annotations

import pytest
from django.utils import timezone

from leaderboard.accounts import personal_data
from leaderboard.accounts.models import User
from leaderboard.classroom import joining, team_merges, teams
from leaderboard.competitions import tasks
from leaderboard.competitions.models import Competition, DailyAttempts, Membership
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.team_history import FormerMember
from leaderboard.competitions.ranking import boards as boards_module
from leaderboard.competitions.ranking import standings
from leaderboard.competitions.scoring import score as score_module
from leaderboard.competitions.services import boards, submit_conditions, submitting
from leaderboard.operations import consistency
from tests.competitions.test_hidden_board import TRUTH, board_of, file_with, ground_truth_of
from tests.conftest import close, enter, hand_in, make_competition


def membership_of(user: User) -> Membership:
    return Membership.objects.select_related("team", "competition").get(user=user)


def merged(bo: User, cy: User) -> None:
    """Bo's team becomes part of Cy's."""
    made = team_merges.offer_merge(membership=membership_of(cy), invitation=membership_of(bo).team.invitation)
    team_merges.accept_merge(membership=membership_of(bo), offer_id=made.pk)


def signed_up_again(user: User, name: str) -> User:
    """The account is deleted, and another one made with the same address."""
    personal_data.delete_account(account=user, user=user)
    return User.objects.create_user(name, user.email)


def checks_hold(competition: Competition) -> None:
    assert standings.standing_differences(ground_truth_of(competition)) == []
    # `close` moves deadlines before files that were in time, so that promise is not asked for.
    found = consistency.run_checks(seed=1, only={1, 3, 6, 7})
    assert [(result.number, result.examples) for result in found if not result.holds] == []


# --- attempts ---------------------------------------------------------------------------------------------------


def used_today(user: User) -> int:
    return DailyAttempts.objects.get(team__memberships__user=user, day=timezone.now().date()).used


@pytest.fixture
def cats(ada: User) -> Competition:
    return make_competition(ada, truth=TRUTH, daily_attempts=5, team_size=3)


def uploads(competition: Competition, user: User) -> int:
    """How many files the site takes of a person until it says no."""
    for number in range(20):
        try:
            hand_in(competition, user, file_with(number))
        except submit_conditions.SubmissionRefused:
            return number
    return 20


@pytest.mark.attack("more attempts")
def test_signing_up_again_gives_no_more_attempts(cats: Competition, bo: User) -> None:
    enter(cats, bo)
    total = uploads(cats, bo)
    for name in ("bo2", "bo3"):
        bo = signed_up_again(bo, name)
        enter(cats, bo)
        total += uploads(cats, bo)
    assert total == 5
    checks_hold(cats)


@pytest.mark.parametrize(
    ("name", "address"),
    [("Bo", "other@example.org"), ("b0", ""), ("new", "BO@example.org"), ("new", "bo+1@example.org")],
)
def test_who_comes_back_is_known_by_name_or_address_however_written(
    cats: Competition, bo: User, name: str, address: str
) -> None:
    enter(cats, bo)
    hand_in(cats, bo, file_with(3))
    personal_data.delete_account(account=bo, user=bo)
    again = User.objects.create_user(name, address)
    enter(cats, again)
    assert used_today(again) == 1


def test_somebody_else_has_all_attempts(cats: Competition, bo: User, cy: User) -> None:
    enter(cats, bo)
    hand_in(cats, bo, file_with(3))
    personal_data.delete_account(account=bo, user=bo)
    enter(cats, cy)
    assert uploads(cats, cy) == 5


@pytest.mark.attack("more attempts")
def test_attempts_follow_over_any_number_of_teams_and_count_once(
    cats: Competition, bo: User, cy: User, dee: User
) -> None:
    """Three of Cy's team; one of Bo's own; then he joins Dee's, and comes back to Cy's."""
    home, other = enter(cats, cy).team, enter(cats, dee).team
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=home.invitation))
    for wrong in (1, 2, 3):
        hand_in(cats, cy, file_with(wrong))
    teams.leave_team(membership=membership_of(bo))
    assert used_today(bo) == 3
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=other.invitation))
    assert used_today(dee) == 3
    hand_in(cats, bo, file_with(4))
    teams.leave_team(membership=membership_of(bo))
    assert used_today(bo) == 4
    joining.join_by_invitation(user=bo, invitation=home.invitation)
    assert used_today(cy) == 4
    checks_hold(cats)


def test_the_digests_of_a_deleted_account_go_with_the_reveal(cats: Competition, bo: User, cy: User) -> None:
    for user in (bo, cy):
        enter(cats, user)
        hand_in(cats, user, file_with(3))
    personal_data.delete_account(account=bo, user=bo)
    assert FormerMember.objects.exists()
    assert "bo" not in "".join(FormerMember.objects.values_list("digest", flat=True)).replace("b0", "")
    close(cats)
    boards.reveal_competition(competition=cats)
    assert not FormerMember.objects.exists()
    personal_data.delete_account(account=cy, user=cy)
    assert not FormerMember.objects.exists()


def test_they_also_go_with_the_deadline(cats: Competition, bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(cats, bo)
    hand_in(cats, bo, file_with(3))
    personal_data.delete_account(account=bo, user=bo)
    monkeypatch.setattr(tasks, "run_command", lambda *command: None)
    tasks.clear_sessions()
    assert FormerMember.objects.exists()
    close(cats)
    tasks.clear_sessions()
    assert not FormerMember.objects.exists()


# --- teams without members --------------------------------------------------------------------------------------


@pytest.mark.attack("teams of deleted accounts on a running board")
def test_a_team_without_members_is_not_ranked_until_the_end(cats: Competition, bo: User, cy: User) -> None:
    for user, wrong in ((bo, 4), (cy, 8)):
        enter(cats, user)
        hand_in(cats, user, file_with(wrong))
    waiting = submitting.submit_file(competition=cats, user=bo, file_name="f.csv", chunks=[file_with(0)])
    personal_data.delete_account(account=bo, user=bo)
    assert board_of(cats) == [(1, "cy", 0.8)]
    score_module.score_submission(waiting.pk)
    assert board_of(cats) == [(1, "cy", 0.8)]
    checks_hold(cats)
    close(cats)
    boards.reveal_competition(competition=cats)
    assert [name for _, name, _ in board_of(cats)] == ["Former member 1", "cy"]
    checks_hold(cats)


def test_who_goes_after_the_end_stays_on_the_board(cats: Competition, bo: User) -> None:
    enter(cats, bo)
    hand_in(cats, bo, file_with(4))
    close(cats)
    boards.reveal_competition(competition=cats)
    personal_data.delete_account(account=bo, user=bo)
    assert [name for _, name, _ in board_of(cats)] == ["Former member 1"]
    assert [row.name for row in boards_module.ranked_lines(cats, Split.PRIVATE)] == ["Former member 1"]
