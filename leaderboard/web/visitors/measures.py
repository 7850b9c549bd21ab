"""The gallery of metrics and each metric's page: made from the metric's own file, so it says what scores."""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from itertools import groupby
from shlex import quote
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify

import metrics as library

from ... import child
from ..access import Audience, open_to
from ..answers import count_try, tries
from ._examples import Draft, Worked
from ._search import matching

DIRECTIONS = {"maximize": "Higher is better", "minimize": "Lower is better"}
WINDOW = 60
# A whole class may sit behind one address.
CHANGES_PER_ADDRESS = 120
TOO_OFTEN = "Many examples were computed for your address within a minute. Wait a little and press Compute again."
NOT_NOW = "The example cannot be computed at this moment. Everything else on this page holds."

log = logging.getLogger(__name__)


@open_to(Audience.ANYONE)
def metrics(request: HttpRequest) -> HttpResponse:
    text, direction = request.GET.get("q", "").strip()[:100], request.GET.get("direction", "")
    found = [m for m in matching(library.catalogue(), text) if direction not in DIRECTIONS or m.direction == direction]
    groups = [(name, slugify(name), list(members)) for name, members in groupby(found, key=lambda m: m.group)]
    context = {
        "groups": groups,
        "q": text,
        "direction": direction if direction in DIRECTIONS else "",
        "directions": [("", "All"), *DIRECTIONS.items()],
        "number": len(found),
    }
    response = render(request, "visitors/metrics.html", context)
    return announced(response, f"{len(found)} found.") if "HX-Request" in request.headers else response


@open_to(Audience.ANYONE)
def metric(request: HttpRequest, key: str) -> HttpResponse:
    try:
        shown = library.get(key)
    except library.UnknownMetric:
        raise Http404("There is no metric of this name.") from None
    draft = Draft(shown, request.GET)
    if what := request.GET.get("do", ""):
        return redirect(f"{request.path}?{draft.change(what)}#change")
    outcome = _outcome(request, draft)
    context = {
        "metric": shown,
        "draft": draft,
        "settings": [(parameter, draft.params[parameter.name]) for parameter in shown.parameters]
        if draft.params
        else [],
        **outcome,
        "command": _command(shown, draft.params or draft.own_params),
        "source": _source(key),
    }
    response = render(
        request, "visitors/metric.html", context, status=429 if outcome.get("refusal") == TOO_OFTEN else 200
    )
    return announced(response, _spoken(outcome)) if "HX-Request" in request.headers else response


def announced(response: HttpResponse, words: str) -> HttpResponse:
    """Have the page's live region say something after a part of it was exchanged."""
    response["HX-Trigger"] = json.dumps({"announce": words})
    return response


def _outcome(request: HttpRequest, draft: Draft) -> dict[str, Any]:
    """What came of the example: `worked`, or the `problems` and whose they are, or a `refusal` in a sentence."""
    if draft.params is None:
        return {"refusal": "A parameter is at fault; see below."}
    if sentence := draft.too_much:
        return {"refusal": sentence}
    if draft.is_changed and not draft.is_known:
        if tries("explain", request.META.get("REMOTE_ADDR")) >= CHANGES_PER_ADDRESS:
            return {"refusal": TOO_OFTEN}
        count_try("explain", request.META.get("REMOTE_ADDR"), seconds=WINDOW)
    try:
        answer = draft.answer()
    except child.ChildFailed as error:
        log.warning("no worked example of %s: %s", draft.metric.key, error)
        return {"refusal": NOT_NOW}
    if answer["faults_of"] in ("truth", "submission"):
        return {"problems": answer["problems"], "faults_of": answer["faults_of"]}
    if answer["faults_of"]:
        return {"refusal": " ".join(answer["problems"].values())}
    return {"worked": Worked(answer)}


def _spoken(outcome: dict[str, Any]) -> str:
    if worked := outcome.get("worked"):
        return f"The score is {worked.line[-1]}."
    return outcome.get("refusal") or f"The {outcome['faults_of']} cannot be read."


def _command(metric: library.Metric, params: dict[str, Any]) -> str:
    """The home scorer for a student's files, with the parameters that are not at their defaults."""
    given = [
        f"-p {quote(f'{p.name}={value}')}"
        for p in metric.parameters
        if (value := params.get(p.name, p.default)) is not None
        and (value != p.default or p.name in metric.example.params)
    ]
    return " ".join(["python -m metrics score", metric.key, "truth.csv submission.csv", *given])


@lru_cache(maxsize=256)
def _source(key: str) -> str:
    return library.get(key).source_path.read_text(encoding="utf-8")
