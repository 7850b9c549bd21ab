"""Dates for calendar programs: of one competition, and of all of a person's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Greatest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.clock import database_now
from leaderboard.common.responses import signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition, Membership
from leaderboard.competitions.models.extension import extended_deadline

from ..icalendar import CompetitionDates, as_calendar
from ..models import CalendarAddress


@open_page_to(SiteAudience.SIGNED_IN)
def calendar(request: HttpRequest) -> HttpResponse:
    """Make the secret address, make another one, or end it. It is shown in the answer to making it, and never again."""
    user, made = signed_in_user(request.user), ""
    if request.POST.get("action") == "make":
        secret = CalendarAddress.issue(user)
        made = request.build_absolute_uri(reverse("my_calendar", kwargs={"secret": secret}))
    elif request.POST.get("action") == "end":
        CalendarAddress.objects.filter(user=user).delete()
    context = {"made": made, "address": CalendarAddress.objects.filter(user=user).first()}
    response = render(request, "notifications/calendar.html", context, status=201 if made else 200)
    response["Cache-Control"] = "private, no-store"
    return response


@open_page_to(SiteAudience.ANYONE)
def my_calendar(request: HttpRequest, secret: str) -> HttpResponse:
    """For a calendar program, which cannot sign in: whoever has the address sees titles and dates."""
    owner = CalendarAddress.owner_of(secret)
    if owner is None:
        raise Http404(_("There is no calendar here, or not any more."))
    dates = [_dates(request, competition, deadline) for competition, deadline in _competitions_of(owner)]
    answer = as_calendar(_("My competitions"), dates, database_now())
    answer["Cache-Control"] = "private, no-store"
    return answer


@open_to(Audience.VISITORS)
def competition_calendar(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The dates of one competition; for a member, with what their team was granted."""
    answer = as_calendar(
        page_context.competition.title,
        [_dates(request, page_context.competition, page_context.closes_at)],
        page_context.at,
    )
    answer["Content-Disposition"] = f'attachment; filename="{page_context.competition.slug}.ics"'
    return answer


def _competitions_of(user: User) -> Iterator[tuple[Competition, datetime]]:
    """Launched ones that a person is in, and all that they host or assist in, with the deadline that holds for them."""
    held = Membership.objects.filter(user=user, competition=OuterRef("pk")).annotate(granted=extended_deadline("team"))
    deadline = Greatest(F("closes_at"), Coalesce(Subquery(held.values("granted")[:1]), F("closes_at")))
    joined = Competition.objects.filter(memberships__user=user, launched_at__isnull=False).values("pk")
    hosted, assisted = user.hosted_competitions.values("pk"), user.assisted_competitions.values("pk")
    mine = Competition.objects.filter(Q(pk__in=joined) | Q(pk__in=hosted) | Q(pk__in=assisted))
    found = mine.annotate(own=deadline).order_by("closes_at")
    own = dict(found.values_list("pk", "own"))
    for competition in found:
        yield competition, own[competition.pk]


def _dates(request: HttpRequest, competition: Competition, closes_at: datetime) -> CompetitionDates:
    address = request.build_absolute_uri(reverse("overview", kwargs={"slug": competition.slug}))
    return CompetitionDates(competition, closes_at, address)
