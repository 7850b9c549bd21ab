"""How long teams can change."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import see_other, signed_in_user

from ..access import Audience, PageContext, open_to
from ..forms.host import MomentField, moment_in, wall_text
from ..models import Competition
from ..services import competitions
from .host_responses import posted_data


class BoardForm(forms.Form):
    """Times are meant in the competition's zone."""

    teams_close_at = MomentField(label=gettext_lazy("Teams stay as they are from"), required=False)

    def __init__(self, competition: Competition, data: QueryDict | None = None) -> None:
        at = competition.limits.teams_close_at
        super().__init__(data, initial={"teams_close_at": wall_text(at, competition.zone) if at else ""})
        self.competition = competition
        self.fields["teams_close_at"].help_text = _(
            "In the zone %(zone)s. From then on nobody joins, leaves or merges teams; newcomers still enter alone. "
            "Empty: at the deadline."
        ) % {"zone": competition.zone}

    def clean_teams_close_at(self) -> Any:
        wall = self.cleaned_data["teams_close_at"]
        if wall is None:
            return None
        if "teams_close_at" not in self.changed_data:
            return self.competition.limits.teams_close_at
        moment = moment_in(wall, self.competition.zone)
        if moment > self.competition.closes_at:
            raise ValidationError(_("Teams stay as they are from the deadline on; choose an earlier time, or none."))
        return moment


@open_to(Audience.HOSTS)
def host_board(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    form = BoardForm(competition, posted_data(request))
    if request.method == "POST" and form.is_valid():
        competitions.change_competition(
            competition=competition, user=signed_in_user(page_context.user), **form.cleaned_data
        )
        messages.success(request, _("Saved."))
        return see_other("host_board", slug=competition.slug)
    return render(
        request,
        "competitions/host_board.html",
        {"page_context": page_context, "form": form},
        status=422 if form.errors else 200,
    )
