"""What a competition lacks before its launch."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext_lazy

from leaderboard.competitions.models import Competition, StudentPreview

NEEDS = {
    "truth": (gettext_lazy("The answers are ready"), "host_setup"),
    "overview": (gettext_lazy("The description says what to predict"), "host_settings"),
    "deadline": (gettext_lazy("The deadline is in the future"), "host_setup"),
    "candidate": (gettext_lazy("The pending correction is applied or discarded"), "host_candidate"),
    "student_preview": (gettext_lazy("Test submission works"), "host_setup_launch"),
}
"""Condition → (text, URL name of the page where it can be met)."""


@dataclass(frozen=True)
class LaunchNeed:
    """One condition for a launch, and whether it is met; `key` is one of `NEEDS`."""

    key: str
    is_there: bool

    @property
    def text(self) -> str:
        return str(NEEDS[self.key][0])

    @property
    def page(self) -> str:
        return NEEDS[self.key][1]


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
