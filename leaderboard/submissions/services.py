"""Services for submissions that are stored: select the final ones, edit a note; for hosts hide a file and show it.

A file is submitted by `submitting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.boards.standings import rebuild_boards
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent, audit_team, audit_values
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.models.extension import effective_limits_of
from leaderboard.competitions.services import CannotHost, lock_competition, require_reason

from . import submit_conditions
from .submit_conditions import SubmissionRefused


def select_finals(*, competition: Competition, user: User, submission_ids: Sequence[str], at: datetime) -> None:
    """Select the final submissions. Raises `SubmissionRefused` after the team's deadline or for more than allowed."""
    membership = submit_conditions.membership_of(competition, user)
    if membership is None:
        raise SubmissionRefused("not_joined", _("Join the competition first."))
    with transaction.atomic():
        locked = submit_conditions.lock_membership(membership)
        if at >= effective_limits_of(locked.team_id, locked.competition).closes_at:
            raise SubmissionRefused("closed", _("The deadline has passed. You can't change your final submissions."))
        mine = Submission.objects.select_for_update().filter(
            team=locked.team_id, status=Submission.Status.SCORED, is_late=False
        )
        chosen, limit = mine.filter(pk__in=submission_ids, hidden_at=None), locked.competition.limits.final_count
        if len(chosen) > limit:
            raise SubmissionRefused(
                "too_many",
                ngettext(
                    "Choose at most %(number)s submission.",
                    "Choose at most %(number)s submissions.",
                    limit,
                )
                % {"number": limit},
            )
        # Hidden files are unselected too: shown again, they would be too many.
        mine.exclude(pk__in=[file.pk for file in chosen]).update(is_selected=False)
        chosen.update(is_selected=True)
        # Boards do not depend on final submissions before the reveal, but hosts' pages do.
        competition.bump_board_version()


def save_note(*, submission: Submission, note: str) -> None:
    """Save the team's note about a file. No result depends on it, so it may change at any time."""
    Submission.objects.filter(pk=submission.pk).update(note=note.strip()[:300])


def hide_submission(*, submission: Submission, user: User | None, reason: str) -> None:
    """Remove one file from the boards and from final submissions; its team sees that, with the reason.

    Raises `CannotHost` without a reason, for baselines, and for files that are hidden already.
    """
    reason = require_reason(reason)
    if submission.team is None:
        raise CannotHost(_("This file is a baseline. Remove it on the baselines page."))
    with transaction.atomic():
        competition = lock_competition(submission.competition_id)
        now = database_now()
        shown = Submission.objects.filter(pk=submission.pk, hidden_at=None)
        if not shown.update(hidden_at=now, hidden_reason=reason):
            raise CannotHost(_("This submission is already hidden."))
        rebuild_boards(competition=competition)
        after = audit_values({"submission": str(submission.pk), "hidden_at": now, "reason": reason})
        hooks.submission_hidden(submission=submission, reason=reason)
        AuditEntry.append(
            AuditEvent.HIDDEN, user=user, competition=competition, about=audit_team(submission.team), after=after
        )


def show_submission(*, submission: Submission, user: User | None) -> None:
    """Let a hidden file count again; nothing happens if it is not hidden."""
    with transaction.atomic():
        competition = lock_competition(submission.competition_id)
        file = Submission.objects.select_related("team").get(pk=submission.pk)
        if file.hidden_at is None:
            return
        Submission.objects.filter(pk=file.pk).update(hidden_at=None, hidden_reason="")
        rebuild_boards(competition=competition)
        before = audit_values({"submission": str(file.pk), "hidden_at": file.hidden_at, "reason": file.hidden_reason})
        about = audit_team(file.team) if file.team else ""
        hooks.submission_shown(submission=file)
        AuditEntry.append(AuditEvent.SHOWN, user=user, competition=competition, about=about, before=before)
