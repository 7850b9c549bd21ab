"""Queries about competitions for all pages."""

from __future__ import annotations

from django.core.cache import caches
from django.db.models import OuterRef
from django.utils.translation import get_language, ngettext

from leaderboard.common.queries import count_rows

from .models import Baseline, Competition, Submission, Team


def competition_counts(competition: Competition) -> str:
    """“12 teams · 340 submissions”, as new as the board, and otherwise at most 30 seconds old."""
    return str(
        caches["local"].get_or_set(_counts_key(competition), lambda: _count_teams_and_submissions(competition), 30)
    )


def clear_counts(competition: Competition) -> None:
    """Clear the cached counts, so that a student who has just submitted sees a number that includes the new file."""
    caches["local"].delete(_counts_key(competition))


def _counts_key(competition: Competition) -> str:
    return f"counts:{competition.pk}:{competition.board_version}:{get_language()}"


def _count_teams_and_submissions(competition: Competition) -> str:
    # All files minus those of baselines and disqualified teams, because the first count is read from an index only.
    out = Team.objects.filter(competition=OuterRef(OuterRef("pk")), disqualified_at__isnull=False).values("pk")
    own = {"competition": OuterRef("pk")}
    parts = [
        count_rows(Team.objects.filter(**own, disqualified_at=None), "competition"),
        count_rows(Submission.objects.filter(**own), "competition"),
        count_rows(Baseline.objects.filter(**own), "competition"),
        count_rows(Submission.objects.filter(team__in=out), "competition"),
    ]
    # No row: the competition was deleted during the upload; the page that says so is still rendered.
    found = Competition.objects.filter(pk=competition.pk).values_list(*parts).first()
    teams, files, baselines, disqualified = found or (0, 0, 0, 0)
    files -= baselines + disqualified
    team_text = ngettext("%(number)s team", "%(number)s teams", teams) % {"number": f"{teams:,}"}
    return f"{team_text} · " + ngettext("%(number)s submission", "%(number)s submissions", files) % {
        "number": f"{files:,}"
    }
