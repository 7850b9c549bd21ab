"""One metric in a chooser. Made here and not by a template: a page has all of them, and including a template for each
took half of its time."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

import metrics

from ..sentences import in_words
from .prose import line


def metric_choice(one: metrics.Metric, chosen: str | None, reason: str = "") -> SafeString:
    """A radio button as a card. `reason` says why it fits or not; without one, what columns the metric reads."""
    return format_html(
        '<label class="choice-card"><input type="radio" name="metric" value="{}"{} /><span><strong>{}</strong>'
        '<span class="muted small">{}</span><span class="muted tiny">{}</span></span></label>\n',
        one.key,
        SafeString(" checked" if one.key == chosen else ""),
        in_words(one.title),
        line(str(in_words(one.summary) or "")),
        reason or in_words(one.columns),
    )
