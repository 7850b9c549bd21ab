"""Messages of the metrics library in the reader's language.

The library is English and knows no site. Its messages keep their templates, which are stored with the English text;
Django's translation looks the templates up when a page is shown. A text without a template, such as a metric's summary,
is looked up as a whole; texts of metrics that an operator added stay untranslated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

import metrics
from metrics.core.messages import restore_message

_SECONDS = re.compile(r"(?<=longer than )\S+(?= s\.)")


def translated_message(text: str) -> str:
    """A message or any other text of the library in the reader's language."""
    return text.translated(gettext, ngettext) if isinstance(text, metrics.Message) else gettext(text)


def translated_failure(stored: str) -> str:
    """Why a file could not be scored: one of the site's own sentences, stored in English, some with a number of
    seconds."""
    if number := _SECONDS.search(stored):
        return gettext(_SECONDS.sub("%(seconds)s", stored)) % {"seconds": number[0]}
    return gettext(stored)


def stored_text(stored: Mapping[str, Any], name: str = "message") -> str:
    """One text of a stored problem or finding in the reader's language."""
    return translated_message(stored_message(stored, name))


def stored_message(stored: Mapping[str, Any], name: str) -> str:
    """One text of a stored problem or finding as `with_templates` wrote it: English, with its template if it has
    one."""
    text, forms = stored.get(name) or "", stored.get("forms")
    return restore_message(text, forms.get(name)) if isinstance(forms, dict) else text
