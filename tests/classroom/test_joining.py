"""A student enters a competition and forms a team."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, teams
from leaderboard.classroom.teams import CannotJoin
from leaderboard.competitions.models import Competition, Membership, Team
from leaderboard.notifications.models import Notice
from tests.conftest import answers, close, enter, make_competition, submit


def test_bo_joins_with_the_code_however_it_is_typed(pets: Competition, bo: User) -> None:
    code = pets.admission.join_code
    membership = joining.join_by_code(user=bo, code=f" {code[:4].lower()}-{code[4:]} ")
    assert membership.team.name == "bo"
    assert membership.competition == pets


def test_a_wrong_code_is_refused(pets: Competition, bo: User) -> None:
    with pytest.raises(CannotJoin, match="This code doesn't match a launched competition"):
        joining.join_by_code(user=bo, code="WRONG")


def test_a_draft_cannot_be_joined(ada: User, bo: User) -> None:
    draft = make_competition(ada, launched=False)
    with pytest.raises(CannotJoin):
        joining.join_by_code(user=bo, code=draft.admission.join_code)


def test_joining_twice_gives_the_same_membership(pets: Competition, bo: User) -> None:
    assert joining.join_by_code(user=bo, code=pets.admission.join_code) == joining.join_by_code(
        user=bo, code=pets.admission.join_code
    )


def test_cy_joins_although_another_team_takes_cys_name_in_that_moment(
    pets: Competition, bo: User, cy: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    free_name = teams.free_name
    tried: list[str] = []

    def free_a_moment_ago(competition: Competition, user: User) -> str:
        tried.append("bo" if not tried else free_name(competition, user))
        return tried[-1]

    monkeypatch.setattr(teams, "free_name", free_a_moment_ago)
    assert joining.enter_competition(user=cy, competition=pets).team.name == "cy"
    assert tried == ["bo", "cy"]


def test_a_competition_with_a_code_cannot_be_joined_without(pets: Competition, bo: User) -> None:
    with pytest.raises(CannotJoin):
        joining.join_openly(user=bo, competition=pets)


def test_a_listed_competition_without_a_code_is_open(ada: User, bo: User) -> None:
    open_one = make_competition(ada, is_listed=True, needs_code=False)
    assert joining.join_openly(user=bo, competition=open_one).team.name == "bo"


def test_nobody_joins_after_the_deadline(pets: Competition, bo: User) -> None:
    close(pets)
    with pytest.raises(CannotJoin, match="deadline"):
        joining.join_by_code(user=bo, code=pets.admission.join_code)


def test_cy_follows_bos_invitation_and_leaves_no_empty_team(pets: Competition, bo: User, cy: User) -> None:
    bos = enter(pets, bo)
    enter(pets, cy)
    joined = joining.join_by_invitation(user=cy, invitation=bos.team.invitation)
    assert joined.team == bos.team
    assert Team.objects.filter(competition=pets).count() == 1


def test_the_mates_of_who_follows_an_invitation_read_of_it(pets: Competition, bo: User, cy: User, dee: User) -> None:
    old, new = enter(pets, bo).team, enter(pets, dee).team
    joining.join_by_invitation(user=cy, invitation=old.invitation)
    joining.join_by_invitation(user=bo, invitation=new.invitation)
    assert Notice.objects.filter(user=cy, title="A member left your team").exists()


def test_cy_with_submissions_cannot_change_teams(pets: Competition, bo: User, cy: User) -> None:
    bos = enter(pets, bo)
    enter(pets, cy)
    submit(pets, cy, answers())
    with pytest.raises(CannotJoin, match="already has submissions"):
        joining.join_by_invitation(user=cy, invitation=bos.team.invitation)


def test_a_full_team_takes_nobody(ada: User, bo: User, cy: User, dee: User) -> None:
    pairs = make_competition(ada, team_size=2)
    team = enter(pairs, bo).team
    joining.join_by_invitation(user=cy, invitation=team.invitation)
    with pytest.raises(CannotJoin, match="full"):
        joining.join_by_invitation(user=dee, invitation=team.invitation)


def test_a_renewed_invitation_makes_the_old_link_stop(pets: Competition, bo: User, cy: User) -> None:
    membership = enter(pets, bo)
    teams.renew_invitation(membership=membership)
    with pytest.raises(CannotJoin, match="no longer valid"):
        joining.join_by_invitation(user=cy, invitation=membership.team.invitation)


def test_team_names_are_unique_whatever_their_case(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo)
    with pytest.raises(CannotJoin, match="taken"):
        teams.rename_team(membership=enter(pets, cy), name="  BO ")


def test_team_names_lose_what_cannot_be_seen(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    teams.rename_team(membership=membership, name="Over\u202efit \u200b &\nChill")
    assert Team.objects.get(pk=membership.team_id).name == "Overfit & Chill"


def test_a_person_who_leaves_stands_alone_and_the_team_keeps_its_files(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    membership = joining.join_by_invitation(user=cy, invitation=team.invitation)
    submit(pets, bo, answers())
    assert teams.leave_team(membership=membership).team.name == "cy"
    assert team.submissions.count() == 1


def test_ada_may_choose_a_code_with_hyphens(ada: User, bo: User) -> None:
    competition = make_competition(ada, join_code="stat 451-x")
    assert joining.join_by_code(user=bo, code="STAT-451-x").competition == competition


def test_ada_cannot_compete_where_she_sees_the_private_scores(pets: Competition, ada: User, bo: User) -> None:
    with pytest.raises(CannotJoin, match="You host"):
        joining.join_by_code(user=ada, code=pets.admission.join_code)
    with pytest.raises(CannotJoin, match="You host"):
        joining.join_by_invitation(user=ada, invitation=enter(pets, bo).team.invitation)


def test_nobody_leaves_teams_all_day(pets: Competition, bo: User, cy: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a notice to the team that was left."""
    monkeypatch.setattr(teams, "MAX_LEAVES_PER_DAY", 2)
    mine = enter(pets, bo)
    for left in range(3):
        hers = joining.join_by_invitation(user=cy, invitation=mine.team.invitation)
        if left < 2:
            teams.leave_team(membership=hers)
    with pytest.raises(CannotJoin, match="Try again tomorrow"):
        teams.leave_team(membership=hers)


def test_the_database_refuses_a_second_team_for_one_person(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    other = Team.objects.create(competition=pets, name="other")
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(team=other, competition=pets, user=bo)


def test_after_the_deadline_nobody_changes_teams(pets: Competition, bo: User, cy: User, dee: User) -> None:
    first = enter(pets, bo)
    member = joining.join_by_invitation(user=cy, invitation=first.team.invitation)
    close(pets)
    first = Membership.objects.select_related("competition", "team", "user").get(pk=first.pk)
    member = Membership.objects.select_related("competition", "team", "user").get(pk=member.pk)
    for verb in (
        lambda: teams.leave_team(membership=member),
        lambda: teams.renew_invitation(membership=first),
        lambda: joining.join_by_invitation(user=dee, invitation=first.team.invitation),
    ):
        with pytest.raises(CannotJoin, match="The deadline has passed"):
            verb()
