"""A language of tests: every text that goes through translation comes back in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from typing import Any
from unittest.mock import patch

from django.test import override_settings
from django.utils.translation import trans_real

CODE = "eo"
CONTEXT = "\x04"


class Bracketed(NullTranslations):
    """As Django's own catalogues, without a word in it."""

    def to_language(self) -> str:
        return CODE

    def language(self) -> str:
        return CODE

    def gettext(self, message: str) -> str:
        return f"⟦{message.rpartition(CONTEXT)[2]}⟧" if message else ""

    def ngettext(self, msgid1: str, msgid2: str, n: float) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


@contextmanager
def second_language() -> Iterator[None]:
    """A site that speaks English and the language of brackets, and writes 1,5 for one and a half."""
    with override_settings(LANGUAGES=[("en", "English"), (CODE, "Esperanto")]):
        catalogues: Any = trans_real._translations  # type: ignore[attr-defined]
        with patch.dict(catalogues, {CODE: Bracketed()}):
            yield
