"""The launch of a competition, and the conditions for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry, AuditEvent, audit_values
from leaderboard.competitions.models import Competition, StudentPreview
from leaderboard.competitions.services import CannotHost

from .services.drafts import discard_draft


class NotReady(CannotHost):
    """A launch that lacks something; `keys` are the missing `NEEDS`, `details` the sentences about them."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = list(keys)
        missing = [_("Missing: %(what)s.") % {"what": NEEDS[key]} for key in self.keys]
        super().__init__(_("The competition can't launch yet."), missing)


@dataclass(frozen=True)
class LaunchNeed:
    """One condition for a launch, and whether it is met; `key` is one of `NEEDS`."""

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


def launch_needs(competition: Competition) -> list[LaunchNeed]:
    """The conditions for a launch, each with whether it is met."""
    needs = [
        LaunchNeed("truth", competition.ground_truth is not None),
        LaunchNeed("overview", bool(competition.overview.strip())),
        LaunchNeed("deadline", competition.closes_at > timezone.now()),
    ]
    if competition.candidate_id is not None:
        needs.append(LaunchNeed("candidate", False))
    previews = StudentPreview.objects.filter(ground_truth=competition.ground_truth_id)
    is_previewed = previews.filter(public__isnull=False, private__isnull=False).exists()
    return [*needs, LaunchNeed("student_preview", is_previewed)]


def launch_competition(*, competition: Competition, user: User | None = None, needs_preview: bool = False) -> bool:
    """Launch a competition, so that students can join; False if it was launched before. Raises `NotReady`.

    With `needs_preview` the student preview must have passed: pages require it, imported folders and scripts do not.
    """
    needs = [need for need in launch_needs(competition) if needs_preview or need.key != "student_preview"]
    if missing := [need.key for need in needs if not need.is_there]:
        raise NotReady(missing)
    with transaction.atomic():
        now = timezone.now()
        draft = Competition.objects.select_for_update().filter(pk=competition.pk, launched_at=None).first()
        if draft is not None:
            Competition.objects.filter(pk=draft.pk).update(launched_at=now)
            AuditEntry.append(
                AuditEvent.LAUNCHED, user=user, competition=competition, after=audit_values({"launched_at": now})
            )
    competition.refresh_from_db()
    if draft is not None:
        discard_draft(competition=competition)  # from now on the published ground truth counts
    return draft is not None
