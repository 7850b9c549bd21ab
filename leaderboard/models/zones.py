"""Names of time zones."""

from __future__ import annotations

import zoneinfo

from django.core.exceptions import ValidationError


def check_zone(name: str) -> None:
    if name not in zoneinfo.available_timezones():
        raise ValidationError(f"“{name}” is not a time zone; write for example Europe/Vienna.")
