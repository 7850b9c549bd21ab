"""The live part of the dashboard."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from hashlib import sha256
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.classroom.team_lines import teams_below_baselines
from leaderboard.common.charts import small_bars
from leaderboard.common.responses import see_other
from leaderboard.competitions.access import Audience, PageContext, open_to

from .. import activity


@open_to(Audience.HOSTS)
def host_activity(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The tiles as a fragment: 204 while nothing changed. Opened as a page of its own it leads to the dashboard."""
    if not getattr(request, "htmx", False):
        return see_other("host_competition", slug=page_context.competition.slug)
    found = activity_context(page_context)
    if request.GET.get("seen") == found["seen"]:
        return HttpResponse(status=204)
    return render(request, "insights/host_activity.html", {"page_context": page_context, **found})


def activity_context(page_context: PageContext) -> dict[str, Any]:
    """The activity with its chart; `seen` changes whenever a host would see a difference."""
    found = activity.class_activity(
        page_context.competition, page_context.at, teams_below_baselines(page_context.competition)
    )
    this = page_context.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    hours = [this - timedelta(hours=activity.HOURS - 1 - place) for place in range(activity.HOURS)]
    words = _("Files per hour in the last 24 hours: %(all)d in all, at most %(most)d in one hour.") % {
        "all": sum(found.hours),
        "most": max(found.hours),
    }
    # Ages grow all the time; so they are rounded to steps.
    steady = replace(found, oldest=(found.oldest or 0) // 10, seconds_since_worker=int(found.scorer_works))
    return {
        "activity": found,
        "chart": small_bars(found.hours, words),
        "hours": [(hour, number) for hour, number in zip(hours, found.hours, strict=True) if number],
        "seen": sha256(repr(steady).encode()).hexdigest()[:16],
    }
