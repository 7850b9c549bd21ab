"""The overview of a competition, with its metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import cached_property

import metrics

from ..access import Audience, PageContext, open_to
from ..models import GroundTruth
from ..models.competition import Split
from ..ranking import boards, rows
from .examples import WorkedExample, best_value_text, example_params, home_command, worked_example_of


@open_to(Audience.VISITORS)
def overview(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    context = {
        "page_context": page_context,
        "measure": competition_metric(competition.ground_truth),
        "podium": podium(page_context) if page_context.state == "revealed" else (),
        "site": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "competitions/overview.html", context)


@dataclass
class CompetitionMetric:
    """A metric with the parameters of one competition."""

    metric: metrics.Metric
    params: dict[str, Any]
    secondary: tuple[CompetitionMetric, ...] = ()
    """The secondary metrics, without lost ones."""

    @property
    def command(self) -> str:
        """The command that scores a file at home like this competition."""
        return home_command(self.metric, self.params, also=[(one.metric, one.params) for one in self.secondary])

    @property
    def settings(self) -> list[tuple[metrics.Parameter, Any]]:
        """(parameter, value in this competition)."""
        return [(parameter, self.params[parameter.name]) for parameter in self.metric.parameters]

    @property
    def best(self) -> str:
        return best_value_text(self.metric, self.params)

    @cached_property
    def example(self) -> WorkedExample | None:
        """The metric's worked example, which does not use this competition's data."""
        return worked_example_of(self.metric)

    @property
    def has_other_params(self) -> bool:
        """Whether the example is scored with other parameters, apart from the names of its columns."""
        shown = example_params(self.metric)
        return any(value != shown[name] for name, value in self.params.items() if name not in self.metric.roles)


def competition_metric(ground_truth: GroundTruth | None) -> CompetitionMetric | None:
    """The metric of a competition; None without a ground truth, or if the metric is lost or does not accept the stored
    parameters any more."""
    if ground_truth is None or (found := _metric_with_params(ground_truth.metric_key, ground_truth.params)) is None:
        return None
    secondary = [_metric_with_params(key, params) for key, params in ground_truth.secondary_asked]
    return replace(found, secondary=tuple(one for one in secondary if one is not None))


def _metric_with_params(key: str, params: dict[str, Any]) -> CompetitionMetric | None:
    try:
        metric = metrics.get(key)
        known = {parameter.name for parameter in metric.parameters}
        given = {name: value for name, value in params.items() if name in known}
        return CompetitionMetric(metric, metrics.clean_params(key, given))
    except (metrics.UnknownMetric, metrics.ParameterError):
        return None


def podium(page_context: PageContext) -> tuple[rows.BoardRowData, ...]:
    """Rows of the first three ranks of the private board; hosts and assistants get the names behind pseudonyms.

    Callers check that the private board is open.
    """
    competition = page_context.competition
    names = competition.board.uses_pseudonyms and page_context.assists
    lines = boards.ranked_lines(competition, Split.PRIVATE, at_most=6, sees_names=names)
    return tuple(row for row in lines if row.rank is not None and row.rank <= 3)
