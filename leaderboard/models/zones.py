"""Names of time zones."""

from __future__ import annotations

import re
import zoneinfo
from functools import cache

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


def check_zone(name: str) -> None:
    if name not in zoneinfo.available_timezones():
        raise ValidationError(_("“%(name)s” is not a time zone; write for example Europe/Vienna.") % {"name": name})


@cache
def zones() -> tuple[str, ...]:
    """The zones of places, and UTC; the old names of the database are left out."""
    return ("UTC", *sorted(zone for zone in zoneinfo.available_timezones() if re.match(r"(?!Etc/|SystemV/)\w+/", zone)))
