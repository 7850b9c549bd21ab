"""The language and time zone of a page: the viewer's own choice, else that of their browser, else English and the time
zone of the competition."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

# Pages for programs and operators are English everywhere.
ENGLISH_ALONE = ("/api/", "/admin/", "/healthz", "/readyz", "/prometheus")


def language_of_request(request: HttpRequest) -> str:
    """The code of the language for a request; loads the viewer's account only if there are several languages."""
    if len(settings.LANGUAGES) == 1 or request.path_info.startswith(ENGLISH_ALONE):
        return settings.LANGUAGE_CODE
    own = getattr(request.user, "language", "")
    return own if own in dict(settings.LANGUAGES) else translation.get_language_from_request(request)


def note_language(request: HttpRequest, response: HttpResponse) -> None:
    """Set `Content-Language` and `Vary` on a response that other viewers may get in another language."""
    if len(settings.LANGUAGES) > 1 and not request.path_info.startswith(ENGLISH_ALONE):
        patch_vary_headers(response, ["Accept-Language"])
        response.headers.setdefault("Content-Language", request.LANGUAGE_CODE)


def languages_in(folders: Iterable[Path]) -> list[tuple[str, str]]:
    """English and each language with a compiled catalogue in one of the folders: (code, native name)."""
    found = {path.parent.parent.name for folder in folders for path in folder.glob("*/LC_MESSAGES/django.mo")}
    codes = sorted({name.replace("_", "-").lower() for name in found} - {"en"})
    return [("en", "English"), *((code, str(LANG_INFO.get(code, {}).get("name_local", code))) for code in codes)]


COOKIE = "zone"


@cache
def known_zones() -> frozenset[str]:
    """All names of time zones. Listing them reads the system's time zone folders, so the result is cached."""
    return frozenset(zoneinfo.available_timezones())


def check_zone(name: str) -> None:
    if name not in known_zones():
        raise ValidationError(_("“%(name)s” isn't a time zone. Example: Europe/Vienna.") % {"name": name})


@cache
def time_zones() -> tuple[str, ...]:
    """UTC and the zones of places; old names such as `Etc/…` are left out."""
    return ("UTC", *sorted(zone for zone in known_zones() if re.match(r"(?!Etc/|SystemV/)\w+/", zone)))


def viewer_zone(request: HttpRequest) -> str:
    """The time zone of the viewer's preferences, else of their browser (cookie); `""` if neither is known."""
    own = getattr(request.user, "zone", "")
    name = own or request.COOKIES.get(COOKIE, "")
    return name if name in known_zones() else ""
