"""A rehearsal of a draft with made-up teams."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ... import child, hosting
from ...storage import Unreachable
from ..access import Audience, Visit, open_to
from ..answers import person, see_other
from ._answers import add_refusal, posted


class RehearsalForm(forms.Form):
    teams = forms.IntegerField(
        label=gettext_lazy("Teams"),
        min_value=2,
        max_value=100,
        initial=30,
        help_text=gettext_lazy("As many as you expect, for a board as it will look."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        min_value=0,
        max_value=2**31,
        initial=1,
        help_text=gettext_lazy("The same number makes the same files again."),
    )


@open_to(Audience.HOSTS)
def host_rehearsal(request: HttpRequest, visit: Visit) -> HttpResponse:
    competition, action = visit.competition, request.POST.get("action")
    form = RehearsalForm(posted(request) if action == "rehearse" else None)
    status = 422 if request.method == "POST" else 200
    try:
        if action == "wipe":
            _wipe(request, visit)
            return see_other("host_rehearsal", slug=competition.slug)
        if action == "rehearse" and form.is_valid():
            number = hosting.rehearse(competition=competition, user=person(visit.user), **form.cleaned_data)
            messages.success(request, _("%(number)s files are on their way.") % {"number": number})
            return see_other("host_rehearsal", slug=competition.slug)
    except hosting.CannotHost as error:
        status = add_refusal(form, error)
    except (child.ChildFailed, Unreachable):
        form.add_error(None, _("The files could not be made now. Try again, or with fewer teams."))
        status = 503
    files = competition.submissions.filter(team__is_rehearsal=True).order_by()
    numbers = dict(files.values_list("status").annotate(number=Count("pk"))) if competition.rehearsed_at else {}
    context = {"visit": visit, "form": form, "numbers": numbers, "files": sum(numbers.values())}
    return render(request, "hosts/host_rehearsal.html", context, status=status)


def _wipe(request: HttpRequest, visit: Visit) -> None:
    try:
        hosting.wipe_rehearsal(competition=visit.competition, user=person(visit.user))
    except hosting.CannotHost as error:  # somebody else did already
        messages.info(request, error.message)
    else:
        messages.success(request, _("The rehearsal is wiped; nothing of it is left."))
