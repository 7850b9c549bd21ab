"""The rules of a competition, and their acceptance."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.competitions.access import Audience, Visit, open_to

from .. import joining


@open_to(Audience.VISITORS)
def rules(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Read the rules; members accept them here, again after each change."""
    if request.method == "POST":
        if visit.membership is None:
            return redirect("join")
        joining.accept_rules(membership=visit.membership)
        messages.success(request, _("You accepted the rules."))
        return redirect("data", slug=visit.competition.slug)
    return render(request, "visitors/rules.html", {"visit": visit})
