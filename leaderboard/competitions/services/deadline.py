"""What holds at the moment of a receipt: a file takes a while to arrive, and much can change in it.

These queries are made for each file, so they ask only for what can change.
"""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from leaderboard.accounts.models import User

from ..models import Competition, GroundTruth, Membership, Team
from ..models.extension import EffectiveLimits
from .submit_conditions import SubmissionRefused, refusal_by_host

COMPETITION_GONE = gettext_noop("This competition was removed while your file was on its way.")


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
        raise SubmissionRefused("not_joined", _("You left the competition while your file was on its way."))
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


def is_late(competition: Competition, effective_limits: EffectiveLimits, received_at: datetime) -> bool:
    is_late = received_at >= effective_limits.closes_at
    if is_late and not competition.limits.allows_late:
        raise SubmissionRefused("closed", _("The deadline passed before your file had arrived."))
    return is_late
