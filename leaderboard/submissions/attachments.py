"""Attachments to final submissions: the work behind them, stored for hosts, never opened and never run.

No rank depends on them; rules of grades may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import ranking
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.storage import clean_name, remove_file, store_file
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Attachment, Competition, Limits, Membership, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import effective_limits_of

from . import submit_conditions
from .submit_conditions import SubmissionRefused
from .submitting import refuse_beyond_quota

MAX_ATTACHMENT_BYTES = 20 * 1024**2
ENDINGS = (".ipynb", ".py", ".R", ".zip", ".pdf")


def takes_attachments(competition: Competition) -> bool:
    return competition.limits.attachments != Limits.Attachments.OFF


def requires_attachment(competition: Competition) -> bool:
    return competition.limits.attachments == Limits.Attachments.REQUIRED


def attachment_limit() -> int:
    """The most bytes of an attachment."""
    return min(MAX_ATTACHMENT_BYTES, int(settings.MAX_UPLOAD_BYTES))


def attachments_close_at(competition: Competition, team_deadline: datetime) -> datetime:
    """The end of the time to attach, for a team with this deadline."""
    return team_deadline + timedelta(hours=competition.limits.attachment_hours)


def finals_of_teams(competition: Competition, team: Team | None = None) -> dict[int, set[UUID]]:
    """Team → the final submissions to which it can attach; `team` limits it to one team.

    These are the files that decide. On a hidden board a team that selected none attaches to its newest ranked file:
    its best one would tell about scores.
    """
    if (ground_truth := competition.ground_truth) is None:
        return {}
    ground_truth.competition = competition
    deciding = ranking.final_submissions(ground_truth, team=team)
    finals = {pk: {final.submission_id for final in chosen} for pk, chosen in deciding.items()}
    if competition.board.hides_scores:
        automatic = [pk for pk, chosen in deciding.items() if chosen[0].is_picked_by_system]
        scores = ranking.ranked_scores(ground_truth, Split.PUBLIC, teams=automatic).order_by("submission__received_at")
        for pk, newest in scores.values_list("submission__team", "submission"):
            finals[pk] = {newest}
    return finals


@on(hooks.attached_teams)
def teams_with_attachment(competition: Competition) -> set[int]:
    """The teams that attached a file to one of their final submissions."""
    return _teams_with_attachment(competition, finals_of_teams(competition))


def _teams_with_attachment(competition: Competition, finals: Mapping[int, set[UUID]]) -> set[int]:
    attached = set(Attachment.objects.filter(submission__competition=competition).values_list("pk", flat=True))
    return {team for team, submissions in finals.items() if submissions & attached}


def finals_without_attachment(competition: Competition) -> dict[int, set[UUID]]:
    """Team → its final submissions, for the teams that attached nothing to any of them."""
    finals = finals_of_teams(competition)
    done = _teams_with_attachment(competition, finals)
    return {team: submissions for team, submissions in finals.items() if team not in done}


class AttachmentCounts(NamedTuple):
    """Numbers of teams with a final submission: all, and those that attached nothing."""

    teams: int
    missing: int


def count_attachments(competition: Competition) -> AttachmentCounts | None:
    """The numbers for hosts; None where no attachments are taken."""
    if not takes_attachments(competition):
        return None
    finals = finals_of_teams(competition)
    return AttachmentCounts(len(finals), len(finals) - len(_teams_with_attachment(competition, finals)))


def attach_file(
    *,
    submission: Submission,
    user: User,
    file_name: str,
    chunks: Iterable[bytes],
    declared: str,
    waited: timedelta = timedelta(),
) -> Attachment:
    """Store a file as the attachment of a final submission; it replaces an earlier one.

    Raises `SubmissionRefused`, and `TooLarge`; nothing is stored then. `waited` is the time since its last byte.
    """
    at, competition = database_now() - waited, submission.competition
    membership = submit_conditions.membership_of(competition, user)
    _check_conditions(membership, submission, at)
    assert membership is not None, "others are refused"
    name = clean_name(file_name)
    if PurePosixPath(name).suffix.lower() not in map(str.lower, ENDINGS):
        message = _("Attach one file of these kinds: %(endings)s.") % {"endings": ", ".join(ENDINGS)}
        raise SubmissionRefused("ending", message)
    stored = store_file(chunks, f"attachments/{competition.pk}", limit=attachment_limit())
    try:
        if not stored.size:
            raise SubmissionRefused("empty", _("This file is empty (0 bytes)."))
        refuse_beyond_quota(membership, stored)
        attachment = Attachment(
            submission=submission,
            file_name=name,
            file_key=stored.key,
            sha256=stored.sha256,
            size=stored.size,
            declared=declared.strip()[:300],
            by=user,
            at=at,
        )
        with transaction.atomic():
            _check_conditions(submit_conditions.lock_membership(membership), submission, at)
            # Locked: if two teammates attach at once, the later file stays and the earlier one is removed.
            for earlier in Attachment.objects.filter(submission=submission).values_list("file_key", flat=True):
                transaction.on_commit(partial(remove_file, earlier))
            attachment.save()
    except BaseException:
        remove_file(stored.key)
        raise
    return attachment


def _check_conditions(membership: Membership | None, submission: Submission, at: datetime) -> None:
    """Raise `SubmissionRefused` unless the member's team may attach to this submission at this time."""
    competition = submission.competition if membership is None else membership.competition
    if not takes_attachments(competition):
        raise SubmissionRefused("off", _("This competition takes no attachments."))
    if refusal := submit_conditions.submit_refusal(competition, membership, at, closes_at=None):
        raise refusal
    assert membership is not None, "others are refused"
    if at >= attachments_close_at(competition, effective_limits_of(membership.team_id, competition).closes_at):
        raise SubmissionRefused("closed", _("The time to attach files is over. Ask a host if you need more."))
    if submission.pk not in finals_of_teams(competition, membership.team).get(membership.team_id, set()):
        message = _("“%(file)s” isn't a final submission of your team. Attach your work to one that is.")
        raise SubmissionRefused("not_final", message % {"file": submission.file_name})
