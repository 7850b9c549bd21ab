"""What the library of metrics says, in the language of whoever reads it.

The library speaks English and knows no site. Its sentences know the form that they were made of; forms are kept beside
the English text and go through Django's translation when somebody reads them. What has no form (a metric that an
operator added, or a row from before there were forms) is shown as it is.

What a metric says of itself (`own_texts`) is its own form. It stands in the metric's file as a plain text, where no
tool finds it, so `makemessages` asks the metrics. A definition is said paragraph by paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from django.utils.translation import get_language, gettext, ngettext

import metrics

KEYWORDS = ("said:1", "later:1", "counted:2,3", "forms:1,2")
"""Which arguments of which functions of the library are forms, as xgettext is told."""

_PARAGRAPHS = re.compile(r"\n\s*\n")
_LINES = re.compile(r"\n(?!- )\s*")
_SECONDS = re.compile(r"(?<=longer than )\S+(?= s\.)")


def is_english() -> bool:
    """Whether the reader's language is the library's own, so that a page looks for none of its hundreds of texts."""
    return (get_language() or "en") == "en"


def in_words(sentence: str) -> str:
    """A sentence of the library, or any other text, which is left as it is."""
    if not isinstance(sentence, metrics.Sentence) or is_english():
        return sentence
    return sentence.said_by(_say)


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


def definition(metric: metrics.Metric) -> str:
    """A metric's description, as Markdown."""
    if metric.is_outside or is_english():
        return metric.description
    return "\n\n".join(part if _is_formula(part) else gettext(part) for part in _paragraphs(metric.description))


def own_texts(metric: metrics.Metric) -> Iterator[tuple[str, str]]:
    """What a metric of the library says of itself beside kinds of column, each text with what it is to a translator."""
    yield "title", metric.title
    yield "group", metric.group
    yield "sentence", metric.summary
    for parameter in metric.parameters:
        yield f"parameter {parameter.name}", parameter.help
        if parameter.when_empty:
            yield f"parameter {parameter.name}, when it is empty", parameter.when_empty
    for part in _paragraphs(metric.description):
        if not _is_formula(part):
            yield "definition", part


@lru_cache(maxsize=256)
def _paragraphs(description: str) -> tuple[str, ...]:
    """Without the breaks of lines that mean nothing, so that only new words make it another text."""
    return tuple(_LINES.sub(" ", part) for part in _PARAGRAPHS.split(description))


def _is_formula(paragraph: str) -> bool:
    return paragraph.startswith("$$") and paragraph.find("$$", 2) == len(paragraph) - 2


def _say(form: str, many: str, number: int | None) -> str:
    return gettext(form) if number is None else ngettext(form, many, number)
