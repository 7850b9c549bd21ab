"""Dates for calendar programs: of one competition, and of all of a person's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

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

from ..models import CalendarAddress

if TYPE_CHECKING:
    from icalendar import Event

REFRESH = "PT1H"
REMIND = timedelta(days=-1)


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
    return render(request, "notifications/calendar.html", context, status=201 if made else 200)


@open_page_to(SiteAudience.ANYONE)
def my_calendar(request: HttpRequest, secret: str) -> HttpResponse:
    """For a calendar program, which cannot sign in: whoever has the address sees titles and dates."""
    owner = CalendarAddress.owner_of(secret)
    if owner is None:
        raise Http404(_("This calendar link doesn't work or was deleted."))
    dates = [(one, closes_at, _address(request, one)) for one, closes_at in _competitions_of(owner)]
    answer = as_calendar(_("My competitions"), dates, database_now())
    answer["Cache-Control"] = "private, no-store"
    return answer


@open_to(Audience.VISITORS)
def competition_calendar(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The dates of one competition; for a member, with what their team was granted."""
    competition = page_context.competition
    dates = [(competition, page_context.closes_at, _address(request, competition))]
    answer = as_calendar(competition.title, dates, page_context.at)
    answer["Content-Disposition"] = f'attachment; filename="{competition.slug}.ics"'
    return answer


def _competitions_of(user: User) -> Iterator[tuple[Competition, datetime]]:
    """Launched ones that a person is in, and all that they host or assist in, with the deadline that holds for them."""
    held = Membership.objects.filter(user=user, competition=OuterRef("pk")).annotate(granted=extended_deadline())
    deadline = Greatest(F("closes_at"), Coalesce(Subquery(held.values("granted")[:1]), F("closes_at")))
    joined = Competition.objects.filter(memberships__user=user, launched_at__isnull=False).values("pk")
    hosted, assisted = user.hosted_competitions.values("pk"), user.assisted_competitions.values("pk")
    mine = Competition.objects.outside_bin().filter(Q(pk__in=joined) | Q(pk__in=hosted) | Q(pk__in=assisted))
    found = mine.annotate(own=deadline).order_by("closes_at")
    own = dict(found.values_list("pk", "own"))
    for competition in found:
        yield competition, own[competition.pk]


def _address(request: HttpRequest, competition: Competition) -> str:
    return request.build_absolute_uri(reverse("overview", kwargs={"slug": competition.slug}))


def as_calendar(name: str, dates: Iterable[tuple[Competition, datetime, str]], at: datetime) -> HttpResponse:
    """The answer to a calendar program: of each competition the deadline that holds for the reader, and the absolute
    address of its page.

    Moments are in UTC, so they are right on every clock and on days that have 23 or 25 hours. An event keeps its UID
    when its time moves, so that it moves there too.
    """
    from icalendar import Calendar  # here, because few ask, and a web server starts faster without it

    calendar = Calendar()
    calendar.add("prodid", "-//Leaderboard//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", name)
    calendar.add("x-published-ttl", REFRESH)
    for competition, closes_at, address in dates:
        for kind, title, moment in _moments(competition, closes_at):
            event = _event(kind, competition, title, moment)
            event.add("dtstamp", at.astimezone(UTC))
            event.add("url", address)
            calendar.add_component(event)
    return HttpResponse(calendar.to_ical(), content_type="text/calendar; charset=utf-8")


def _moments(competition: Competition, closes_at: datetime) -> list[tuple[str, str, datetime]]:
    title = {"title": competition.title}
    found = [
        ("opens", _("%(title)s opens") % title, competition.opens_at),
        ("closes", _("Deadline: %(title)s") % title, closes_at),
    ]
    if competition.revealed_at is not None:
        found.append(("revealed", _("%(title)s: the final ranking is out") % title, competition.revealed_at))
    if competition.launched_at is None:
        return [(kind, _("Draft: %(what)s") % {"what": what}, moment) for kind, what, moment in found]
    return found


def _event(kind: str, competition: Competition, title: str, moment: datetime) -> Event:
    from icalendar import Alarm, Event

    event = Event()
    event.add("uid", f"{kind}-{competition.pk}-{competition.created_at:%Y%m%d}@leaderboard")
    event.add("dtstart", moment.astimezone(UTC).replace(microsecond=0))
    event.add("dtend", moment.astimezone(UTC).replace(microsecond=0))
    event.add("summary", title)
    event.add("transp", "TRANSPARENT")
    if kind == "closes":
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", title)
        alarm.add("trigger", REMIND)
        event.add_component(alarm)
    return event
