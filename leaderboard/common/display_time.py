"""Moments as pages say them: by the reader's clocks, with the exact time on hover."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone, get_current_timezone_name
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from .time_zones import day_and_time_text


def moment(when: datetime | None, style: str = "") -> SafeString:
    """A moment in the viewer's zone, as far as it is known here; the script knows the browser's. Styles: `ago`, `left`
    (a countdown)."""
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
