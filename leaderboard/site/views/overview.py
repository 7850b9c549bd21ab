"""The overview of a competition, with its metric."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.boards import queries as boards
from leaderboard.boards import rows
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.metric_display import competition_metric
from leaderboard.competitions.models.competition import Split


@open_to(Audience.VISITORS)
def overview(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    context = {
        "page_context": page_context,
        "measure": competition_metric(competition.ground_truth),
        "podium": podium(page_context) if page_context.state == "revealed" else (),
        "site": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "site/overview.html", context)


def podium(page_context: PageContext) -> tuple[rows.BoardRowData, ...]:
    """Rows of the first three ranks of the private board; hosts and assistants get the names behind pseudonyms.

    Callers check that the private board is open.
    """
    competition = page_context.competition
    names = competition.board.uses_pseudonyms and page_context.assists
    lines = boards.ranked_lines(competition, Split.PRIVATE, at_most=6, sees_names=names)
    return tuple(row for row in lines if row.rank is not None and row.rank <= 3)
