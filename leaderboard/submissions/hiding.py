"""Services for hosts: take a submission out of the ranking, and put it back."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards.standings import rebuild_boards
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent, audit_team, audit_values
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Submission
from leaderboard.competitions.services import CannotHost, lock_competition, require_reason


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
