"""Where else the board is shown, and how long teams can change."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ... import hosting
from ...models import Competition
from ...models.sites import check_sites
from ..access import Audience, Visit, open_to
from ..answers import person, see_other
from ._answers import posted
from .forms import MomentField, moment_in, wall_text


class BoardForm(forms.Form):
    """Times are meant in the competition's zone."""

    embed_sites = forms.CharField(
        label=gettext_lazy("Sites that may show the board within their pages"),
        required=False,
        max_length=500,
        validators=[check_sites],
        help_text=gettext_lazy(
            "Addresses with spaces between, such as <code>https://moodle.example.edu</code>; <code>*</code> for every "
            "site; empty for none. Whoever opens such a page sees the board without signing in, also if the "
            "competition is not listed."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    teams_close_at = MomentField(label=gettext_lazy("Teams stay as they are from"), required=False)

    def __init__(self, competition: Competition, data: QueryDict | None = None) -> None:
        at = competition.teams_close_at
        given: dict[str, Any] = {
            "embed_sites": competition.embed_sites,
            "teams_close_at": wall_text(at, competition.zone) if at else "",
        }
        super().__init__(data, initial=given)
        self.competition = competition
        self.fields["teams_close_at"].help_text = _(
            "In the zone %(zone)s. From then on nobody joins, leaves or merges teams; newcomers still enter alone. "
            "Empty: at the deadline."
        ) % {"zone": competition.zone}

    def clean_embed_sites(self) -> str:
        return " ".join(self.cleaned_data["embed_sites"].lower().split())

    def clean_teams_close_at(self) -> Any:
        wall = self.cleaned_data["teams_close_at"]
        if wall is None:
            return None
        if "teams_close_at" not in self.changed_data:
            return self.competition.teams_close_at
        moment = moment_in(wall, self.competition.zone)
        if moment > self.competition.closes_at:
            raise ValidationError(_("Teams stay as they are from the deadline on; choose an earlier time, or none."))
        return moment


@open_to(Audience.HOSTS)
def host_board(request: HttpRequest, visit: Visit) -> HttpResponse:
    competition = visit.competition
    form = BoardForm(competition, posted(request))
    if request.method == "POST" and form.is_valid():
        hosting.change(competition=competition, user=person(visit.user), **form.cleaned_data)
        messages.success(request, _("Saved."))
        return see_other("host_board", slug=competition.slug)
    address = request.build_absolute_uri(reverse("embed", args=[competition.slug]))
    context = {"visit": visit, "form": form, "address": address}
    return render(request, "hosts/host_board.html", context, status=422 if form.errors else 200)
