"""What a competition lacks before its launch."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.competitions.models import Competition, StudentPreview


@dataclass(frozen=True)
class LaunchNeed:
    """One condition for a launch, and whether it is met; `page` is the URL name of the page where it can be met."""

    key: str
    text: str
    page: str
    is_there: bool


def launch_needs(competition: Competition) -> list[LaunchNeed]:
    """The conditions for a launch, each with whether it is met."""
    previews = StudentPreview.objects.filter(ground_truth=competition.ground_truth_id)
    is_previewed = previews.filter(public__isnull=False, private__isnull=False).exists()
    has_overview, has_time = bool(competition.overview.strip()), competition.closes_at > timezone.now()
    needs = [
        LaunchNeed("truth", _("The answers are ready"), "host_setup", competition.ground_truth is not None),
        LaunchNeed("overview", _("The description says what to predict"), "host_settings", has_overview),
        LaunchNeed("deadline", _("The deadline is in the future"), "host_setup", has_time),
        LaunchNeed("student_preview", _("Test submission works"), "host_setup_launch", is_previewed),
    ]
    if competition.candidate_id is not None:
        text = _("The pending correction is applied or discarded")
        needs.insert(3, LaunchNeed("candidate", text, "host_candidate", is_there=False))
    return needs
