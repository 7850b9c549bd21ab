"""The list of metrics and the page of each, made from the metric's file, so that it matches the scoring."""

from __future__ import annotations

import re
from importlib.metadata import version
from itertools import groupby
from shlex import quote
from textwrap import dedent

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_htmx.http import trigger_client_event

import metrics as library
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.library_messages import translated_message
from leaderboard.common.made_files import find_wheel
from leaderboard.competitions.metric_display import (
    best_value_text,
    end_of_scale,
    example_params,
    home_command,
    worked_example_of,
)
from leaderboard.competitions.metric_search import matching_metrics

DIRECTIONS = {"maximize": gettext_lazy("Higher is better"), "minimize": gettext_lazy("Lower is better")}
# Order of the groups, the most common tasks first; those of custom metrics come last.
GROUPS = (
    *("Labels", "Numbers", "Probabilities", "Rankings", "Text", "Masks and boxes", "Survival", "Clusterings"),
    "Composite",
)
DOCTEST = re.compile(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", re.MULTILINE)


@open_page_to(SiteAudience.ANYONE)
def metrics(request: HttpRequest) -> HttpResponse:
    text, direction = request.GET.get("q", "").strip()[:100], request.GET.get("direction", "")
    direction = direction if direction in DIRECTIONS else ""
    found = [m for m in matching_metrics(library.catalogue(), text) if direction in ("", m.direction)]
    # The catalogue begins with the usual metrics of all groups; so does each group.
    found.sort(key=lambda m: m.group)
    groups = [(name, slugify(name), list(members)) for name, members in groupby(found, key=lambda m: m.group)]
    groups.sort(key=lambda group: GROUPS.index(group[0]) if group[0] in GROUPS else len(GROUPS))
    context = {
        "groups": groups,
        "q": text,
        "direction": direction,
        "directions": [("", _("All")), *DIRECTIONS.items()],
        "number": len(found),
    }
    response = render(request, "site/metrics.html", context)
    words = _("%(number)s found.") % {"number": len(found)}
    # An event of htmx, by which screen readers announce the text.
    return trigger_client_event(response, "announce", {"value": words}) if getattr(request, "htmx", False) else response


@open_page_to(SiteAudience.ANYONE)
def metric(request: HttpRequest, key: str) -> HttpResponse:
    try:
        shown = library.get(key)
    except library.UnknownMetric:
        raise Http404(_("There is no metric with this name.")) from None
    try:
        source = shown.source_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # the file of a custom metric may be lost
        source = ""
    params = example_params(shown)
    context = {
        "metric": shown,
        # Doctests in the descriptions of custom metrics are rendered as code.
        "description": DOCTEST.sub(
            lambda found: f"```\n{dedent(found[0])}\n```", translated_message(shown.description)
        ),
        "settings": [(parameter, params.get(parameter.name)) for parameter in shown.parameters],
        "worked": worked_example_of(shown),
        "install": _install_command(request),
        "command": home_command(shown, params, always=shown.example.params),
        "has_example": bool(shown.example.truth),
        "is_custom": shown.is_custom,
        "libraries": [(name, version(name)) for name in ("numpy", "pandas")] if shown.is_custom else [],
        "best": best_value_text(shown, params),
        "worst": end_of_scale(shown.worst_with(params)),
        "source": source,
    }
    return render(request, "site/metric.html", context)


def _install_command(request: HttpRequest) -> str:
    """The `pip install` command for the home scorer; "" until its wheel is built. Pip needs the wheel's file name."""
    wheel = find_wheel()
    if wheel is None:
        return ""
    return f"pip install {quote(request.build_absolute_uri(reverse('home_scorer_file', args=[wheel.name])))}"
