"""Which languages this site speaks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.conf.locale import LANG_INFO


def languages_in(folders: Iterable[Path]) -> list[tuple[str, str]]:
    """English, and each language with compiled words in one of the folders, under the name it gives itself."""
    found = {path.parent.parent.name for folder in folders for path in folder.glob("*/LC_MESSAGES/django.mo")}
    codes = sorted({name.replace("_", "-").lower() for name in found} - {"en"})
    return [("en", "English"), *((code, _name(code)) for code in codes)]


def _name(code: str) -> str:
    return str(LANG_INFO.get(code, {}).get("name_local", code))
