"""The host's page that opens the final ranking."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.services import CannotHost, change_competition

from .. import reveal, services
from ..services import LateTeams


@open_to(Audience.HOSTS)
def host_reveal(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The steps left before the final ranking, and a button for the one that is possible now."""
    competition, refusal = page_context.competition, ""
    if request.method == "POST":
        try:
            if done := _do_action(request.POST.get("action", ""), page_context):
                messages.success(request, done)
                return see_other("host_reveal", slug=competition.slug)
        except CannotHost as error:
            refusal = error.message
    is_ready = page_context.state == "closed"
    review = reveal.review_before_reveal(competition, page_context.at) if is_ready else None
    context = {"page_context": page_context, "review": review, "refusal": refusal}
    return render(request, "boards/host_reveal.html", context, status=409 if refusal else 200)


def _do_action(action: str, page_context: PageContext) -> str:
    """Do the posted action; returns the message, or "" if the action is unknown. Raises `CannotHost`."""
    competition, user = page_context.competition, page_context.account
    if action in list(LateTeams):
        services.reveal_competition(competition=competition, user=user, late_teams=LateTeams(action))
        return _("The final ranking is open.")
    if action == "end_extensions":
        services.end_extensions(competition=competition, user=user)
        return _("Time is over for all teams. They are in the final ranking within a minute.")
    if action == "when_scored":
        change_competition(competition=competition, user=user, reveals_itself=True)
        return _("The final ranking opens once the last submissions are scored.")
    return ""
