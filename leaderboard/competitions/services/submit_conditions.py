"""Whether a team may hand in now, what it has left today, and what holds at the moment of a receipt.

A file takes a while to arrive, and much can change in it. The queries about that are made for each file, so they ask
only for what can change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from leaderboard.accounts.models import User

from ..models import Competition, DailyAttempts, GroundTruth, Membership, Submission, Team
from ..models.extension import EffectiveLimits, effective_limits_of, effective_limits_of_teams

FAILED_FILES_PER_DAY = 20


class SubmissionRefused(Exception):
    """A file was not taken: `code` for programs, the text for the student. Nothing was stored, no attempt used."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class DuplicateFile(SubmissionRefused):
    """The team handed in this very file before, as `earlier`, and it would get the same score."""

    def __init__(self, earlier: Submission) -> None:
        super().__init__(
            "same_bytes",
            _("This is the same file as “%(file)s”, which your team submitted before.") % {"file": earlier.file_name},
        )
        self.earlier = earlier


@dataclass(frozen=True)
class AttemptAllowance:
    """What a team may still upload today, and until when at all; with what a host granted it."""

    limit: int
    left: int
    resets_at: datetime
    closes_at: datetime


def allowance_of(membership: Membership, at: datetime) -> AttemptAllowance:
    """What holds for a member's team on the day of `at`. Two queries."""
    return _allowance(membership.competition, membership, at)


def _allowance(competition: Competition, membership: Membership, at: datetime) -> AttemptAllowance:
    day = competition.day_of(at)
    its = effective_limits_of(membership.team_id, competition, day)
    used = DailyAttempts.objects.filter(team=membership.team_id, day=day).values_list("used", flat=True).first()
    return _attempts_left(its, used or 0, competition, day)


def _attempts_left(its: EffectiveLimits, used: int, competition: Competition, day: date) -> AttemptAllowance:
    midnight = competition.midnight(day + timedelta(days=1))
    return AttemptAllowance(its.daily_attempts, max(0, its.daily_attempts - used), midnight, its.closes_at)


def allowances_of_teams(
    teams: Mapping[int, Competition], at: datetime, *, effective_limits: Mapping[int, EffectiveLimits] | None = None
) -> dict[int, AttemptAllowance]:
    """Team → what holds for it on the day of `at`. Two queries, however many teams; one where their terms on that day
    are at hand."""
    days = {key: competition.day_of(at) for key, competition in teams.items()}
    counts = DailyAttempts.objects.filter(team__in=list(teams), day__in=set(days.values()))
    used = {(team, day): number for team, day, number in counts.values_list("team_id", "day", "used")}
    each = effective_limits_of_teams(teams, at) if effective_limits is None else effective_limits
    return {key: _attempts_left(its, used.get((key, days[key]), 0), teams[key], days[key]) for key, its in each.items()}


def refusal_of_submission(
    competition: Competition, membership: Membership | None, at: datetime, allowed: AttemptAllowance | None = None
) -> SubmissionRefused | None:
    """Why no file can be handed in now; None when one can. `allowed` is the team's allowance, where it is at hand."""
    if membership is not None and allowed is None:
        allowed = _allowance(competition, membership, at)
    closes_at = allowed.closes_at if allowed else competition.closes_at
    if competition.launched_at is None:
        return SubmissionRefused("draft", _("This competition hasn't launched yet."))
    if at < competition.opens_at:
        return SubmissionRefused("not_open", _("This competition isn't open yet."))
    if at >= closes_at and not competition.limits.allows_late:
        return SubmissionRefused("closed", _("The deadline has passed. You can't submit any more."))
    if membership is None or allowed is None:
        return SubmissionRefused("not_joined", _("Join the competition first."))
    if not membership.has_accepted_rules():
        return SubmissionRefused("rules", _("Accept the rules first. You'll find them on the competition's page."))
    return refusal_by_host(competition, membership.team, at) or _daily_limit_refusal(membership, at, allowed)


def refusal_by_host(competition: Competition, team: Team, at: datetime) -> SubmissionRefused | None:
    """A pause for everybody, or the end for one team, that had begun by `at`; in the host's words."""
    if team.disqualified_at is not None and team.disqualified_at <= at:
        reason = team.disqualified_reason
        return SubmissionRefused("disqualified", _("Your team is disqualified: %(reason)s") % {"reason": reason})
    if competition.limits.paused_at is not None and competition.limits.paused_at <= at:
        reason = competition.limits.pause_reason
        return SubmissionRefused("paused", _("The host has paused this competition: %(reason)s") % {"reason": reason})
    return None


def out_of_attempts(limit: int) -> SubmissionRefused:
    words = ngettext(
        "Your team has used today's attempt. You get a new one at midnight.",
        "Your team has used all %(number)s attempts for today. You get new ones at midnight.",
        limit,
    )
    return SubmissionRefused("attempts", words % {"number": limit})


def _daily_limit_refusal(membership: Membership, at: datetime, allowed: AttemptAllowance) -> SubmissionRefused | None:
    if allowed.left == 0:
        return out_of_attempts(allowed.limit)
    if _failed_today(membership, at) >= FAILED_FILES_PER_DAY:
        return SubmissionRefused(
            "failed_files",
            _(
                "%(number)s of your team's submissions failed today through no fault of yours. We told the "
                "hosts. Try again after midnight, or ask a host."
            )
            % {"number": FAILED_FILES_PER_DAY},
        )
    return None


def refused_today(membership: Membership, at: datetime) -> int:
    """Files of this person that could not be read today, in whichever team. They use no attempt and each may have cost
    a scorer its time; but one careless member must not close the team. A host can have the count begin again."""
    refused = _files_today(membership, at, Submission.Status.INVALID)
    return refused.filter(user=membership.user_id).count()


def _files_today(membership: Membership, at: datetime, status: str) -> QuerySet[Submission]:
    """Files of the competition with this status since midnight, or since a host let the count begin again."""
    competition = membership.competition
    day = competition.day_of(at)
    midnight = competition.midnight(day)
    return Submission.objects.filter(
        competition=competition,
        status=status,
        received_at__gte=max(midnight, membership.team.failed_files_reset_at or midnight),
        received_at__lt=competition.midnight(day + timedelta(days=1)),
    ).order_by()


def _failed_today(membership: Membership, at: datetime) -> int:
    """Files that used no attempt although each may have cost a scorer all its time. Whoever leaves a team takes the own
    ones along. A host can have the count begin again."""
    failed = _files_today(membership, at, Submission.Status.FAILED)
    theirs = failed.filter(Q(team=membership.team_id) | Q(user=membership.user_id))
    return theirs[:FAILED_FILES_PER_DAY].count()


COMPETITION_GONE = gettext_noop("This competition was deleted during your upload.")


def membership_of(competition: Competition, user: User) -> Membership | None:
    """Who hands in, with the team."""
    return Membership.objects.select_related("team").filter(competition=competition, user=user).first()


def membership_with_ground_truth(competition: Competition, user: User) -> Membership | None:
    """The same with the competition as it is stored now."""
    found = Membership.objects.select_related("competition__ground_truth", "team")
    return found.filter(competition=competition, user=user).first()


def refresh_membership(membership: Membership) -> tuple[Membership, GroundTruth | None]:
    """The membership and the ground truth now that the whole file is here; an upload takes a while, and much can
    change in it. Asks for what can change alone."""
    competition = membership.competition
    rows = Membership.objects.filter(competition=competition, user=membership.user)
    team_id, ground_truth_id = rows.values_list("team_id", "competition__ground_truth_id").first() or (None, None)
    now = membership if team_id == membership.team_id else rows.select_related("competition", "team", "user").first()
    if now is None:
        if not Competition.objects.filter(pk=competition.pk).exists():
            raise SubmissionRefused("gone", _(COMPETITION_GONE))
        raise SubmissionRefused("not_joined", _("You left the competition during your upload."))
    ground_truths = GroundTruth.objects.only("metric", "metric_version", "submission_columns", "rows")
    return now, ground_truths.filter(pk=ground_truth_id).first() if ground_truth_id else None


def lock_competition(competition: Competition) -> Competition:
    """The competition with a deadline and a limit that stand until the end of the transaction, and so do extensions.

    Without the lock a host could move the deadline, and have the lateness of all files recomputed, just before this
    one can be seen.
    """
    rows = Competition.objects.select_for_update(no_key=True).filter(pk=competition.pk)
    held = rows.only("closes_at").first()
    if held is None:
        raise SubmissionRefused("gone", _(COMPETITION_GONE))
    return held


def refusal_begun_before(competition: Competition, team_id: int, received_at: datetime) -> SubmissionRefused | None:
    """A pause or a disqualification that began while the file was on its way; a later one takes nothing back."""
    team = Team.objects.only("disqualified_at", "disqualified_reason").filter(pk=team_id).first()
    return refusal_by_host(competition, team, received_at) if team else None


def check_deadline(competition: Competition, effective_limits: EffectiveLimits, received_at: datetime) -> bool:
    """Whether a file came after the deadline of its team. Raises `SubmissionRefused` where late files are not taken."""
    is_late = received_at >= effective_limits.closes_at
    if is_late and not competition.limits.allows_late:
        raise SubmissionRefused("closed", _("The deadline passed before your upload finished."))
    return is_late
