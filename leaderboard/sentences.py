"""What the library of metrics says, in the language of whoever reads it.

The library speaks English and knows no site. Its sentences know the form that they were made of; forms are kept beside
the English text and go through Django's translation when somebody reads them. What has no form (a metric that an
operator added, or a row from before there were forms) is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

import metrics

KEYWORDS = ("said:1", "later:1", "counted:2,3", "forms:1,2")
"""Which arguments of which functions of the library are forms, as xgettext is told."""

_SECONDS = re.compile(r"(?<=longer than )\S+(?= s\.)")


def in_words(sentence: str) -> str:
    """A sentence of the library, or any other text, which is left as it is."""
    return sentence.said_by(_say) if isinstance(sentence, metrics.Sentence) else sentence


def failure_in_words(stored: str) -> str:
    """Why a file could not be measured: one of the site's own sentences, stored in English, some with seconds."""
    if number := _SECONDS.search(stored):
        return gettext(_SECONDS.sub("%(seconds)s", stored)) % {"seconds": number[0]}
    return gettext(stored) if stored else ""


def told(kept: Mapping[str, Any], name: str = "message") -> str:
    """One text of what was kept, in words."""
    return in_words(sentence_of(kept, name))


def sentence_of(kept: Mapping[str, Any], name: str) -> str:
    """One text of a problem, a finding or the like, as `kept` of the library wrote it: English, with its form."""
    text, forms = kept.get(name) or "", kept.get("forms")
    return metrics.restored(text, forms.get(name)) if isinstance(forms, dict) else text


def _say(form: str, many: str, number: int | None) -> str:
    return gettext(form) if number is None else ngettext(form, many, number)
