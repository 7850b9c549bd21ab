"""Queries about competitions for all pages."""

from __future__ import annotations

from typing import Any

from django.core.cache import caches
from django.db.models import OuterRef, QuerySet
from django.utils.translation import get_language, ngettext

from leaderboard.common.prepared_queries import PreparedQuery
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


@PreparedQuery
def _counts_of(competition: int) -> QuerySet[Competition, Any]:
    """`team_count`, `file_count`, which an index tells, and in `left_out` those of baselines and disqualified teams."""
    out = Team.objects.filter(competition=OuterRef(OuterRef("pk")), disqualified_at__isnull=False).values("pk")
    own = {"competition": OuterRef("pk")}
    return Competition.objects.filter(pk=competition).values(
        team_count=count_rows(Team.objects.filter(**own, disqualified_at=None), "competition"),
        file_count=count_rows(Submission.objects.filter(**own), "competition"),
        left_out=count_rows(Baseline.objects.filter(**own), "competition")
        + count_rows(Submission.objects.filter(team__in=out), "competition"),
    )


def _counts_key(competition: Competition) -> str:
    return f"counts:{competition.pk}:{competition.board_version}:{get_language()}"


def _count_teams_and_submissions(competition: Competition) -> str:
    # No row: the competition was deleted during the upload; the page that says so is still rendered.
    counts = _counts_of.only_row(competition=competition.pk) or {"team_count": 0, "file_count": 0, "left_out": 0}
    teams, files = counts["team_count"], counts["file_count"] - counts["left_out"]
    team_text = ngettext("%(number)s team", "%(number)s teams", teams) % {"number": f"{teams:,}"}
    return f"{team_text} · " + ngettext("%(number)s submission", "%(number)s submissions", files) % {
        "number": f"{files:,}"
    }
