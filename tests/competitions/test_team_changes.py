"""A person who changes teams or signs up again brings along what a steady board has shown them, and the day's attempts.

Ada hosts on 40 public and 20 private rows, as in `test_board_modes`; the step is 0.1.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from django.utils import timezone

from leaderboard.accounts import personal_data
from leaderboard.accounts.models import User
from leaderboard.classroom import joining, team_merges, teams
from leaderboard.competitions import tasks
from leaderboard.competitions.models import Competition, DailyAttempts, Membership, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.team_history import FormerMember
from leaderboard.competitions.ranking import boards as boards_module
from leaderboard.competitions.ranking import ladder, standings
from leaderboard.competitions.ranking.ladder import Ladder, Origin, ScoredFile, replay_transfers
from leaderboard.competitions.scoring import score as score_module
from leaderboard.competitions.services import boards, submit_conditions, submitting
from leaderboard.operations import consistency
from tests.competitions.test_board_modes import board_of, file_with, ground_truth_of, steady
from tests.conftest import close, enter, hand_in

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


# --- the voting attack ------------------------------------------------------------------------------------------


def leaving_and_merging_back(files: int) -> list[Origin]:
    """Before each file somebody leaves team 0 for a new one, which team 0 takes in after it."""
    moves = []
    for number in range(files):
        moves.append(Origin(number + 1, 0, BEGIN + timedelta(hours=number, minutes=-20)))
        moves.append(Origin(0, number + 1, BEGIN + timedelta(hours=number, minutes=20)))
    return moves


def going_from_team_to_team(files: int) -> list[Origin]:
    """Before each file somebody comes to a new team: by leaving, by joining, or with a new account."""
    return [Origin(number + 1, number, BEGIN + timedelta(hours=number, minutes=-20)) for number in range(files)]


def without_following(files: int) -> list[Origin]:
    """Nothing follows anybody: each team has a fresh board."""
    return []


def vote(seed: int, moves: Callable[[int], list[Origin]]) -> float:
    """What 150 random files gain for their majority on 1,000 public rows, each handed in by another team."""
    dice, public, files = np.random.default_rng(seed), 1000, 150
    truth = dice.integers(0, 2, public, dtype=np.int8)
    guesses = dice.integers(0, 2, (files, public), dtype=np.int8)
    exact = (guesses == truth).mean(axis=1)
    handed_in = [
        ScoredFile(BEGIN + timedelta(hours=number), UUID(int=number), number + 1, number + 1, float(score))
        for number, score in enumerate(exact)
    ]
    replayed = list(replay_transfers(Ladder(0.03, -1.0, 1.0), handed_in, moves(files)))
    shown, answered = np.array([[shown, is_new] for _, shown, is_new in replayed]).T
    # Where every file is answered the scores are compared; otherwise the few answered files are the better ones.
    votes = (shown - shown.mean() if answered.all() else answered) @ (2.0 * guesses - 1.0)
    votes += dice.uniform(-1e-6, 1e-6, public)
    return float(((votes > 0) == truth).mean()) - 0.5


@pytest.mark.parametrize("moves", [leaving_and_merging_back, going_from_team_to_team])
@pytest.mark.attack("a fresh steady board or more attempts")
def test_changing_teams_gains_a_voter_next_to_nothing(moves: Callable[[int], list[Origin]]) -> None:
    assert np.mean([vote(seed, moves) for seed in range(12)]) <= 0.03


@pytest.mark.attack("a fresh steady board or more attempts")
def test_a_fresh_board_for_each_file_would_gain_much() -> None:
    assert np.mean([vote(seed, without_following) for seed in range(12)]) >= 0.1


# --- the same on the site ---------------------------------------------------------------------------------------


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


def answered(competition: Competition, files: list[Submission]) -> list[bool]:
    """Of each file, whether the team that has it now reads a score of it."""
    ground_truth = ground_truth_of(competition)
    read = set[str]()
    for team in {Submission.objects.get(pk=file.pk).team for file in files}:
        read |= set(ladder.shown_scores(team, ground_truth) or ())
    return [str(file.pk) in read for file in files]


def expected_of(scores: list[float]) -> list[bool]:
    return [is_new for _, is_new in Ladder(0.1, -1.0, 1.0).answers(scores)]


@pytest.fixture
def pets(ada: User) -> Competition:
    return steady(ada, daily_attempts=100, team_size=3)


def wrong_rows(seed: int) -> list[int]:
    """Files that slowly get better."""
    dice = random.Random(seed)
    return [max(0, 30 - 4 * number + dice.randrange(-6, 7)) for number in range(7)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.attack("a fresh steady board or more attempts")
def test_leaving_and_merging_back_reads_no_more_than_staying(pets: Competition, bo: User, cy: User, seed: int) -> None:
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=enter(pets, cy).team.invitation))
    rows, files = wrong_rows(seed), list[Submission]()
    for number in rows:
        teams.leave_team(membership=membership_of(bo))
        files.append(hand_in(pets, bo, file_with(number, start=len(files))))
        merged(bo, cy)
        checks_hold(pets)
    assert answered(pets, files) == expected_of([1 - number / 40 for number in rows])
    assert len(board_of(pets)) == 1


@pytest.mark.attack("a fresh steady board or more attempts")
def test_leaving_and_joining_others_reads_no_more_than_staying(
    pets: Competition, bo: User, cy: User, dee: User
) -> None:
    homes = [enter(pets, user).team.invitation for user in (cy, dee)]
    rows, files = wrong_rows(5), list[Submission]()
    for place, number in enumerate(rows):
        joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=homes[place % 2]))
        files.append(hand_in(pets, bo, file_with(number, start=place)))
        teams.leave_team(membership=membership_of(bo))
        checks_hold(pets)
    assert answered(pets, files) == expected_of([1 - number / 40 for number in rows])


@pytest.mark.attack("a fresh steady board or more attempts")
def test_signing_up_again_reads_no_more_than_staying(pets: Competition, bo: User) -> None:
    rows, files = wrong_rows(7), list[Submission]()
    for place, number in enumerate(rows):
        enter(pets, bo)
        files.append(hand_in(pets, bo, file_with(number, start=place)))
        bo = signed_up_again(bo, f"bo{place}")
        checks_hold(pets)
    assert answered(pets, files) == expected_of([1 - number / 40 for number in rows])


def test_the_score_of_a_file_that_was_under_way_follows_too(pets: Competition, bo: User, cy: User) -> None:
    """Bo leaves before his file is scored; his own team hears of it all the same."""
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=enter(pets, cy).team.invitation))
    first = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[file_with(10)])
    teams.leave_team(membership=membership_of(bo))
    own = hand_in(pets, bo, file_with(9))
    assert answered(pets, [own]) == [True]
    score_module.score_submission(first.pk)
    assert answered(pets, [first, own]) == [True, False]
    assert [name for _, name, _ in board_of(pets)] == ["cy"]
    checks_hold(pets)


def test_who_has_left_stands_on_the_board_with_a_clear_improvement(pets: Competition, bo: User, cy: User) -> None:
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=enter(pets, cy).team.invitation))
    hand_in(pets, cy, file_with(10))  # 0.75 → 0.7
    teams.leave_team(membership=membership_of(bo))
    hand_in(pets, bo, file_with(9))
    assert board_of(pets) == [(1, "cy", 0.7)]
    hand_in(pets, bo, file_with(5))
    assert board_of(pets) == [(1, "bo", 0.8), (2, "cy", 0.7)]
    checks_hold(pets)


def test_a_merged_team_has_the_better_standing_of_both(pets: Competition, bo: User, cy: User) -> None:
    """Files that were answered before keep their answers."""
    enter(pets, bo)
    enter(pets, cy)
    files = [hand_in(pets, user, file_with(wrong)) for user, wrong in ((bo, 20), (cy, 17), (cy, 12), (bo, 13))]
    before = answered(pets, files)
    merged(bo, cy)
    assert answered(pets, files) == before == [True, True, True, True]
    assert board_of(pets) == [(1, "cy", 0.7)]
    assert not answered(pets, [hand_in(pets, bo, file_with(9))])[0]
    checks_hold(pets)


def test_at_the_reveal_every_team_stands_with_its_exact_scores(pets: Competition, bo: User, cy: User) -> None:
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=enter(pets, cy).team.invitation))
    hand_in(pets, cy, file_with(10))
    teams.leave_team(membership=membership_of(bo))
    hand_in(pets, bo, file_with(9))
    close(pets)
    boards.reveal_competition(competition=pets)
    assert board_of(pets) == [(1, "bo", 0.775), (2, "cy", 0.75)]
    checks_hold(pets)


def test_on_a_hidden_board_a_first_file_is_valid_wherever_its_people_come_from(ada: User, bo: User, cy: User) -> None:
    pets = steady(ada, board_mode="hidden", board_step=None, team_size=2)
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=enter(pets, cy).team.invitation))
    hand_in(pets, cy, file_with(3))
    teams.leave_team(membership=membership_of(bo))
    hand_in(pets, bo, file_with(9))
    assert board_of(pets) == [(None, "cy", None), (None, "bo", None)]
    checks_hold(pets)


# --- attempts ---------------------------------------------------------------------------------------------------


def used_today(user: User) -> int:
    return DailyAttempts.objects.get(team__memberships__user=user, day=timezone.now().date()).used


@pytest.fixture
def cats(ada: User) -> Competition:
    return steady(ada, board_mode="plain", daily_attempts=5, team_size=3)


def uploads(competition: Competition, user: User) -> int:
    """How many files the site takes of a person until it says no."""
    for number in range(20):
        try:
            hand_in(competition, user, file_with(number))
        except submit_conditions.SubmissionRefused:
            return number
    return 20


@pytest.mark.attack("a fresh steady board or more attempts")
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


@pytest.mark.attack("a fresh steady board or more attempts")
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


@pytest.mark.parametrize("mode", ["plain", "steady"])
@pytest.mark.attack("teams of deleted accounts on a running board")
def test_a_team_without_members_is_not_ranked_until_the_end(ada: User, bo: User, cy: User, mode: str) -> None:
    cats = steady(ada, board_mode=mode)
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
