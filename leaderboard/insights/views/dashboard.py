"""The dashboard of a competition: what its hosts have to do, how it goes, and the way to each of its parts.

The live part of the dashboard.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from hashlib import sha256
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.classroom.team_lines import teams_below_baselines
from leaderboard.common import responses
from leaderboard.common.charts import small_bars
from leaderboard.common.responses import see_other
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import planned_launches
from leaderboard.competitions.views.wizard import checklist_of
from leaderboard.notifications import chat_sending

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


@open_to(Audience.ASSISTANTS)
def host_competition(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    parts = _part_counts(competition)
    context = {
        "page_context": page_context,
        "checklist": checklist_of(competition) if page_context.state == "draft" else [],
        "trouble": planned_launches.missing_needs_text(competition.launch_plan.trouble),
        "parts": parts,
        "chat_trouble": _chat_trouble(parts) if page_context.is_host else {},
        "join_link": responses.absolute_url(request, "join_code", competition.admission.join_code),
        "opening_command": responses.opening_command(request),
        # In a draft all of its numbers are zero.
        **({} if page_context.state == "draft" else activity_context(page_context)),
    }
    return render(request, "insights/host_competition.html", context)


def _part_counts(competition: Competition) -> dict[str, Any]:
    """How much there is of what has a page of its own."""
    found = Competition.objects.filter(pk=competition.pk).annotate(
        files=Count("data_files", distinct=True),
        references=Count("baselines", distinct=True),
        drafts=Count("truth_draft"),
    )
    chat = ("webhook__service", "webhook__is_on", "webhook__last_problem")
    return dict(found.values("files", "references", "drafts", *chat).get())


def _chat_trouble(parts: dict[str, Any]) -> dict[str, str]:
    """The service that did not take the last message, and why; nothing where none is to be sent."""
    if not parts["webhook__is_on"] or not parts["webhook__last_problem"]:
        return {}
    return {"service": parts["webhook__service"], "why": chat_sending.explain_outcome(parts["webhook__last_problem"])}
