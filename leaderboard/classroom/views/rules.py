"""The rules of a competition, and their acceptance."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.competitions.access import Audience, PageContext, open_to

from .. import joining


@open_to(Audience.VISITORS)
def rules(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Read the rules; members accept them here, again after each change."""
    if request.method == "POST":
        if page_context.membership is None:
            return redirect("join")
        joining.accept_rules(membership=page_context.membership)
        messages.success(request, _("You accepted the rules."))
        return redirect("data", slug=page_context.competition.slug)
    return render(request, "classroom/rules.html", {"page_context": page_context})
