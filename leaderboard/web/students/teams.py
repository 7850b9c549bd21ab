"""One team."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from ... import joining
from ...models import Membership
from ..access import Audience, Visit, open_to
from ..answers import see_other
from .forms import TeamNameForm


@open_to(Audience.MEMBERS)
def team(request: HttpRequest, visit: Visit) -> HttpResponse:
    membership = visit.membership
    if membership is None:
        messages.info(request, "You host this competition and are in no team of it.")
        return redirect("overview", slug=visit.competition.slug)
    form = TeamNameForm(initial={"name": membership.team.name})
    if request.method == "POST":
        form = TeamNameForm(request.POST if request.POST.get("action") == "rename" else None)
        try:
            if words := _change(request.POST.get("action", ""), membership, form):
                messages.success(request, words)
                return see_other("team", slug=visit.competition.slug)
        except joining.CannotJoin as error:
            if form.is_bound:
                form.add_error("name", str(error))
            else:
                messages.error(request, str(error))
                return see_other("team", slug=visit.competition.slug)
    members = list(membership.team.memberships.select_related("user"))
    link = reverse("invitation", args=[membership.team.invitation])
    context = {
        "visit": visit,
        "team": membership.team,
        "members": members,
        "invitation_link": request.build_absolute_uri(link),
        "form": form,
        "is_locked": visit.at >= visit.competition.closes_at,
        "is_full": len(members) >= visit.competition.team_size,
    }
    return render(request, "students/team.html", context, status=422 if form.errors else 200)


def _change(action: str, membership: Membership, form: TeamNameForm) -> str:
    """Do what the form's button says; the words for it, empty when the name is not acceptable."""
    if action == "rename" and form.is_valid():
        joining.rename(membership=membership, name=form.cleaned_data["name"])
        return "Your team has its new name."
    if action == "renew":
        joining.renew_invitation(membership=membership)
        return "The old invitation link stopped working; this is the new one."
    if action == "leave":
        joining.leave(membership=membership)
        return "You left the team and are now a team of your own."
    return ""
