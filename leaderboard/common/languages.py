"""In which language pages are shown: the viewer's own choice, else what their browser asks for, else English.

Which languages this site speaks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

# Read by programs and operators, and the same everywhere.
ENGLISH_ALONE = ("/api/", "/admin/", "/healthz", "/readyz", "/prometheus")


def language_of_request(request: HttpRequest) -> str:
    """Asks for the viewer's account only where there is something to choose."""
    if len(settings.LANGUAGES) == 1 or request.path_info.startswith(ENGLISH_ALONE):
        return settings.LANGUAGE_CODE
    own = getattr(request.user, "language", "")
    return own if own in dict(settings.LANGUAGES) else translation.get_language_from_request(request)


def note_language(request: HttpRequest, response: HttpResponse) -> None:
    """Set the headers that say in which language a response is, where it could be another."""
    if len(settings.LANGUAGES) > 1 and not request.path_info.startswith(ENGLISH_ALONE):
        patch_vary_headers(response, ["Accept-Language"])
        response.headers.setdefault("Content-Language", request.LANGUAGE_CODE)


def languages_in(folders: Iterable[Path]) -> list[tuple[str, str]]:
    """English, and each language with compiled words in one of the folders, under the name it gives itself."""
    found = {path.parent.parent.name for folder in folders for path in folder.glob("*/LC_MESSAGES/django.mo")}
    codes = sorted({name.replace("_", "-").lower() for name in found} - {"en"})
    return [("en", "English"), *((code, _name(code)) for code in codes)]


def _name(code: str) -> str:
    return str(LANG_INFO.get(code, {}).get("name_local", code))
