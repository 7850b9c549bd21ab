"""Times as pages show them: in the reader's time zone (`viewer.py`), with the exact time on hover."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime
from functools import lru_cache

from django.utils.dateformat import format as date_format
from django.utils.dates import MONTHS_3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone, get_current_timezone_name
from django.utils.translation import get_language
from django.utils.translation import gettext as _


def year_problem(moment: datetime) -> str:
    """The message about a year in which a conversion to another time zone, which pages make, may overflow; or ""."""
    return "" if 1970 <= moment.year <= 9000 else _("Enter a year between 1970 and 9000.")


def zone_title(zone: str) -> str:
    """A zone's name on pages; GMT for UTC, which is a word of computers."""
    return "GMT" if zone == "UTC" else zone.replace("_", " ")


def day_and_time_text(when: datetime) -> str:
    """A time in its own time zone, in the format of every page and e-mail."""
    return f"{day_text(when)}, {when.hour:02}:{when.minute:02}"


def day_text(day: date) -> str:
    """A date as Django's `j M Y`, without its format parser, which takes longer than the rest of a table row."""
    return f"{day.day} {MONTHS_3[day.month].title()} {day.year:04}"


def zone_letters(local: datetime) -> str:
    """The abbreviation of a time's zone, such as CET."""
    letters = local.tzname() or ""
    return zone_title(letters)


def moment_text(moment: datetime, zone: str) -> str:
    """A time in a zone, with the zone's name, for texts whose readers' time zones are unknown."""
    local = moment.astimezone(zoneinfo.ZoneInfo(zone))
    letters = zone_letters(local)
    # Half of the zones have an offset such as "+03" as abbreviation, which is not a name.
    return f"{day_and_time_text(local)} {letters if letters.isalpha() else zone}"


def moment(when: datetime | None, style: str = "") -> SafeString:
    """A `<time>` element in the viewer's zone as the server knows it; a script corrects it to the browser's. Styles:
    `ago`, `left` (a countdown), `short` (as `ago`, in few bytes for rows of a board; the script adds the hover
    text)."""
    if when is None:
        return mark_safe("–")
    if style == "left":
        return _time_element(when, style, remaining((when - datetime.now(UTC)).total_seconds()))
    return _cached_moment(when, style, get_current_timezone_name(), get_language())


# A class's page shows hundreds of times, and the next page the same ones.
@lru_cache(maxsize=4096)
def _cached_moment(when: datetime, style: str, _zone: str, _language: str | None) -> SafeString:
    """The element of a time whose text does not depend on now, cached per zone and language."""
    local = when.astimezone(get_current_timezone())
    if style == "short":
        iso, shown = when.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ"), date_format(local, "j M, H:i")
        return format_html('<time datetime="{}" data-moment="ago">{}</time>', iso, shown)
    return _time_element(when, style, date_format(local, "j M, H:i") if style == "ago" else "")


def _time_element(when: datetime, style: str, shown: str) -> SafeString:
    """A `<time>` element with the exact time on hover and, unless `shown` is set, as its text."""
    utc, local, zone = when.astimezone(UTC), when.astimezone(get_current_timezone()), get_current_timezone_name()
    text = f"{day_and_time_text(local)} {zone_letters(local)}"
    title = text if zone == "UTC" else f"{text} ({zone})"
    iso = utc.isoformat(timespec="seconds")
    return format_html('<time datetime="{}" data-moment="{}" title="{}">{}</time>', iso, style, title, shown or text)


def remaining(seconds: float) -> str:
    """A number of seconds in words, as the browser's script writes it."""
    if seconds <= 0:
        return _("now")
    minutes = int(seconds // 60)
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return _("%(days)s d %(hours)s h") % {"days": days, "hours": hours}
    if hours:
        return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes % 60}
    return _("%(minutes)s min") % {"minutes": minutes} if minutes else _("less than a minute")
