"""A person who changes teams has no more attempts of a day than one who stays.

Ada hosts on 40 public and 20 private rows, as in `test_hidden_board`.
"""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.utils import timezone

from leaderboard.accounts import personal_data
from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import services as boards
from leaderboard.boards import standings
from leaderboard.classroom import joining, teams
from leaderboard.classroom.models import RosterEntry
from leaderboard.classroom.teams import CannotJoin
from leaderboard.competitions.models import Admission, Competition, Membership
from leaderboard.competitions.models.competition import Split
from leaderboard.operations import consistency
from leaderboard.submissions import allowances, submit_conditions, submitting
from leaderboard.submissions import score as score_module
from tests.boards.test_hidden_board import TRUTH, board_of, file_with, ground_truth_of
from tests.conftest import close, enter, make_competition, submit
from tests.pages import signed_in, text_of


def membership_of(user: User) -> Membership:
    return Membership.objects.select_related("team", "competition").get(user=user)


def checks_hold(competition: Competition) -> None:
    assert standings.standing_differences(ground_truth_of(competition)) == []
    # `close` moves deadlines before files that were in time, so that promise is not asked for.
    found = consistency.run_checks(seed=1, only={1, 3, 6, 7})
    assert [(result.number, result.examples) for result in found if not result.holds] == []


# --- attempts ---------------------------------------------------------------------------------------------------


@pytest.fixture
def cats(ada: User) -> Competition:
    return make_competition(ada, truth=TRUTH, daily_attempts=5, team_size=3)


def uploads(competition: Competition, user: User, *, at_most: int = 20) -> int:
    """How many files the site takes of a person until it says no."""
    for number in range(at_most):
        try:
            submit(competition, user, file_with(number))
        except submit_conditions.SubmissionRefused:
            return number
    return at_most


@pytest.mark.attack("more attempts")
def test_whoever_leaves_a_team_has_used_what_they_used_in_it(cats: Competition, bo: User, cy: User) -> None:
    """Bo uses all attempts of Cy's team, leaves, comes back and leaves again."""
    home = enter(cats, cy).team
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=home.invitation))
    assert uploads(cats, bo) == 5
    for _ in range(3):
        teams.leave_team(membership=membership_of(bo))
        assert uploads(cats, bo) == 0
        assert allowances.allowance_of(membership_of(bo), timezone.now()).left == 0
        assert "some with another team" in text_of(signed_in(bo).get("/c/pets/submit/"))
        joining.join_by_invitation(user=bo, invitation=home.invitation)
    checks_hold(cats)


@pytest.mark.attack("more attempts")
def test_who_joins_others_adds_nothing_to_what_they_have(cats: Competition, bo: User, cy: User, dee: User) -> None:
    """Three people have the attempts of three people, and each team those of one, whoever submits where."""
    homes = [enter(cats, user).team for user in (cy, dee)]
    total = 0
    for home in homes * 2:
        joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=home.invitation))
        total += uploads(cats, bo, at_most=2)
        teams.leave_team(membership=membership_of(bo))
    assert total == 5
    for user, left in ((cy, 2), (dee, 3)):
        assert uploads(cats, user) == left
    checks_hold(cats)


@pytest.mark.attack("more attempts")
def test_leaving_and_being_moved_back_gives_no_more_attempts(cats: Competition, ada: User, bo: User, cy: User) -> None:
    home = enter(cats, cy).team
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=home.invitation))
    total = 0
    for _ in range(3):
        teams.leave_team(membership=membership_of(bo))
        total += uploads(cats, bo)
        joining.move_student(membership=membership_of(bo), team=home, user=ada)
        total += uploads(cats, bo)
    assert total == 5
    checks_hold(cats)


def test_a_file_that_did_not_count_is_free_for_the_person_too(cats: Competition, bo: User, cy: User) -> None:
    joining.accept_rules(membership=joining.join_by_invitation(user=bo, invitation=enter(cats, cy).team.invitation))
    for _ in range(3):
        assert submit(cats, bo, b"id,label\n1,cat\n1,cat\n").status == "invalid"
    teams.leave_team(membership=membership_of(bo))
    assert uploads(cats, bo) == 5


@pytest.mark.attack("more attempts")
def test_who_deletes_the_account_is_off_the_class_list(cats: Competition, bo: User) -> None:
    """On a board for the class list alone nobody signs up again for fresh attempts."""
    Admission.objects.update(kind=Admission.Kind.ROSTER)
    RosterEntry.objects.create(course=cats.course, name="Bo", email=bo.email, user=bo)
    enter(cats, bo)
    assert uploads(cats, bo) == 5
    personal_data.delete_account(account=bo, user=bo)
    again = User.objects.create_user("bo", bo.email)
    EmailAddress.objects.create(user=again, email=bo.email, verified=True, primary=True)
    cats = Competition.objects.get()
    with pytest.raises(CannotJoin):
        joining.join_by_code(user=again, code=cats.admission.join_code)


# --- teams without members --------------------------------------------------------------------------------------


@pytest.mark.attack("teams of deleted accounts on a running board")
def test_a_team_without_members_is_not_ranked_until_the_end(cats: Competition, bo: User, cy: User) -> None:
    for user, wrong in ((bo, 4), (cy, 8)):
        enter(cats, user)
        submit(cats, user, file_with(wrong))
    waiting = submitting.submit_file(competition=cats, user=bo, file_name="f.csv", chunks=[file_with(0)])
    personal_data.delete_account(account=bo, user=bo)
    assert board_of(cats) == [(1, "cy", 0.8)]
    score_module.score_one(waiting.pk)
    assert board_of(cats) == [(1, "cy", 0.8)]
    checks_hold(cats)
    close(cats)
    boards.reveal_competition(competition=cats)
    assert [name for _, name, _ in board_of(cats)] == ["Former member 1", "cy"]
    checks_hold(cats)


def test_who_goes_after_the_end_stays_on_the_board(cats: Competition, bo: User) -> None:
    enter(cats, bo)
    submit(cats, bo, file_with(4))
    close(cats)
    boards.reveal_competition(competition=cats)
    personal_data.delete_account(account=bo, user=bo)
    assert [name for _, name, _ in board_of(cats)] == ["Former member 1"]
    assert [row.name for row in boards_module.ranked_lines(cats, Split.PRIVATE)] == ["Former member 1"]
