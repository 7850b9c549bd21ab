"""The metrics of the chooser, those first that fit the answers of a draft."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import stored_text
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
