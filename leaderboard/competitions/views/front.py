"""The front page, with all competitions that somebody may open, and the page with one's own teams."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, Count, Q, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User, Viewer
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import signed_in_user

from ..models import Competition, Membership
from ..models.competition import CompetitionQuerySet
from ..ranking import team_ranks
from ..ranking.rows import Placing
from ..services import submit_conditions

PER_PAGE = 24
CHIPS = (
    ("", gettext_lazy("All")),
    ("live", gettext_lazy("Live")),
    ("upcoming", gettext_lazy("Upcoming")),
    ("ended", gettext_lazy("Ended")),
)


@open_page_to(SiteAudience.ANYONE)
def competitions(request: HttpRequest) -> HttpResponse:
    at, user = timezone.now(), request.user
    show, text = request.GET.get("show", ""), request.GET.get("q", "").strip()[:100]
    page = Paginator(_find_competitions(user, show, text, at), PER_PAGE).get_page(request.GET.get("page"))
    chips = CHIPS if user.is_anonymous else (*CHIPS, ("mine", _("Mine")))
    context = {
        "cards": _cards(list(page), user, at),
        "page": page,
        "chips": chips,
        "show": show if show in dict(chips) else "",
        "q": text,
        "is_new": not page.object_list and user.is_anonymous and not User.objects.exists(),
    }
    return render(request, "competitions/competitions.html", context)


def _find_competitions(user: Viewer, show: str, text: str, at: datetime) -> CompetitionQuerySet:
    """Of the public ones and one's own; even an operator finds the private ones elsewhere."""
    found = Competition.objects.filter(launched_at__isnull=False)
    public = Q(admission__is_listed=True)
    if user.is_anonymous:
        found = found.filter(public)
    else:
        run = Competition.objects.filter(Q(hosts=user) | Q(assistants=user)).values("pk")
        mine = Q(pk__in=run) | Q(pk__in=user.memberships.values("competition"))
        found = found.filter(mine if show == "mine" else public | mine)
    states = {
        "live": Q(opens_at__lte=at, closes_at__gt=at),
        "upcoming": Q(opens_at__gt=at),
        "ended": Q(closes_at__lte=at),
    }
    found = found.filter(states.get(show, Q()))
    if text:
        found = found.filter(Q(title__icontains=text) | Q(subtitle__icontains=text) | Q(course__icontains=text))
    # What can be entered now comes first, then what comes next, then what is over.
    turn = Case(When(states["live"], then=0), When(states["upcoming"], then=1), default=2)
    return found.select_related("ground_truth").order_by(turn, "-opens_at", "slug")


def _cards(shown: list[Competition], user: Viewer, at: datetime) -> list[dict[str, Any]]:
    keys = [competition.pk for competition in shown]
    counted = Count("teams", filter=Q(teams__disqualified_at=None))
    numbers = dict(Competition.objects.filter(pk__in=keys).order_by().values_list("pk").annotate(number=counted))
    mine = {}
    if not user.is_anonymous:
        held = Membership.objects.filter(user=user, competition__in=keys).select_related("team")
        mine = {membership.competition_id: membership.team for membership in held}
    joined = {mine[competition.pk].pk: competition for competition in shown if competition.pk in mine}
    placings = team_ranks.placings_now(joined, at)
    cards = []
    for competition in shown:
        team = mine.get(competition.pk)
        passed = (at - competition.opens_at) / (competition.closes_at - competition.opens_at)
        cards.append(
            {
                "competition": competition,
                "state": competition.state(at),
                "teams": numbers.get(competition.pk, 0),
                # The share of its time that is over.
                "passed": round(passed, 3),
                "team": team.name if team else "",
                "placing": placings.get(team.pk) if team else None,
            }
        )
    return cards


@dataclass(frozen=True)
class MyTeam:
    """One team of the viewer, with the names of its other members."""

    membership: Membership
    placing: Placing | None
    allowance: submit_conditions.AttemptAllowance
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

    @property
    def is_running(self) -> bool:
        return self.state in ("live", "upcoming")


@open_page_to(SiteAudience.SIGNED_IN)
def my_teams(request: HttpRequest) -> HttpResponse:
    """What still runs comes first, the nearest deadline on top; then what is over, the latest on top."""
    user, at = signed_in_user(request.user), timezone.now()
    # What a line of the table says of its competition.
    related = ("competition__ground_truth", "competition__board", "competition__limits")
    found = Membership.objects.filter(user=user, competition__launched_at__isnull=False)
    held = list(found.select_related("team", *related))
    teams = {one.team_id: one.competition for one in held}
    placings, allowances = team_ranks.placings_now(teams, at), submit_conditions.allowances_of_teams(teams, at)
    mates: dict[int, list[str]] = defaultdict(list)
    others = Membership.objects.filter(team__in=list(teams)).exclude(user=user)
    for team_id, name in others.values_list("team_id", "user__username"):
        mates[team_id].append(name)
    rows = [
        MyTeam(one, placings.get(one.team_id), allowances[one.team_id], mates[one.team_id], at)
        for one in sorted(held, key=lambda one: allowances[one.team_id].closes_at)
    ]
    context = {
        "running": [row for row in rows if row.is_running],
        "over": [row for row in reversed(rows) if not row.is_running],
    }
    return render(request, "competitions/my_teams.html", context)
