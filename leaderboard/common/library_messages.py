"""What the library of metrics says, in the reader's language.

The library speaks English and knows no site. Its messages remember their templates, which are stored with the English
text; Django's translation looks them up when a page is shown. What has no template is looked up as a whole: it is what
a metric says of itself, and stays as it is where an operator added the metric.
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
    """Why a file could not be measured: one of the site's own sentences, stored in English, some with seconds."""
    if number := _SECONDS.search(stored):
        return gettext(_SECONDS.sub("%(seconds)s", stored)) % {"seconds": number[0]}
    return gettext(stored)


def stored_text(stored: Mapping[str, Any], name: str = "message") -> str:
    """One text of a stored problem, finding or the like in the reader's language."""
    return translated_message(stored_message(stored, name))


def stored_message(stored: Mapping[str, Any], name: str) -> str:
    """One text of a problem, a finding or the like, as `with_templates` wrote it: English, with its template."""
    text, forms = stored.get(name) or "", stored.get("forms")
    return restore_message(text, forms.get(name)) if isinstance(forms, dict) else text
