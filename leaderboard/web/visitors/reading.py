"""What a competition is about, and its rules."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

import metrics

from ... import joining, ranking
from ...models import Competition, GroundTruth, Split
from ..access import Audience, Visit, open_to
from ..board_cache import shelf


@open_to(Audience.VISITORS)
def overview(request: HttpRequest, visit: Visit) -> HttpResponse:
    competition = visit.competition
    context = {
        "visit": visit,
        "parameters": parameters_of(competition.ground_truth),
        "podium": podium(competition) if visit.state == "revealed" else (),
        "site": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "visitors/overview.html", context)


@open_to(Audience.VISITORS)
def rules(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Read the rules; members accept them here, again after each change."""
    if request.method == "POST":
        if visit.membership is None:
            return redirect("join")
        joining.accept_rules(membership=visit.membership)
        messages.success(request, "You accepted the rules.")
        return redirect("data", slug=visit.competition.slug)
    return render(request, "visitors/rules.html", {"visit": visit})


def parameters_of(ruler: GroundTruth | None) -> list[tuple[metrics.Parameter, Any]]:
    """The metric's parameters with this competition's values."""
    if ruler is None:
        return []
    try:
        metric = metrics.get(ruler.metric)
    except metrics.UnknownMetric:
        return []
    return [(parameter, ruler.params.get(parameter.name, parameter.default)) for parameter in metric.parameters]


def podium(competition: Competition) -> tuple[ranking.Row, ...]:
    """The first three ranks of the private board; callers ask whether it is open."""

    def best() -> tuple[ranking.Row, ...]:
        lines = ranking.lines(competition, Split.PRIVATE)
        return tuple(row for row, _ in zip(lines, range(6), strict=False) if row.rank is not None and row.rank <= 3)

    return shelf.get(("podium", competition.pk, competition.board_version), best)
