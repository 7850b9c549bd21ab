"""What a launch needs, the launch itself, and launches at a time that a host chose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from . import ranking
from .models import AuditEntry, Competition, Deed, User, WalkThrough, plain


class NotReady(Exception):
    """Why nothing was launched; `missing` are sentences for the host."""

    def __init__(self, missing: Iterable[str]) -> None:
        self.missing = list(missing)
        super().__init__(" ".join(self.missing))


@dataclass(frozen=True)
class Need:
    """One thing that a launch needs. `key` is `truth`, `overview`, `deadline`, `step`, `candidate` or `walk`."""

    key: str
    text: str
    is_there: bool


def checklist(competition: Competition) -> list[Need]:
    """What a launch needs, each with whether it is there."""
    ruler = competition.ground_truth
    needs = [
        Need("truth", _("A ground truth is published"), ruler is not None),
        Need("overview", _("The overview says what the question is"), bool(competition.overview.strip())),
        Need("deadline", _("The deadline lies in the future"), competition.closes_at > timezone.now()),
    ]
    if ruler and competition.board_mode == Competition.BoardMode.STEADY:
        text = _("The steady public board has a step (write one in the settings, or choose a plain board)")
        needs.append(Need("step", text, ranking.step_of(competition, ruler) != ranking.NO_RUNGS))
    if competition.candidate_id is not None:
        needs.append(Need("candidate", _("The ground truth that waits is applied or discarded"), False))
    text = _("You have walked the student's way with the sample submission")
    return [*needs, Need("walk", text, _is_walked(competition))]


def _is_walked(competition: Competition) -> bool:
    walks = WalkThrough.objects.filter(ground_truth=competition.ground_truth_id)
    return walks.filter(public__isnull=False, private__isnull=False).exists()


def launch(*, competition: Competition, user: User | None = None, after_walk: bool = False) -> None:
    """Let students in. Raises `NotReady` with what is missing.

    With `after_walk` somebody must have walked the student's way: pages and the clock ask for it, a folder that is
    imported or a program's script comes from where that was done.
    """
    needs = [need for need in checklist(competition) if after_walk or need.key != "walk"]
    if missing := [_("Missing: %(what)s.") % {"what": need.text} for need in needs if not need.is_there]:
        raise NotReady(missing)
    with transaction.atomic():
        now = timezone.now()
        drafts = Competition.objects.filter(pk=competition.pk, launched_at=None)
        if drafts.update(launched_at=now, launches_at=None, launch_asked_by=None, launch_trouble=[]):
            AuditEntry.append(Deed.LAUNCHED, user=user, competition=competition, after=plain({"launched_at": now}))
    competition.refresh_from_db()


def launch_due(at: datetime) -> list[Competition]:
    """Launch what was to be launched by now; gives those that could not be, whose hosts should hear of it.

    Any number may run at once: a competition is launched, or given back to its hosts, once.
    """
    stuck = []
    due = Competition.objects.select_related("ground_truth", "launch_asked_by")
    for competition in due.filter(launched_at=None, launches_at__lte=at):
        asked_by = competition.launch_asked_by
        try:
            launch(competition=competition, user=asked_by, after_walk=True)
        except NotReady as error:
            if _give_back(competition, error.missing):
                stuck.append(competition)
    return stuck


@transaction.atomic
def _give_back(competition: Competition, missing: list[str]) -> bool:
    """It stays a draft, and says why; True for the one caller who did this."""
    waiting = Competition.objects.filter(pk=competition.pk, launched_at=None, launches_at=competition.launches_at)
    if not waiting.update(launches_at=None, launch_asked_by=None, launch_trouble=missing):
        return False
    planned = plain({"launches_at": competition.launches_at})
    AuditEntry.append(
        Deed.LAUNCH_MISSED, user=None, competition=competition, before=planned, after={"missing": " ".join(missing)}
    )
    competition.refresh_from_db()
    return True
