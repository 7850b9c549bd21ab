"""Pages for everybody: the list of competitions with search, and the overview of one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, Count, Q, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import Viewer
from leaderboard.boards import team_ranks
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.metric_display import competition_metric
from leaderboard.competitions.models import Competition, Membership
from leaderboard.competitions.models.competition import CompetitionQuerySet
from leaderboard.notifications.queries import announcements_for

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
    }
    return render(request, "site/competitions.html", context)


def _find_competitions(user: Viewer, show: str, text: str, at: datetime) -> CompetitionQuerySet:
    """Listed competitions and the viewer's, filtered by state and text. Even operators see no other unlisted ones."""
    found = Competition.objects.outside_bin().filter(launched_at__isnull=False, archive__archived_at=None)
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
        found = found.filter(Q(title__icontains=text) | Q(subtitle__icontains=text) | Q(course__title__icontains=text))
    # Live competitions first, then upcoming ones, then ended ones.
    turn = Case(When(states["live"], then=0), When(states["upcoming"], then=1), default=2)
    return found.select_related("ground_truth", "limits").order_by(turn, "-opens_at", "slug")


def _cards(shown: list[Competition], user: Viewer, at: datetime) -> list[dict[str, Any]]:
    keys = [competition.pk for competition in shown]
    counted = Count("teams", filter=Q(teams__disqualified_at=None))
    numbers = dict(Competition.objects.filter(pk__in=keys).order_by().values_list("pk").annotate(number=counted))
    mine = {}
    if not user.is_anonymous:
        held = Membership.objects.filter(user=user, competition__in=keys).select_related("team")
        mine = {membership.competition_id: membership.team for membership in held}
    joined = {mine[competition.pk]: competition for competition in shown if competition.pk in mine}
    placings = team_ranks.placings_now(joined, at)
    cards = []
    for competition in shown:
        team = mine.get(competition.pk)
        cards.append(
            {
                "competition": competition,
                "state": competition.state(at),
                "teams": numbers.get(competition.pk, 0),
                "team": team.name if team else "",
                "placing": placings.get(team.pk) if team else None,
            }
        )
    return cards


@open_to(Audience.VISITORS)
def overview(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    context = {
        "page_context": page_context,
        "measure": competition_metric(competition.ground_truth),
        "announcements": announcements_for(page_context),
    }
    return render(request, "site/overview.html", context)
