"""A pause for everybody, and files that are hidden: both reversible, with reason, in the audit log."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_team, audit_values

from .. import hooks
from ..models import Competition, Limits, Submission
from .competitions import CannotHost, lock_competition, rebuild_boards, require_reason


def pause_competition(*, competition: Competition, user: User | None, reason: str) -> None:
    """Take no more files until `resume`; students read the reason. What was received before is scored."""
    reason = require_reason(reason)
    with transaction.atomic():
        now, running = database_now(), lock_competition(competition.pk)
        if running.limits.paused_at is not None:
            raise CannotHost(_("The competition is paused already."))
        Limits.objects.filter(pk=running.pk).update(paused_at=now, pause_reason=reason)
        running.touch_board()
        after = audit_values({"paused_at": now, "reason": reason})
        hooks.paused(competition=competition, reason=reason)
        AuditEntry.append(AuditEvent.PAUSED, user=user, competition=competition, after=after)


def resume_competition(*, competition: Competition, user: User | None) -> None:
    """Take files again. The deadline stays where it is; nothing happens where there is no pause."""
    with transaction.atomic():
        paused = lock_competition(competition.pk)
        if paused.limits.paused_at is None:
            return
        Limits.objects.filter(pk=paused.pk).update(paused_at=None, pause_reason="")
        paused.touch_board()
        before = audit_values({"paused_at": paused.limits.paused_at, "reason": paused.limits.pause_reason})
        hooks.resumed(competition=paused)
        AuditEntry.append(AuditEvent.RESUMED, user=user, competition=paused, before=before)


def hide_submission(*, submission: Submission, user: User | None, reason: str) -> None:
    """Take one file from the boards and the finals; its team sees that it is hidden, and why."""
    reason = require_reason(reason)
    if submission.team is None:
        raise CannotHost(_("This file is a baseline; remove it on the baselines' page."))
    with transaction.atomic():
        competition = lock_competition(submission.competition_id)
        now = database_now()
        shown = Submission.objects.filter(pk=submission.pk, hidden_at=None)
        if not shown.update(hidden_at=now, hidden_reason=reason):
            raise CannotHost(_("The file is hidden already."))
        rebuild_boards(competition)
        after = audit_values({"submission": str(submission.pk), "hidden_at": now, "reason": reason})
        hooks.submission_hidden(submission=submission, reason=reason)
        AuditEntry.append(
            AuditEvent.HIDDEN, user=user, competition=competition, about=audit_team(submission.team), after=after
        )


def show_submission(*, submission: Submission, user: User | None) -> None:
    """Let a hidden file stand again; nothing happens where it is not hidden."""
    with transaction.atomic():
        competition = lock_competition(submission.competition_id)
        file = Submission.objects.select_related("team").get(pk=submission.pk)
        if file.hidden_at is None:
            return
        Submission.objects.filter(pk=file.pk).update(hidden_at=None, hidden_reason="")
        rebuild_boards(competition)
        before = audit_values({"submission": str(file.pk), "hidden_at": file.hidden_at, "reason": file.hidden_reason})
        about = audit_team(file.team) if file.team else ""
        hooks.submission_shown(submission=file)
        AuditEntry.append(AuditEvent.SHOWN, user=user, competition=competition, about=about, before=before)
