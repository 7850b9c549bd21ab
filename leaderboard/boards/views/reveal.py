"""The host's page that opens the private board."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import SlugForm
from leaderboard.competitions.host_responses import add_refusal, posted_data
from leaderboard.competitions.services import CannotHost

from .. import reveal, services


@open_to(Audience.HOSTS)
def host_reveal(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    form = SlugForm(page_context.competition.slug, posted_data(request))
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        try:
            services.reveal_competition(competition=page_context.competition, user=signed_in_user(page_context.user))
        except CannotHost as error:
            status = add_refusal(form, error)
        else:
            messages.success(request, _("The final ranking is open."))
            return see_other("leaderboard", slug=page_context.competition.slug)
    has_choice = page_context.state == "closed" and page_context.last_deadline <= page_context.at
    review = reveal.review_before_reveal(page_context.competition) if has_choice else None
    context = {"page_context": page_context, "form": form, "review": review}
    return render(request, "boards/host_reveal.html", context, status=status)
