"""One team."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common import responses
from leaderboard.common.responses import see_other
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms.student import MergeForm, TeamNameForm
from leaderboard.competitions.models import Membership, MergeOffer

from .. import joining_refusals, team_merges, teams


@open_to(Audience.MEMBERS)
def team(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    membership = page_context.membership
    if membership is None:
        messages.info(request, _("You host this competition and are in no team of it."))
        return redirect("overview", slug=page_context.competition.slug)
    action = request.POST.get("action", "")
    name = TeamNameForm(
        request.POST if action == "rename" else None,
        initial={"name": membership.team.name},
        competition=page_context.competition,
        is_on_board=not page_context.is_disqualified,
    )
    offer = MergeForm(request.POST if action == "offer" else None)
    if request.method == "POST":
        try:
            if words := _change_team(request, membership, name, offer):
                messages.success(request, words)
                return see_other("team", slug=page_context.competition.slug)
        except (joining_refusals.CannotJoin, team_merges.CannotMerge) as error:
            if (field := _field_of(action, name, offer)) is None:
                messages.error(request, str(error))
                return see_other("team", slug=page_context.competition.slug)
            field[0].add_error(field[1], str(error))
    context = _context(request, page_context, membership) | {"form": name, "offer_form": offer}
    return render(request, "classroom/team.html", context, status=422 if name.errors or offer.errors else 200)


def _field_of(action: str, name: TeamNameForm, offer: MergeForm) -> tuple[Form, str] | None:
    """The field that a refusal belongs to, if one was filled in."""
    return {"rename": (name, "name"), "offer": (offer, "invitation")}.get(action)


def _context(request: HttpRequest, page_context: PageContext, membership: Membership) -> dict[str, Any]:
    competition, own = page_context.competition, membership.team
    members = list(own.memberships.select_related("user"))
    between = MergeOffer.between(own).filter(team__disqualified_at=None, other__disqualified_at=None)
    offers = list(between.select_related("team__competition__board", "other__competition__board"))
    stays = competition.why_teams_are_closed(page_context.at)
    if page_context.is_disqualified:
        stays = stays or _("Your team is disqualified: nobody joins or leaves it, and it becomes part of no other.")
    context: dict[str, Any] = {
        "page_context": page_context,
        "team": own,
        "members": members,
        "invitation_link": responses.absolute_url(request, "invitation", own.invitation),
        "stays": stays,
        "names_stay": page_context.at >= competition.closes_at,
        "is_full": len(members) >= competition.limits.team_size,
        "is_captain": own.is_led_by(membership.user),
        "made": [one for one in offers if one.team_id == own.pk],
        "received": [one for one in offers if one.other_id == own.pk],
    }
    if not stays and competition.limits.team_size > 1:
        context["balance"] = team_merges.attempt_balance(competition, [own], page_context.at)
    return context


def _change_team(request: HttpRequest, membership: Membership, name: TeamNameForm, offer: MergeForm) -> str:
    """Do what the form's button says; the words for it, empty when there is no such button or a field is wrong."""
    posted, action = request.POST, request.POST.get("action", "")
    number = int(text) if (text := posted.get("number", "")).isdecimal() and text.isascii() and len(text) < 16 else 0
    if action == "rename" and name.is_valid():
        teams.rename_team(membership=membership, name=name.cleaned_data["name"])
        return _("Your team has its new name.")
    if action == "offer" and offer.is_valid():
        made = team_merges.offer_merge(membership=membership, invitation=offer.cleaned_data["invitation"])
        return _("Your offer is with “%(team)s”. Its captain decides.") % {"team": made.other}
    return _press_button(action, membership, number)


def _press_button(action: str, membership: Membership, number: int) -> str:
    """A button without a field; `number` is the member's or the offer's."""
    if action == "renew":
        teams.renew_invitation(membership=membership)
        return _("The old invitation link stopped working; this is the new one.")
    if action == "leave":
        teams.leave_team(membership=membership)
        return _("You left the team and are now a team of your own.")
    if action == "remove":
        gone = teams.remove_member(captain=membership, member_id=number)
        return _("%(name)s is not in your team any more.") % {"name": gone.user.get_username()}
    if action == "hand_over":
        teams.hand_over_captaincy(captain=membership, member_id=number)
        return _("Your team has its new captain.")
    if action == "accept":
        united = team_merges.accept_merge(membership=membership, offer_id=number)
        return _("You are part of “%(team)s” now. Look at your final picks.") % {"team": united}
    if action == "end_offer":
        team_merges.withdraw_merge(membership=membership, offer_id=number)
        return _("The offer is gone.")
    return ""
