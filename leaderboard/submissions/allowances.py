"""The attempts that a team has left today, and the refusal that a file would get now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from leaderboard.competitions.models import Competition, DailyAttempts, Membership
from leaderboard.competitions.models.extension import (
    EffectiveLimits,
    effective_limits_of,
    effective_limits_of_teams,
)

from .submit_conditions import SubmissionRefused, attempts_of_person, out_of_attempts, submit_refusal


@dataclass(frozen=True)
class AttemptAllowance:
    """A team's attempts per day (`limit`), those left today, and its deadline; all with its extensions."""

    limit: int
    left: int
    resets_at: datetime
    closes_at: datetime
    allows_late: bool
    is_limited_by_person: bool = False
    """Whether `left` is limited by attempts that the person used today with another team."""

    @property
    def resets_in_time(self) -> bool:
        """Whether new attempts come before the team's deadline, or late files are taken."""
        return self.allows_late or self.resets_at < self.closes_at


def allowance_of(membership: Membership, at: datetime) -> AttemptAllowance:
    """A member's allowance on the day of `at`. Three queries."""
    competition, day = membership.competition, membership.competition.day_of(at)
    limits = effective_limits_of(membership.team_id, competition)
    used = DailyAttempts.objects.filter(team=membership.team_id, day=day).values_list("used", flat=True).first() or 0
    used_by_person = attempts_of_person(membership, day)
    allowed = _attempts_left(limits, max(used, used_by_person), competition, day)
    return replace(allowed, is_limited_by_person=used_by_person > used)


def _attempts_left(limits: EffectiveLimits, used: int, competition: Competition, day: date) -> AttemptAllowance:
    midnight = competition.midnight(day + timedelta(days=1))
    left = max(0, limits.daily_attempts - used)
    return AttemptAllowance(limits.daily_attempts, left, midnight, limits.closes_at, competition.limits.allows_late)


def allowances_of_teams(teams: Mapping[int, Competition], at: datetime) -> dict[int, AttemptAllowance]:
    """Team → its allowance on the day of `at`. Two queries for all teams."""
    days = {key: competition.day_of(at) for key, competition in teams.items()}
    counts = DailyAttempts.objects.filter(team__in=list(teams), day__in=set(days.values()))
    used = {(team, day): number for team, day, number in counts.values_list("team_id", "day", "used")}
    return {
        key: _attempts_left(limits, used.get((key, days[key]), 0), teams[key], days[key])
        for key, limits in effective_limits_of_teams(teams).items()
    }


def submit_refusal_now(
    competition: Competition, membership: Membership | None, at: datetime, allowed: AttemptAllowance | None = None
) -> SubmissionRefused | None:
    """The refusal that any file would get now; None if one may be sent. The pause after many invalid files and the
    bytes of the team are checked with the file.

    `allowed` is the member's allowance, if the caller has it already.
    """
    if membership is not None and allowed is None:
        allowed = allowance_of(membership, at)
    closes_at = allowed.closes_at if allowed else competition.closes_at
    refusal = submit_refusal(competition, membership, at, closes_at=closes_at)
    if refusal or membership is None or allowed is None:
        return refusal
    if allowed.left == 0:
        return out_of_attempts(allowed.limit, by_person=allowed.is_limited_by_person)
    return None
