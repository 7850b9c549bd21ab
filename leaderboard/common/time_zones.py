"""Names of time zones, and moments in words."""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, date, datetime
from functools import cache

from django.core.exceptions import ValidationError
from django.utils.dates import MONTHS_3
from django.utils.translation import gettext as _


@cache
def known_zones() -> frozenset[str]:
    """All names of time zones. Listing them reads the time zone folders of the system."""
    return frozenset(zoneinfo.available_timezones())


def check_zone(name: str) -> None:
    if name not in known_zones():
        raise ValidationError(_("“%(name)s” is not a time zone; write for example Europe/Vienna.") % {"name": name})


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
