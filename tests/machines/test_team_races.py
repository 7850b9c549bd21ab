"""Teams that change at the same moment: nobody is lost, no team is too large, no attempt is bought."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db.models import Count, F

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, teams
from leaderboard.competitions.models import (
    Competition,
    DailyAttempts,
    Limits,
    Membership,
    Submission,
    Team,
)
from leaderboard.submissions import submit_conditions, submitting
from tests.conftest import answers, broken_promises, enter, person

from .test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

EVENTS = (teams.CannotJoin, submit_conditions.SubmissionRefused)


@pytest.fixture(autouse=True)
def checks(pets: Competition) -> Iterator[None]:
    """Teams of up to four. Afterwards the site's promises hold and no team is empty or too large."""
    Limits.objects.update(team_size=4)
    pets.refresh_from_db()
    yield
    assert broken_promises() == []
    sizes = Team.objects.annotate(size=Count("memberships")).values_list("name", "size")
    assert [one for one in sizes if not 1 <= one[1] <= 4] == []
    assert not Membership.objects.exclude(team__competition=F("competition")).exists()


def outcome(verb: Callable[[], object]) -> str:
    """`done`, or `refused` in words for people; anything else that is raised fails the test."""
    try:
        verb()
    except EVENTS:
        return "refused"
    return "done"


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.attack("teams that join, leave, move and submit at the same moment")
def test_people_who_join_two_teams_while_a_host_moves_the_member_of_one_to_the_other(
    pets: Competition, ada: User, bo: User, cy: User, turn: int
) -> None:
    mine, other = enter(pets, bo), enter(pets, cy)
    links = [mine.team.invitation, other.team.invitation]
    people = [person(f"student-{number}") for number in range(8)]

    def act(number: int) -> str:
        if number == 4:
            return outcome(lambda: joining.move_student(membership=other, team=mine.team, user=ada))
        return outcome(lambda: joining.join_by_invitation(user=people[number], invitation=links[number % 2]))

    seen = at_once(act, 8)
    assert seen.count("done") >= 3
    assert Membership.objects.count() == 2 + sum(answer == "done" for n, answer in enumerate(seen) if n != 4)


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.attack("teams that join, leave, move and submit at the same moment")
def test_a_file_handed_in_while_its_team_is_given_up_is_kept_and_counts(
    pets: Competition, bo: User, cy: User, turn: int
) -> None:
    enter(pets, bo)
    link = enter(pets, cy).team.invitation

    def act(number: int) -> str:
        if number == 1:
            return outcome(lambda: joining.join_by_invitation(user=bo, invitation=link))
        given = {"competition": pets, "user": bo, "file_name": "a.csv", "chunks": [answers()]}
        return outcome(lambda: submitting.submit_file(**given))  # type: ignore[arg-type]

    seen = at_once(act, 4)
    taken = sum(answer == "done" for number, answer in enumerate(seen) if number != 1)
    assert Submission.objects.count() == taken == sum(DailyAttempts.objects.values_list("used", flat=True))
    assert taken == 3


@pytest.mark.attack("teams that join, leave, move and submit at the same moment")
def test_who_leaves_sixteen_times_at_once_leaves_once(pets: Competition, bo: User, cy: User, dee: User) -> None:
    link = enter(pets, bo).team.invitation
    mine = joining.join_by_invitation(user=cy, invitation=link)
    joining.join_by_invitation(user=dee, invitation=link)
    seen = at_once(lambda _: outcome(lambda: teams.leave_team(membership=Membership.objects.get(pk=mine.pk))))
    assert seen.count("done") == 1
    assert Team.objects.count() == 2


def test_who_leaves_while_a_host_moves_the_others(pets: Competition, ada: User, bo: User, cy: User, dee: User) -> None:
    mine, other = enter(pets, bo), enter(pets, cy)
    third = joining.join_by_invitation(user=dee, invitation=other.team.invitation)
    events: list[Callable[[], object]] = [
        lambda: joining.move_student(membership=other, team=mine.team, user=ada),
        lambda: teams.leave_team(membership=third),
    ]
    assert "done" in at_once(lambda n: outcome(events[n]), 2)
    assert Membership.objects.count() == 3
