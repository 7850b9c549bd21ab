"""The metrics of the chooser, those first that fit the answers of a draft.

One metric in a chooser. Made here and not by a template: a page has all of them, and including a template for each
took half of its time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import stored_text, translated_message
from leaderboard.common.markdown import render_markdown_line
from leaderboard.sandbox import outside_metrics

from ..models import TruthDraft

SHOWN_AT_ONCE = 6


@dataclass(frozen=True)
class MetricChoice:
    """A metric in the chooser, and why it fits or does not."""

    metric: metrics.Metric
    reason: str


@dataclass(frozen=True)
class FittingMetrics:
    """What is offered for a draft: the usual metrics for such answers (also where a few cells must be corrected first),
    others that can read them, and the rest."""

    best: list[MetricChoice] = field(default_factory=list)
    others: list[MetricChoice] = field(default_factory=list)
    unfit: list[MetricChoice] = field(default_factory=list)
    chosen: str = ""

    @property
    def opens_others(self) -> bool:
        """Whether the list of other metrics is open: there are no usual ones, or the chosen one is among the others."""
        return not self.best or self._has_chosen(self.others)

    @property
    def opens_unfit(self) -> bool:
        return not (self.best or self.others) or self._has_chosen(self.unfit)

    def _has_chosen(self, choices: list[MetricChoice]) -> bool:
        return any(choice.metric.key == self.chosen for choice in choices)


def fits_of(draft: TruthDraft | None, chosen: str) -> FittingMetrics | None:
    """None where nobody has looked, or where the file is no table."""
    found = draft.report.get("fits") if draft else None
    if not found:
        return None
    fits = FittingMetrics(chosen=chosen)
    known = {metric.key: metric for metric in outside_metrics.selectable_metrics()}
    for fit in found:
        if fit["key"] not in known:
            continue
        choice = MetricChoice(known.pop(fit["key"]), stored_text(fit, "reason"))
        is_best = fit["is_usual"] and len(fits.best) < SHOWN_AT_ONCE
        is_possible = fit["fits"] or fit.get("is_nearly")
        (fits.unfit if not is_possible else fits.best if is_best else fits.others).append(choice)
    fits.unfit.extend(
        MetricChoice(metric, _("This metric is new since the file was checked.")) for metric in known.values()
    )
    return fits


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
