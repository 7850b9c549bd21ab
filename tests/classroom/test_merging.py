"""Two teams become one, by Kaggle's attempt rule and with both captains' word."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, team_merges
from leaderboard.classroom.teams import CannotJoin
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.competitions.models import (
    Competition,
    DailyAttempts,
    Extension,
    GroundTruth,
    Limits,
    Membership,
    MergeOffer,
    Score,
    Standing,
    Submission,
    Team,
)
from leaderboard.competitions.ranking import standings
from leaderboard.competitions.scoring import measuring, score
from leaderboard.competitions.services import submit_conditions, submitting
from leaderboard.notifications.models import Notice
from leaderboard.operations import consistency
from tests.conftest import answers, close, enter, hand_in


@pytest.fixture
def two(pets: Competition, bo: User, cy: User) -> tuple[Membership, Membership]:
    """Bo's team and Cy's; the competition is in its second day."""
    return enter(pets, bo), enter(pets, cy)


def united(bo: Membership, cy: Membership) -> Team:
    """Bo offers, Cy accepts."""
    made = team_merges.offer_merge(membership=bo, invitation=cy.team.invitation)
    return team_merges.accept_merge(membership=cy, offer_id=made.pk)


def checks_hold() -> None:
    results = consistency.run_checks(seed=1, only={1, 3, 6, 7})
    assert [(result.number, result.examples) for result in results if not result.holds] == []


def test_everything_of_both_belongs_to_the_one_that_offered(
    two: tuple[Membership, Membership], pets: Competition, bo: User, cy: User
) -> None:
    hand_in(pets, bo, answers(public=2))
    best = hand_in(pets, cy, answers(public=1))
    team = united(*two)
    assert team.captain == bo
    assert sorted(team.memberships.values_list("user__username", flat=True)) == ["bo", "cy"]
    assert Team.objects.count() == 1
    assert Submission.objects.filter(team=team).count() == 2
    standing = Standing.objects.get()
    assert (standing.team, standing.submission) == (team, best)
    assert standings.standing_differences(GroundTruth.objects.select_related("competition").get()) == []
    assert submit_conditions.allowance_of(Membership.objects.get(user=cy), timezone.now()).left == 3
    checks_hold()


def test_it_is_in_the_audit_log_and_both_are_told(two: tuple[Membership, Membership], cy: User, bo: User) -> None:
    united(*two)
    entry = AuditEntry.objects.get(event=AuditEvent.TEAMS_MERGED)
    assert (entry.by, entry.about) == (cy.pk, f"team #{two[0].team_id}")
    assert ("members", [[f"account #{bo.pk}"], [f"account #{cy.pk}"]], [f"account #{n}" for n in (bo.pk, cy.pk)]) in (
        entry.changes
    )
    assert "'bo'" not in str([entry.before, entry.after])
    assert set(Notice.objects.values_list("user__username", flat=True)) == {"bo", "cy"}


def test_offering_and_taking_back_in_turns_floods_nobodys_page(two: tuple[Membership, Membership]) -> None:
    mine, other = two
    for ends_it in (mine, other) * 5:
        made = team_merges.offer_merge(membership=mine, invitation=other.team.invitation)
        team_merges.withdraw_merge(membership=ends_it, offer_id=made.pk)
    assert Notice.objects.filter(user__username="cy").count() == 1
    assert Notice.objects.filter(user__username="bo").count() == 1
    Notice.objects.update(key="merge: of another day")
    team_merges.offer_merge(membership=mine, invitation=other.team.invitation)
    assert Notice.objects.filter(user__username="cy").count() == 2, "on another day it is news again"


def test_a_full_day_of_both_stays_countable_and_leaves_nothing_for_today(
    two: tuple[Membership, Membership], pets: Competition, bo: User, cy: User
) -> None:
    """Two days of five are ten; five and five today use them up."""
    for who in (bo, cy):
        for _ in range(5):
            hand_in(pets, who, answers(public=1))
    team = united(*two)
    count = DailyAttempts.objects.get(team=team)
    assert (count.used, count.limit) == (10, 10)
    assert submit_conditions.allowance_of(Membership.objects.get(user=cy), timezone.now()).left == 0
    checks_hold()


def test_more_than_one_team_could_have_used_is_refused_until_days_have_passed(
    two: tuple[Membership, Membership], pets: Competition, bo: User, cy: User
) -> None:
    Competition.objects.update(opens_at=timezone.now() - timedelta(seconds=1))
    for who, number in ((bo, 3), (cy, 3)):
        for _ in range(number):
            hand_in(pets, who, answers())
    with pytest.raises(CannotJoin, match=r"6 submissions that count.* could have 5"):
        team_merges.offer_merge(membership=two[0], invitation=two[1].team.invitation)
    Competition.objects.update(opens_at=timezone.now() - timedelta(days=1))
    assert united(*two).submissions.count() == 6


def test_invalid_files_count_for_nobody(
    two: tuple[Membership, Membership], pets: Competition, bo: User, cy: User
) -> None:
    Competition.objects.update(opens_at=timezone.now() - timedelta(seconds=1))
    for who in (bo, cy):
        hand_in(pets, who, b"nonsense\n")
    assert team_merges.attempt_balance(pets, [two[0].team, two[1].team], timezone.now()).used == 0
    united(*two)
    assert DailyAttempts.objects.get().used == 0


def test_the_rule_is_asked_again_when_the_other_accepts(
    two: tuple[Membership, Membership], pets: Competition, bo: User
) -> None:
    Competition.objects.update(opens_at=timezone.now() - timedelta(seconds=1))
    Limits.objects.update(daily_attempts=2)
    made = team_merges.offer_merge(membership=two[0], invitation=two[1].team.invitation)
    for user in (bo, two[1].user):
        for _ in range(2):
            hand_in(pets, user, answers())
    with pytest.raises(CannotJoin, match="4 submissions that count"):
        team_merges.accept_merge(membership=two[1], offer_id=made.pk)
    assert Team.objects.count() == 2


def test_only_captains_decide(two: tuple[Membership, Membership], pets: Competition, dee: User) -> None:
    mate = joining.join_by_invitation(user=dee, invitation=two[1].team.invitation)
    made = team_merges.offer_merge(membership=two[0], invitation=two[1].team.invitation)
    for verb in (
        lambda: team_merges.accept_merge(membership=mate, offer_id=made.pk),
        lambda: team_merges.withdraw_merge(membership=mate, offer_id=made.pk),
        lambda: team_merges.offer_merge(membership=mate, invitation=two[0].team.invitation),
    ):
        with pytest.raises(CannotJoin, match="Only the captain"):
            verb()
    assert MergeOffer.objects.count() == 1


def test_nobody_accepts_the_own_offer_or_somebody_elses(
    two: tuple[Membership, Membership], pets: Competition, dee: User
) -> None:
    stranger = enter(pets, dee)
    made = team_merges.offer_merge(membership=two[0], invitation=two[1].team.invitation)
    for who in (two[0], stranger):
        with pytest.raises(CannotJoin, match="This offer no longer exists"):
            team_merges.accept_merge(membership=who, offer_id=made.pk)
    team_merges.withdraw_merge(membership=stranger, offer_id=made.pk)
    assert MergeOffer.objects.count() == 1
    team_merges.withdraw_merge(membership=two[1], offer_id=made.pk)
    assert MergeOffer.objects.count() == 0
    assert Notice.objects.filter(user=two[0].user, title__contains="declined").exists()


def test_a_team_too_large_the_own_link_and_a_wrong_one_are_refused(two: tuple[Membership, Membership]) -> None:
    bo, cy = two
    Limits.objects.update(team_size=1)
    with pytest.raises(CannotJoin, match="you'd have 2 members"):
        team_merges.offer_merge(membership=bo, invitation=cy.team.invitation)
    with pytest.raises(CannotJoin, match="your own team"):
        team_merges.offer_merge(membership=bo, invitation=f"http://x/invitation/{bo.team.invitation}/")
    for wrong in ("", "/", "nonsense"):
        with pytest.raises(CannotJoin, match="invitation link"):
            team_merges.offer_merge(membership=bo, invitation=wrong)


@pytest.mark.parametrize("why", ["deadline", "host", "disqualified"])
def test_teams_that_stay_as_they_are_do_not_become_one(
    two: tuple[Membership, Membership], pets: Competition, why: str
) -> None:
    made = team_merges.offer_merge(membership=two[0], invitation=two[1].team.invitation)
    if why == "deadline":
        close(pets)
    elif why == "host":
        Limits.objects.update(teams_close_at=timezone.now())
    else:
        Team.objects.filter(pk=two[0].team_id).update(disqualified_at=timezone.now(), disqualified_reason="Copied")
    with pytest.raises(CannotJoin):
        team_merges.accept_merge(membership=two[1], offer_id=made.pk)
    assert Team.objects.count() == 2


def test_too_many_picks_are_given_up_and_few_stay(
    two: tuple[Membership, Membership], pets: Competition, bo: User, cy: User
) -> None:
    for who in (bo, cy):
        chosen = [str(hand_in(pets, who, answers(public=wrong)).pk) for wrong in (0, 1)]
        submitting.select_finals(competition=pets, user=who, submission_ids=chosen, at=timezone.now())
    united(*two)
    assert not Submission.objects.filter(is_selected=True).exists()


def test_picks_that_fit_stay(two: tuple[Membership, Membership], pets: Competition, bo: User, cy: User) -> None:
    for who in (bo, cy):
        chosen = [str(hand_in(pets, who, answers()).pk)]
        submitting.select_finals(competition=pets, user=who, submission_ids=chosen, at=timezone.now())
    united(*two)
    assert Submission.objects.filter(is_selected=True).count() == 2


def test_of_extensions_the_kinder_stays_and_they_do_not_add_up(
    two: tuple[Membership, Membership], pets: Competition
) -> None:
    bo, cy = two
    late = pets.closes_at + timedelta(days=1)
    Extension.objects.create(team=bo.team, extra_attempts=1, reason="ill")
    Extension.objects.create(team=bo.team, closes_at=late, reason="ill too")
    Extension.objects.create(
        team=cy.team, extra_attempts=3, closes_at=late - timedelta(hours=1), reason="a broken laptop"
    )
    team = united(*two)
    live = Extension.objects.active().filter(team=team)
    assert sum(one.extra_attempts for one in live) == 3
    assert max(one.closes_at for one in live if one.closes_at) == late
    assert submit_conditions.allowance_of(Membership.objects.get(user=cy.user), timezone.now()).limit == 8


def test_a_file_that_is_being_measured_meanwhile_stands_for_the_united_team(
    two: tuple[Membership, Membership], pets: Competition, cy: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = submitting.submit_file(competition=pets, user=cy, file_name="a.csv", chunks=[answers()])
    real = measuring.measure_submission

    def measure(*given: object) -> object:
        united(*two)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(score, "measure_submission", measure)
    assert score.score_submission(waiting.pk) == "scored"
    assert Score.objects.filter(submission=waiting).count() == 2
    assert Standing.objects.get().team == two[0].team
    checks_hold()


@pytest.mark.django_db(transaction=True)
def test_a_file_on_its_way_meanwhile_arrives_in_the_united_team(
    two: tuple[Membership, Membership], pets: Competition, cy: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, done = submitting.check_beginning, list[int]()

    def check_beginning(*given: object) -> object:
        if not done:
            done.append(1)
            united(*two)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(submitting, "check_beginning", check_beginning)
    arrived = submitting.submit_file(competition=pets, user=cy, file_name="a.csv", chunks=[answers()])
    assert arrived.team == two[0].team
    checks_hold()
