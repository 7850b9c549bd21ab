"""The dashboard of a competition: what its hosts have to do, how it goes, and the way to each of its parts."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.common import absolute_addresses
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import planned_launches
from leaderboard.competitions.views.launch_checklist import checklist_of
from leaderboard.notifications import chat_sending

from .activity import activity_context


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
        "join_link": absolute_addresses.absolute_url(request, "join_code", competition.admission.join_code),
        "opening_command": absolute_addresses.opening_command(request),
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
