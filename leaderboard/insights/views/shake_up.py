"""After the end: what the private board made of the public one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common import plots
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.ranking import shake_up as shake_up_module
from leaderboard.competitions.views.overview import podium

DRAWN = 20
"""So many of the private board are drawn, and the visitor's own team."""
NAMED = 5


@dataclass(frozen=True)
class ShakeUpLine:
    """A team in the chart and its table."""

    team: shake_up_module.TeamShakeUp
    is_mine: bool

    @property
    def kind(self) -> str:
        direction = "up" if self.team.gained > 0 else "down" if self.team.gained < 0 else "same"
        return f"{direction} mine" if self.is_mine else direction


@open_to(Audience.VISITORS)
def shake_up(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Before the reveal there is nothing to compare: the leaderboard says when there will be."""
    competition = page_context.competition
    names = competition.board.uses_pseudonyms and page_context.assists
    is_open = page_context.state == "revealed"
    found = shake_up_module.shake_up_of(competition, sees_names=names) if is_open else None
    if found is None:
        return redirect("leaderboard", slug=competition.slug)
    context = {
        "page_context": page_context,
        "found": found,
        "podium": podium(page_context),
        "risers": found.risers[:NAMED],
        "fallers": found.fallers[:NAMED],
        **_chart_teams(found, page_context.membership.team_id if page_context.membership else 0),
    }
    return render(request, "insights/shake_up.html", context)


def _chart_teams(found: shake_up_module.ShakeUp, mine: int) -> dict[str, Any]:
    """The first teams of the private board and one's own, in the order of either board, and the lines between."""
    after = [
        ShakeUpLine(team, team.team_id == mine)
        for place, team in enumerate(found.teams)
        if place < DRAWN or team.team_id == mine
    ]
    before = sorted(after, key=lambda line: line.team.public_rank)
    place = {line.team.team_id: index for index, line in enumerate(before)}
    words = _("Ranks on the public board, left, and on the private board, right; the table below has the numbers.")
    moves = [(place[line.team.team_id], index, line.kind) for index, line in enumerate(after)]
    return {
        "before": before,
        "after": after,
        "slopes": plots.slope_chart(moves, words),
        "is_cut": len(found.teams) > DRAWN,
    }
