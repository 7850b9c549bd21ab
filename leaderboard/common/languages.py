"""The language of a page: the viewer's own choice, else the one their browser asks for, else English."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

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
    return [("en", "English"), *((code, _language_name(code)) for code in codes)]


def _language_name(code: str) -> str:
    return str(LANG_INFO.get(code, {}).get("name_local", code))
