"""What a launch needs, the launch itself, and launches at a time that a host chose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User
from leaderboard.common import logs
from leaderboard.common.display_time import moment_text
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_values

from .. import hooks
from ..models import Competition, LaunchPlan, StudentPreview
from .competitions import CannotHost, lock_competition
from .truth_drafts import discard_draft


class NotReady(CannotHost):
    """Nothing was launched; `keys` name the needs that are missing, `details` say them to the host."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = list(keys)
        super().__init__(_("The competition can't launch yet."), missing_needs_text(self.keys))


@dataclass(frozen=True)
class LaunchNeed:
    """One thing that a launch needs; `key` is one of `NEEDS`."""

    key: str
    is_there: bool

    @property
    def text(self) -> str:
        return str(NEEDS[self.key])


NEEDS = {
    "truth": gettext_lazy("The answers are ready"),
    "overview": gettext_lazy("The description says what to predict"),
    "deadline": gettext_lazy("The deadline is in the future"),
    "candidate": gettext_lazy("The pending correction is applied or discarded"),
    "student_preview": gettext_lazy("Test submission works"),
}


def missing_needs_text(stored: Iterable[str]) -> list[str]:
    """What was missing, as `LaunchPlan.trouble` keeps it: by keys. Earlier it was sentences, which are told as
    they are."""
    return [_("Missing: %(what)s.") % {"what": NEEDS[key]} if key in NEEDS else key for key in stored]


def launch_needs(competition: Competition) -> list[LaunchNeed]:
    """What a launch needs, each with whether it is there."""
    return _launch_needs(competition, bool(_previewed([competition.ground_truth_id])))


def incomplete_launches(competitions: Iterable[Competition]) -> set[int]:
    """Those whose planned launch lacks something. Two queries at most, none where no launch is planned."""
    planned = [one for one in competitions if one.launch_plan.launches_at is not None and one.launched_at is None]
    if not planned:
        return set()
    prefetch_related_objects(planned, "ground_truth")
    previewed = _previewed([one.ground_truth_id for one in planned])
    return {
        one.pk
        for one in planned
        if not all(need.is_there for need in _launch_needs(one, one.ground_truth_id in previewed))
    }


def _launch_needs(competition: Competition, is_previewed: bool) -> list[LaunchNeed]:
    needs = [
        LaunchNeed("truth", competition.ground_truth is not None),
        LaunchNeed("overview", bool(competition.overview.strip())),
        LaunchNeed("deadline", competition.closes_at > timezone.now()),
    ]
    if competition.candidate_id is not None:
        needs.append(LaunchNeed("candidate", False))
    return [*needs, LaunchNeed("student_preview", is_previewed)]


def _previewed(ground_truths: Iterable[int | None]) -> set[int]:
    """The ground truths under which the sample submission got both scores."""
    previews = StudentPreview.objects.filter(
        ground_truth__in=[ground_truth for ground_truth in ground_truths if ground_truth is not None]
    )
    found = previews.filter(public__isnull=False, private__isnull=False)
    return set(found.values_list("ground_truth", flat=True))


def launch_competition(
    *, competition: Competition, user: User | None = None, needs_preview: bool = False, planned: datetime | None = None
) -> bool:
    """Let students in; False where they are in already. Raises `NotReady` with what is missing.

    With `needs_preview` the student preview must have passed: pages and planned launches require it, imported folders
    and scripts do not. With `planned` nothing happens where the launch is
    not planned for that moment any more.
    """
    needs = [need for need in launch_needs(competition) if needs_preview or need.key != "student_preview"]
    if missing := [need.key for need in needs if not need.is_there]:
        raise NotReady(missing)
    with transaction.atomic():
        now = timezone.now()
        draft = _hold_draft(competition, planned)
        if draft is not None:
            Competition.objects.filter(pk=draft.pk).update(launched_at=now)
            LaunchPlan.objects.filter(pk=draft.pk).update(launches_at=None, asked_by=None, trouble=[])
            AuditEntry.append(
                AuditEvent.LAUNCHED, user=user, competition=competition, after=audit_values({"launched_at": now})
            )
    competition.refresh_from_db()
    if draft is not None:
        discard_draft(competition=competition)  # what was published of it counts
    return draft is not None


def _hold_draft(competition: Competition, planned: datetime | None) -> Competition | None:
    """The competition, locked, where it is not launched yet and, with `planned`, the launch is still for that time."""
    draft = Competition.objects.select_for_update().filter(pk=competition.pk, launched_at=None).first()
    is_meant = draft is not None and planned in (None, draft.launch_plan.launches_at)
    return draft if is_meant else None


def schedule_launch(*, competition: Competition, user: User, at: datetime, seen: str = "") -> None:
    """Have it launched at a moment. What is missing now may be there by then. Raises `CannotHost`, also where the plan
    is another one by now than its host has `seen`: the planned moment in ISO format, empty for none."""
    if at <= timezone.now():
        raise CannotHost(_("This time has passed. Choose a later one, or launch now."))
    if at >= competition.closes_at:
        raise CannotHost(_("The launch must come before the deadline."))
    with transaction.atomic():
        draft = lock_competition(competition.pk)
        if draft.launched_at is not None:
            raise CannotHost(_("The competition has already launched."))
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
        now = _("The schedule changed meanwhile: no launch is scheduled.")
    else:
        when = moment_text(planned, draft.zone)
        now = _("The schedule changed meanwhile: the launch is now scheduled for %(when)s.") % {"when": when}
    raise CannotHost(now + " " + _("Your change wasn't saved. Check it and save again."))


def launch_due_competitions(at: datetime) -> None:
    """Launch what was to be launched by now, and notify its hosts; a competition that lacks something stays a draft.

    Any number may run at once: a competition is launched, or given back to its hosts, once.
    """
    due = Competition.objects.outside_bin().select_related("ground_truth", "launch_plan__asked_by")
    for competition in due.filter(launched_at=None, launch_plan__launches_at__lte=at):
        with logs.log_errors(competition=competition.slug):
            try:
                _launch_planned(competition)
            except NotReady as error:
                _leave_as_draft(competition, error.keys)


@transaction.atomic
def _launch_planned(competition: Competition) -> None:
    """Launch and notices are one transaction: after a crash the next run does both."""
    asked_by, planned = competition.launch_plan.asked_by, competition.launch_plan.launches_at
    assert planned is not None, "only planned launches are due"
    if launch_competition(competition=competition, user=asked_by, needs_preview=True, planned=planned):
        hooks.planned_launch_done(competition=competition, planned=planned)


@transaction.atomic
def _leave_as_draft(competition: Competition, keys: list[str]) -> None:
    """It stays a draft, and says why."""
    draft = _hold_draft(competition, competition.launch_plan.launches_at)
    if draft is None:
        return
    LaunchPlan.objects.filter(pk=draft.pk).update(launches_at=None, asked_by=None, trouble=keys)
    planned = audit_values({"launches_at": competition.launch_plan.launches_at})
    after = {"missing": " ".join(missing_needs_text(keys))}
    AuditEntry.append(AuditEvent.LAUNCH_MISSED, user=None, competition=competition, before=planned, after=after)
    hooks.planned_launch_missed(competition=competition, lacking=keys)
