"""All competitions of a student, and their teams in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import signed_in_user

from ..models import Competition, Membership
from ..ranking import rows as rows_module
from ..ranking import team_ranks as placings_module
from ..services import submitting

RUNNING = ("live", "upcoming")


@dataclass(frozen=True)
class MyTeam:
    """One team of the viewer, with the names of its other members."""

    membership: Membership
    placing: rows_module.Placing | None
    allowance: submitting.AttemptAllowance
    mates: list[str]
    at: datetime

    @property
    def competition(self) -> Competition:
        return self.membership.competition

    @property
    def state(self) -> str:
        """As the competition's; still `live` for who has more time than the others."""
        state = self.competition.state(self.at)
        return "live" if state == "closed" and self.at < self.allowance.closes_at else state


# What a line of the table says of its competition.
RELATED = ("competition__ground_truth", "competition__board", "competition__limits")


@open_page_to(SiteAudience.SIGNED_IN)
def my_teams(request: HttpRequest) -> HttpResponse:
    """What still runs comes first, the nearest deadline on top; then what is over, the latest on top."""
    user, at = signed_in_user(request.user), timezone.now()
    found = Membership.objects.filter(user=user, competition__launched_at__isnull=False)
    held = list(found.select_related("team", *RELATED))
    teams = {one.team_id: one.competition for one in held}
    placings, allowances = placings_module.placings_now(teams, at), submitting.allowances_of_teams(teams, at)
    mates = _team_mates(held, user.pk)
    rows = [
        MyTeam(one, placings.get(one.team_id), allowances[one.team_id], mates[one.team_id], at)
        for one in sorted(held, key=lambda one: allowances[one.team_id].closes_at)
    ]
    running = [row for row in rows if row.state in RUNNING]
    over = [row for row in reversed(rows) if row.state not in RUNNING]
    return render(request, "competitions/my_teams.html", {"running": running, "over": over})


def _team_mates(held: Iterable[Membership], user_id: int) -> dict[int, list[str]]:
    """Team → the names of its other members."""
    names: dict[int, list[str]] = defaultdict(list)
    others = Membership.objects.filter(team__in=[one.team_id for one in held]).exclude(user=user_id)
    for team_id, name in others.values_list("team_id", "user__username"):
        names[team_id].append(name)
    return names
