"""Which account is whom on the roster."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import ngettext

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.services import competitions
from leaderboard.competitions.views.host_responses import add_refusal, posted_data

from .. import identifying
from ..forms import LinkAccountsForm
from .roster import chosen_entries

PER_PAGE = 50
MOST_OFFERED = 500


@open_to(Audience.HOSTS)
def host_who(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET lists the accounts that are nobody on the roster, each with a guess; POST says who they are."""
    if request.POST.get("action") == "part":
        return _unlink_accounts(request, page_context)
    guests, waiting = identifying.unlinked_members(page_context.competition)
    page = Paginator(guests, PER_PAGE).get_page(request.GET.get("page"))
    # What was filled in counts, whatever the page would hold by now.
    shown = [one for one in guests if f"who-{one.membership.pk}" in request.POST] or list(page)
    form = LinkAccountsForm(shown, waiting, posted_data(request))
    status = 422 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        try:
            return _link_accounts(request, page_context, form.pairs)
        except competitions.CannotHost as error:
            status = add_refusal(form, error)
    offered = [identifying.entry_label(entry) for entry in waiting.entries[:MOST_OFFERED]]
    lines = [(guest, form[f"who-{guest.membership.pk}"]) for guest in shown]
    context = {"page_context": page_context, "form": form, "page": page, "lines": lines, "offered": offered}
    return render(request, "classroom/host_who.html", context, status=status)


def _link_accounts(request: HttpRequest, page_context: PageContext, pairs: dict[int, int]) -> HttpResponse:
    number = identifying.link_accounts(
        competition=page_context.competition, pairs=pairs, user=signed_in_user(page_context.user)
    )
    words = ngettext("{number} account is now on the roster.", "{number} accounts are now on the roster.", number)
    messages.success(request, words.format(number=number))
    return see_other("host_people", slug=page_context.competition.slug)


def _unlink_accounts(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    entries = chosen_entries(request)
    number = identifying.unlink_accounts(
        competition=page_context.competition, entries=entries, user=signed_in_user(page_context.user)
    )
    words = ngettext("{number} person has no account now.", "{number} people have no account now.", number)
    messages.success(request, words.format(number=number))
    return see_other("host_people", slug=page_context.competition.slug)
