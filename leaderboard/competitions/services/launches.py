"""The student preview, the launch, and launches planned for a time."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.display_time import moment_text
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_values

from .. import tasks
from ..models import Competition, LaunchPlan, StudentPreview
from . import planned_launches
from .competitions import CannotHost, lock_competition
from .publishing import sample_submission_of


def launch_competition(*, competition: Competition, user: User | None = None, needs_preview: bool = False) -> None:
    """As `launching.launch_competition`; raises `CannotHost` with what is missing."""
    try:
        planned_launches.launch_competition(competition=competition, user=user, needs_preview=needs_preview)
    except planned_launches.NotReady as error:
        raise CannotHost(_("The competition cannot be launched yet."), error.missing) from error


def schedule_launch(*, competition: Competition, user: User, at: datetime, seen: str = "") -> None:
    """Have it launched at a moment. What is missing now may be there by then. Raises `CannotHost`, also where the plan
    is another one by now than its host has `seen`: the planned moment in ISO format, empty for none."""
    if at <= timezone.now():
        raise CannotHost(_("This moment has passed. Choose a later one, or launch now."))
    if at >= competition.closes_at:
        raise CannotHost(_("The launch must come before the deadline."))
    with transaction.atomic():
        draft = lock_competition(competition.pk)
        if draft.launched_at is not None:
            raise CannotHost(_("The competition has been launched already."))
        _check_planned_launch(draft, seen)
        before, after = audit_values({"launches_at": draft.launch_plan.launches_at}), audit_values({"launches_at": at})
        LaunchPlan.objects.filter(pk=draft.pk).update(launches_at=at, asked_by=user, trouble=[])
        AuditEntry.append(AuditEvent.LAUNCH_SCHEDULED, user=user, competition=draft, before=before, after=after)
    competition.refresh_from_db()


def cancel_launch(*, competition: Competition, user: User, seen: str) -> bool:
    """Take a scheduled launch back; False where there is none. Raises `CannotHost` where it is another one than `seen`,
    as for `schedule_launch`."""
    with transaction.atomic():
        draft = lock_competition(competition.pk)
        if draft.launched_at is not None or draft.launch_plan.launches_at is None:
            return False
        _check_planned_launch(draft, seen)
        before = audit_values({"launches_at": draft.launch_plan.launches_at})
        LaunchPlan.objects.filter(pk=draft.pk).update(launches_at=None, asked_by=None)
        AuditEntry.append(AuditEvent.LAUNCH_CANCELLED, user=user, competition=draft, before=before)
    competition.refresh_from_db()
    return True


def _check_planned_launch(draft: Competition, seen: str) -> None:
    planned = draft.launch_plan.launches_at
    if seen == (planned.isoformat() if planned else ""):
        return
    if planned is None:
        now = _("The plan was changed meanwhile: no launch is planned any more.")
    else:
        when = moment_text(planned, draft.zone)
        now = _("The plan was changed meanwhile: the launch is now planned for %(when)s.") % {"when": when}
    raise CannotHost(now + " " + _("Yours was not taken: look at it, and send it again if it shall count."))


def start_preview(*, competition: Competition, user: User) -> StudentPreview:
    """Have a worker measure the sample submission as it measures every file; an earlier preview is deleted.

    Raises `CannotHost` without a ground truth, `child.JobFailed` where no sample can be made.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("Publish a ground truth first: the sample submission is made from it."))
    sha256 = hashlib.sha256(sample_submission_of(ground_truth)).hexdigest()
    afresh: dict[str, Any] = {"finished_at": None, "public": None, "private": None, "problems": [], "failure": ""}
    with transaction.atomic():
        sent = {"user": user, "sha256": sha256, "sent_at": database_now()}
        found, _is_new = StudentPreview.objects.update_or_create(ground_truth=ground_truth, defaults=afresh | sent)
        AuditEntry.append(AuditEvent.PREVIEWED, user=user, competition=competition, about=str(ground_truth.number))
        tasks.wake_workers_after_commit(tasks.measure_preview, ground_truth.pk)
    return found
