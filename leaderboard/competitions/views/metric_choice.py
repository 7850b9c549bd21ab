"""One metric in a chooser. Made here and not by a template: a page has all of them, and including a template for each
took half of its time."""

from __future__ import annotations

from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString

import metrics
from leaderboard.common.library_messages import translated_message
from leaderboard.common.markdown import render_markdown_line


def metric_choice(one: metrics.Metric, chosen: str | None, reason: str = "") -> SafeString:
    """A radio button as a card. `reason` says why it fits or not; without one, what columns the metric reads."""
    detail = reason or translated_message(one.columns)
    return _metric_card(
        one.key, one.key == chosen, translated_message(one.title), translated_message(one.summary), detail
    )


# By type too: a text that is markup equals the same text that is none.
@lru_cache(maxsize=1024, typed=True)
def _metric_card(key: str, is_chosen: bool, title: str, summary: str | None, detail: str) -> SafeString:
    return format_html(
        '<label class="choice-card"><input type="radio" name="metric" value="{}"{} /><span><strong>{}</strong>'
        '<span class="muted small">{}</span><span class="muted tiny">{}</span></span></label>\n',
        key,
        SafeString(" checked" if is_chosen else ""),
        title,
        render_markdown_line(summary or ""),
        detail,
    )
