"""The front page: which competitions there are, and a box for a code.

The home scorer's command line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from shlex import quote
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, Count, Q, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics as library
from leaderboard.accounts.models import User, Viewer
from leaderboard.common.access import SiteAudience, open_page_to

from ..models import Competition, Membership
from ..models.competition import CompetitionQuerySet
from ..ranking import rows
from ..ranking import team_ranks as placings_module

PER_PAGE = 24
CHIPS = (
    ("", gettext_lazy("All")),
    ("live", gettext_lazy("Live")),
    ("upcoming", gettext_lazy("Upcoming")),
    ("ended", gettext_lazy("Ended")),
)


@dataclass(frozen=True)
class CompetitionCard:
    """A competition as its card shows it; `passed` is the share of its time that is over."""

    competition: Competition
    state: str
    teams: int
    passed: float
    team: str
    placing: rows.Placing | None


@open_page_to(SiteAudience.ANYONE)
def competitions(request: HttpRequest) -> HttpResponse:
    at, user = timezone.now(), request.user
    show, text = request.GET.get("show", ""), request.GET.get("q", "").strip()[:100]
    found = _filter_competitions(_listed_competitions(user), show, text, user, at)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
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


def _listed_competitions(user: Viewer) -> CompetitionQuerySet:
    """The public ones and one's own; even an operator finds the private ones elsewhere."""
    public = Q(admission__is_listed=True)
    if user.is_anonymous:
        return Competition.objects.filter(public, launched_at__isnull=False)
    run = Q(pk__in=Competition.objects.filter(Q(hosts=user) | Q(assistants=user)).values("pk"))
    mine = run | Q(pk__in=user.memberships.values("competition"))
    return Competition.objects.filter(public | mine, launched_at__isnull=False)


def _filter_competitions(
    listed: CompetitionQuerySet, show: str, text: str, user: Viewer, at: datetime
) -> CompetitionQuerySet:
    states = {
        "live": Q(opens_at__lte=at, closes_at__gt=at),
        "upcoming": Q(opens_at__gt=at),
        "ended": Q(closes_at__lte=at),
    }
    found = listed.filter(states.get(show, Q()))
    if show == "mine" and not user.is_anonymous:
        run = Q(hosts=user) | Q(assistants=user)
        found = found.filter(Q(pk__in=user.memberships.values("competition")) | run).distinct()
    if text:
        found = found.filter(Q(title__icontains=text) | Q(subtitle__icontains=text) | Q(course__icontains=text))
    # What can be entered now comes first, then what comes next, then what is over.
    turn = Case(When(states["live"], then=0), When(states["upcoming"], then=1), default=2)
    return found.select_related("ground_truth").order_by(turn, "-opens_at", "slug")


def _cards(shown: list[Competition], user: Viewer, at: datetime) -> list[CompetitionCard]:
    keys = [competition.pk for competition in shown]
    counted = Count("teams", filter=Q(teams__disqualified_at=None))
    teams = dict(Competition.objects.filter(pk__in=keys).order_by().values_list("pk").annotate(number=counted))
    mine = {}
    if not user.is_anonymous:
        held = Membership.objects.filter(user=user, competition__in=keys).select_related("team")
        mine = {membership.competition_id: membership.team for membership in held}
    joined = {mine[competition.pk].pk: competition for competition in shown if competition.pk in mine}
    placings = placings_module.placings_now(joined, at)
    cards = []
    for competition in shown:
        team = mine.get(competition.pk)
        cards.append(
            CompetitionCard(
                competition=competition,
                state=competition.state(at),
                teams=teams.get(competition.pk, 0),
                passed=round((at - competition.opens_at) / (competition.closes_at - competition.opens_at), 3),
                team=team.name if team else "",
                placing=placings.get(team.pk) if team else None,
            )
        )
    return cards


def home_command(
    metric: library.Metric,
    params: Mapping[str, Any],
    *,
    always: Collection[str] = (),
    also: Iterable[tuple[library.Metric, Mapping[str, Any]]] = (),
) -> str:
    """For a student's files, with the parameters that are not at their defaults, and those `always` said."""
    given = [f"-p {quote(pair)}" for pair in _pairs(metric, params, always)]
    further = [f"--also {quote(','.join([other.key, *_pairs(other, its, ())]))}" for other, its in also]
    return " ".join(["classboard-score score", metric.key, "truth.csv submission.csv", *given, *further])


def _pairs(metric: library.Metric, params: Mapping[str, Any], always: Collection[str]) -> list[str]:
    return [
        f"{p.name}={value}"
        for p in metric.parameters
        if (value := params.get(p.name, p.default)) is not None and (value != p.default or p.name in always)
    ]
