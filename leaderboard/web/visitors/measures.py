"""The gallery of metrics and each metric's page: made from the metric's own file, so it says what scores."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from itertools import groupby
from shlex import quote

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

import metrics as library

from ..access import Audience, open_to


@open_to(Audience.ANYONE)
def metrics(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "").strip()[:100]
    words = text.lower().split()
    found = [m for m in library.catalogue() if all(word in _haystack(m) for word in words)]
    groups = [(group, list(members)) for group, members in groupby(found, key=lambda m: m.group)]
    return render(request, "visitors/metrics.html", {"groups": groups, "q": text, "number": len(found)})


@open_to(Audience.ANYONE)
def metric(request: HttpRequest, key: str) -> HttpResponse:
    try:
        shown = library.get(key)
    except library.UnknownMetric:
        raise Http404("There is no metric of this name.") from None
    example = shown.example
    context = {
        "metric": shown,
        "truth": _table(example.truth),
        "submission": _table(example.submission),
        "params": [(p, example.params.get(p.name, p.default)) for p in shown.parameters],
        "command": _command(shown),
        "source": _source(key),
    }
    return render(request, "visitors/metric.html", context)


def _haystack(metric: library.Metric) -> str:
    return f"{metric.key} {metric.title} {metric.group} {metric.summary} {metric.columns}".lower()


def _table(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text)) if row]


def _command(metric: library.Metric) -> str:
    """The home scorer for a student's files with the parameters of the example."""
    given = [f"-p {quote(f'{name}={value}')}" for name, value in metric.example.params.items()]
    return " ".join(["python -m metrics score", metric.key, "truth.csv submission.csv", *given])


@lru_cache(maxsize=64)
def _source(key: str) -> str:
    return library.get(key).source_path.read_text(encoding="utf-8")
