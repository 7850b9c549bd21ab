"""Moments as pages say them: by the reader's clocks, with the exact time on hover.

The time zone of pages: the viewer's own choice, else their browser's, else the competition's.

Names of time zones, and moments in words.
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.dates import MONTHS_3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone, get_current_timezone_name
from django.utils.translation import get_language
from django.utils.translation import gettext as _


@cache
def known_zones() -> frozenset[str]:
    """All names of time zones. Listing them reads the time zone folders of the system."""
    return frozenset(zoneinfo.available_timezones())


def check_zone(name: str) -> None:
    if name not in known_zones():
        raise ValidationError(_("“%(name)s” isn't a time zone. Example: Europe/Vienna.") % {"name": name})


@cache
def time_zones() -> tuple[str, ...]:
    """The zones of places, and UTC; the old names of the database are left out."""
    return ("UTC", *sorted(zone for zone in known_zones() if re.match(r"(?!Etc/|SystemV/)\w+/", zone)))


def day_and_time_text(when: datetime) -> str:
    """In the zone of the moment, in the format of every page and e-mail."""
    return f"{day_text(when)}, {when.hour:02}:{when.minute:02}"


def day_text(day: date) -> str:
    """Django's `j M Y`, whose reading of the format takes longer than the rest of a row of a table."""
    return f"{day.day} {MONTHS_3[day.month].title()} {day.year:04}"


def moment_text(moment: datetime, zone: str) -> str:
    """A moment on the clocks of a zone, with its name, and in UTC: for texts whose reader's own clocks nobody knows."""
    local, utc = moment.astimezone(zoneinfo.ZoneInfo(zone)), f"{day_and_time_text(moment.astimezone(UTC))} UTC"
    letters = local.tzname() or ""
    # Half of the zones have a number in the place of letters, which nobody takes for a name.
    name = letters if letters.isalpha() else zone
    return f"{day_and_time_text(local)} {name} ({utc})" if local.utcoffset() else utc


def moment(when: datetime | None, style: str = "") -> SafeString:
    """A moment in the viewer's zone, as far as it is known here; the script knows the browser's. Styles: `ago`, `left`
    (a countdown), `short` (as `ago`, in as few bytes as a row of a board can spare; the script adds the hover)."""
    if when is None:
        return mark_safe("–")
    if style == "left":
        return _time_element(when, style, remaining((when - datetime.now(UTC)).total_seconds()))
    return _cached_moment(when, style, get_current_timezone_name(), get_language())


# A page of a class says hundreds of them, the next one the same again.
@lru_cache(maxsize=4096)
def _cached_moment(when: datetime, style: str, _zone: str, _language: str | None) -> SafeString:
    """One that says the same later, to readers of a zone and a language."""
    local = when.astimezone(get_current_timezone())
    if style == "short":
        iso, shown = when.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ"), date_format(local, "j M, H:i")
        return format_html('<time datetime="{}" data-moment="ago">{}</time>', iso, shown)
    return _time_element(when, style, date_format(local, "j M, H:i") if style == "ago" else "")


def _time_element(when: datetime, style: str, shown: str) -> SafeString:
    """With the exact moment on hover, which stands there as well unless something else is `shown`."""
    utc, local = when.astimezone(UTC), when.astimezone(get_current_timezone())
    text = title = f"{day_and_time_text(utc)} UTC"
    if local.utcoffset():
        text = f"{day_and_time_text(local)} {local.tzname()}"
        title = f"{text} ({get_current_timezone_name()}; {title})"
    iso = utc.isoformat(timespec="seconds")
    return format_html('<time datetime="{}" data-moment="{}" title="{}">{}</time>', iso, style, title, shown or text)


def remaining(seconds: float) -> str:
    """A span in words, as the script says it."""
    if seconds <= 0:
        return _("now")
    minutes = int(seconds // 60)
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return _("%(days)s d %(hours)s h") % {"days": days, "hours": hours}
    if hours:
        return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes % 60}
    return _("%(minutes)s min") % {"minutes": minutes} if minutes else _("less than a minute")


COOKIE = "zone"


def viewer_zone(request: HttpRequest) -> str:
    """What a person chose in their preferences, else what their browser said; empty where neither is known."""
    own = getattr(request.user, "zone", "")
    name = own or request.COOKIES.get(COOKIE, "")
    return name if name in known_zones() else ""


def activate_competition_zone(request: HttpRequest, zone: str) -> None:
    """Show times of this request in a competition's zone, unless its viewer has one."""
    if not viewer_zone(request):
        timezone.activate(ZoneInfo(zone))
