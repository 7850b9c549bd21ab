"""Ada moves a student to another team: nobody gains attempts, and submissions stay where they were made."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import User
from leaderboard.boards import standings
from leaderboard.classroom import extensions, joining
from leaderboard.classroom.teams import CannotJoin
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition, Limits, Membership, Team
from leaderboard.notifications.models import Notice
from leaderboard.operations import consistency
from tests.conftest import answers, close, enter, person, submit
from tests.pages import signed_in, text_of


def page_of(user: User) -> str:
    return f"/host/pets/people/{user.pk}/"


def move(student: Membership, team: Team, host: User) -> None:
    joining.move_student(membership=student, team=team, user=host)


def checks_hold(competition: Competition) -> None:
    assert competition.ground_truth is not None
    competition.ground_truth.competition = competition
    assert standings.standing_differences(competition.ground_truth) == []
    found = consistency.run_checks(seed=1, only={1, 3, 6, 7, 8})
    assert [(result.number, result.examples) for result in found if not result.holds] == []


def test_ada_moves_cy_into_bos_team_on_the_page(pets: Competition, ada: User, bo: User, cy: User) -> None:
    team, own = enter(pets, bo).team, enter(pets, cy).team
    client = signed_in(ada)
    assert 'href="?move#team-title"' in client.get(page_of(cy)).content.decode()
    assert f'<option value="{team.pk}">bo</option>' in client.get(f"{page_of(cy)}?move").content.decode()
    assert client.post(page_of(cy), {"action": "team", "team": team.pk}).status_code == 303
    assert Membership.objects.get(user=cy).team == team
    assert not Team.objects.filter(pk=own.pk).exists(), "it had no submissions"
    for user in (bo, cy):
        assert "A host moved “cy” to “bo”" in Notice.objects.get(user=user).text
    entry = AuditEntry.objects.get(event="member_moved")
    assert (entry.by, entry.account, entry.before) == (ada.pk, cy.pk, {"team": f"team #{own.pk}"})


def test_submissions_stay_with_the_team_that_nobody_is_in_and_it_is_on_no_board(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team, own = enter(pets, bo).team, enter(pets, cy)
    file = submit(pets, cy, answers())
    submit(pets, bo, answers(public=2))
    move(own, team, ada)
    file.refresh_from_db()
    assert file.team_id == own.team_id
    board = text_of(signed_in(bo).get("/c/pets/leaderboard/"))
    assert "1 team" in board
    checks_hold(pets)


def test_those_who_stay_read_it(pets: Competition, ada: User, bo: User, cy: User, dee: User) -> None:
    home = enter(pets, bo)
    joining.join_by_invitation(user=cy, invitation=home.team.invitation)
    other = enter(pets, dee).team
    submit(pets, bo, answers())
    move(home, other, ada)
    team = Team.objects.get(pk=home.team_id)
    assert "“bo” is no longer in “bo”" in " ".join(Notice.objects.filter(user=cy).values_list("text", flat=True))
    assert team.submissions.count() == 1
    checks_hold(pets)


@pytest.mark.attack("more attempts")
def test_a_student_who_is_moved_has_used_what_they_used(pets: Competition, ada: User, bo: User, cy: User) -> None:
    Limits.objects.update(daily_attempts=2)
    pets.refresh_from_db()
    team, own = enter(pets, bo).team, enter(pets, cy)
    for _ in range(2):
        submit(pets, cy, answers())
    move(own, team, ada)
    page = text_of(signed_in(cy).get("/c/pets/submit/"))
    assert "0 of 2" in page


def test_what_keeps_students_out_of_a_team_keeps_hosts_from_moving_them(
    pets: Competition, ada: User, bo: User, cy: User, dee: User
) -> None:
    team, own = enter(pets, bo).team, enter(pets, cy)
    joining.join_by_invitation(user=dee, invitation=team.invitation)
    Limits.objects.update(team_size=2)
    with pytest.raises(CannotJoin, match="is full"):
        move(own, team, ada)
    Limits.objects.update(team_size=3)
    extensions.disqualify_team(team=team, user=ada, reason="Copied.")
    with pytest.raises(CannotJoin, match="disqualified"):
        move(own, team, ada)
    extensions.readmit_team(team=team, user=ada)
    close(pets)
    with pytest.raises(CannotJoin, match="deadline has passed"):
        move(own, team, ada)
    assert "Move" not in text_of(signed_in(ada).get(f"{page_of(cy)}?move"))


def test_only_hosts_move_students_and_only_to_teams_with_room(pets: Competition, ada: User, bo: User, cy: User) -> None:
    team, own = enter(pets, bo).team, enter(pets, cy).team
    pets.assistants.add(person("ivy"))
    ivy = signed_in(User.objects.get(username="ivy"))
    assert "Move" not in text_of(ivy.get(f"{page_of(cy)}?move"))
    assert ivy.post(page_of(cy), {"action": "team", "team": team.pk}).status_code == 403
    assert signed_in(bo).post(page_of(cy), {"action": "team", "team": team.pk}).status_code in (302, 404)
    for wrong in ("", "x", own.pk, 4711):
        assert signed_in(ada).post(page_of(cy), {"action": "team", "team": wrong}).status_code == 422
    assert Membership.objects.get(user=cy).team == own
