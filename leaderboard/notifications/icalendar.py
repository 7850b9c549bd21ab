"""Dates as iCalendar: moments in UTC, so they are right on every clock and on days that have 23 or 25 hours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.utils.translation import gettext as _

from leaderboard.competitions.models import Competition

if TYPE_CHECKING:
    from icalendar import Event

REFRESH = "PT1H"
REMIND = timedelta(days=-1)


@dataclass(frozen=True)
class CompetitionDates:
    """A competition with the deadline that holds for the reader, and the absolute address of its page."""

    competition: Competition
    closes_at: datetime
    address: str


def as_calendar(name: str, dates: Iterable[CompetitionDates], at: datetime) -> HttpResponse:
    """The answer to a calendar program. An event keeps its UID when its time moves, so that it moves there too."""
    from icalendar import Calendar  # here, because few ask, and a web server starts faster without it

    calendar = Calendar()
    calendar.add("prodid", "-//Leaderboard//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", name)
    calendar.add("x-published-ttl", REFRESH)
    for one in dates:
        for kind, title, moment in _moments(one):
            calendar.add_component(_event(one, kind, title, moment, at))
    return HttpResponse(calendar.to_ical(), content_type="text/calendar; charset=utf-8")


def _moments(one: CompetitionDates) -> list[tuple[str, str, datetime]]:
    title = {"title": one.competition.title}
    found = [
        ("opens", _("%(title)s opens") % title, one.competition.opens_at),
        ("closes", _("Deadline: %(title)s") % title, one.closes_at),
    ]
    if one.competition.revealed_at is not None:
        found.append(("revealed", _("%(title)s: the final ranking is out") % title, one.competition.revealed_at))
    if one.competition.launched_at is None:
        return [(kind, _("Draft: %(what)s") % {"what": what}, moment) for kind, what, moment in found]
    return found


def _event(one: CompetitionDates, kind: str, title: str, moment: datetime, at: datetime) -> Event:
    from icalendar import Alarm, Event

    event = Event()
    event.add("uid", f"{kind}-{one.competition.pk}-{one.competition.created_at:%Y%m%d}@leaderboard")
    event.add("dtstamp", at.astimezone(UTC))
    event.add("dtstart", moment.astimezone(UTC).replace(microsecond=0))
    event.add("dtend", moment.astimezone(UTC).replace(microsecond=0))
    event.add("summary", title)
    event.add("url", one.address)
    event.add("transp", "TRANSPARENT")
    if kind == "closes":
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", title)
        alarm.add("trigger", REMIND)
        event.add_component(alarm)
    return event
