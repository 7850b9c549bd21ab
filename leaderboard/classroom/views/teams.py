"""Pages of teams: for hosts the list and each team; for members their team."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from leaderboard.common import responses
from leaderboard.common.responses import posted_number, see_other
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import ReasonForm, wall_text
from leaderboard.competitions.host_responses import is_confirmed
from leaderboard.competitions.models import Competition, Extension, Membership, Submission, Team

from .. import extensions, queries, teams
from ..forms import ExtensionForm, TeamNameForm
from ..queries import people_called

PER_PAGE = 50
ORDERS: dict[str, Any] = {
    "name": F("name"),
    "files": Count("submissions"),
    "scored": Count("submissions", filter=Q(submissions__status=Submission.Status.SCORED)),
    "invalid": Count("submissions", filter=Q(submissions__status=Submission.Status.INVALID)),
    "last": Max("submissions__received_at"),
}
"""Sort key of each column; the column of the best public score is sorted in Python."""


@open_to(Audience.ASSISTANTS)
def host_teams(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """All teams, or with `?show=` those without a valid file, with an extension, or disqualified."""
    show, text = request.GET.get("show", ""), request.GET.get("q", "").strip()[:60]
    competition = page_context.competition
    chosen = _filter_teams(competition, show)
    if text:
        named = Q(name__icontains=text)
        if page_context.competition.board.uses_pseudonyms:
            # Students who ask a host about another team know only its pseudonym.
            named |= Q(pseudonym__icontains=text)
        chosen = chosen.filter(
            Exists(
                Membership.objects.filter(team=OuterRef("pk"), user__in=people_called(page_context.competition, text))
            )
        ) | chosen.filter(named)
    page = Paginator(_sort_teams(request, competition, chosen), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page_context": page_context,
        "page": page,
        "lines": queries.team_lines(list(page), competition),
        "show": show,
        "q": text,
        "sort": "name",
    }
    return render(request, "classroom/host_teams.html", context)


@open_to(Audience.ASSISTANTS)
def host_team(request: HttpRequest, page_context: PageContext, team_id: int) -> HttpResponse:
    """Grant and end extensions of a team, disqualify and readmit it.

    The forms are on the page of each student; this page shows them with errors, or for a team without members.
    """
    team = get_object_or_404(page_context.competition.teams, pk=team_id)
    action = request.POST.get("action", "")
    posted = request.POST if action == "grant" else None
    extension_form = ExtensionForm(page_context.competition, posted, auto_id="more_%s")
    reason_form = ReasonForm(request.POST if action == "disqualify" else None, auto_id="out_%s")
    if question := _question(request, page_context, team, extension_form):
        return question
    is_done, refusal = request.method != "POST", ""
    try:
        if not is_done and (done := _do_action(page_context, team, request, extension_form, reason_form)):
            messages.success(request, done)
            is_done = True
    except ValidationError as error:
        extension_form.add_error(None, error)
    except competitions.CannotHost as error:
        refusal = error.message
    member = team.memberships.first()
    if is_done and member is not None:
        return see_other("host_student", slug=page_context.competition.slug, user_id=member.user_id)
    context = {
        "page_context": page_context,
        "team": team,
        "has_members": member is not None,
        "running": [],
        **team_controls(page_context, team),
        "extension_form": extension_form,
        "reason_form": reason_form,
        "refusal": refusal,
    }
    return render(request, "classroom/host_team.html", context, status=200 if is_done else 422)


def team_controls(page_context: PageContext, team: Team, *, has_extensions: bool = True) -> dict[str, Any]:
    """Context of `team_controls.html`: a team's extensions, and the forms to grant one and to disqualify it."""
    is_revealed = page_context.competition.revealed_at is not None
    return {
        "can_extend": (not is_revealed or team.is_awaited) and team.disqualified_at is None,
        "extensions": list(team.extensions.select_related("by")) if has_extensions else [],
        "extension_form": ExtensionForm(page_context.competition, auto_id="more_%s"),
        "reason_form": ReasonForm(auto_id="out_%s"),
    }


def _sort_teams(
    request: HttpRequest, competition: Competition, chosen: QuerySet[Team]
) -> QuerySet[Any, Any] | list[Team]:
    name, is_backwards = responses.sort_choice(request, (*ORDERS, "best"), "name")
    if name != "best":
        order = responses.in_order("sorted_by", is_backwards=is_backwards)
        return chosen.annotate(sorted_by=ORDERS[name]).order_by(order, "name", "pk")
    by_name, best = chosen.order_by("name", "pk"), queries.best_public_scores(competition)
    ranked = sorted((team for team in by_name if team.pk in best), key=lambda team: best[team.pk], reverse=is_backwards)
    return [*ranked, *(team for team in by_name if team.pk not in best)]


def _filter_teams(competition: Competition, show: str) -> QuerySet[Team]:
    if show == "nothing":
        return queries.teams_without_valid_file(competition)
    if show == "granted":
        return competition.teams.filter(Exists(Extension.objects.active().filter(team=OuterRef("pk"))))
    if show == "disqualified":
        return competition.teams.filter(disqualified_at__isnull=False)
    return competition.teams.all()


def _do_action(
    page_context: PageContext, team: Team, request: HttpRequest, extension_form: ExtensionForm, reason_form: ReasonForm
) -> str:
    """Do the posted action; returns the message, or "" if a form has errors.

    Raises `CannotHost` or `ValidationError`.
    """
    user, action = page_context.account, request.POST.get("action", "")
    if action in ("disqualify", "readmit") and not page_context.is_host:
        raise competitions.CannotHost(_("Only hosts can disqualify teams. Ask one of them."))
    if action == "grant" and extension_form.is_valid():
        delays_ranking = everyone_waits(request)
        extensions.grant_extension(team=team, user=user, delays_ranking=delays_ranking, **extension_form.cleaned_data)
        return _("Extension granted to “%(team)s”.") % {"team": team}
    if action == "end":
        extension = get_object_or_404(team.extensions, pk=posted_number(request.POST.get("grant", "")))
        competitions.end_extension(extension=extension, user=user)
        return _("Extension ended.")
    if action == "disqualify" and reason_form.is_valid():
        extensions.disqualify_team(team=team, user=user, reason=reason_form.cleaned_data["reason"])
        return _("“%(team)s” is disqualified and off the leaderboards.") % {"team": team}
    if action == "readmit":
        extensions.readmit_team(team=team, user=user)
        return _("“%(team)s” is no longer disqualified.") % {"team": team}
    return ""


def _question(request: HttpRequest, page_context: PageContext, team: Team, form: ExtensionForm) -> HttpResponse | None:
    """The page that asks whether the others wait for an extension, or whether to end one that still gives time; None if
    nothing is to be asked."""
    action = request.POST.get("action", "")
    if action == "grant" and form.is_valid() and (closes_at := form.cleaned_data["closes_at"]):
        facts = {name: form.cleaned_data[name] for name in ("extra_attempts", "reason")}
        return ask_who_waits(request, page_context, team, {"action": "grant", **facts}, closes_at)
    if action != "end" or is_confirmed(request):
        return None
    running = Extension.objects.active().filter(team=team, closes_at__gt=page_context.at)
    extension = running.filter(pk=posted_number(request.POST.get("grant", ""))).first()
    if extension is None:
        return None
    extension.team = team
    opens = extensions.opens_final_ranking(extension, page_context.at)
    context = {"page_context": page_context, "team": team, "extension": extension, "opens": opens}
    return render(request, "classroom/ask_end_extension.html", context)


def ask_who_waits(
    request: HttpRequest, page_context: PageContext, team: Team, fields: dict[str, object], closes_at: datetime
) -> HttpResponse | None:
    """The page that asks whether everyone waits for the final ranking until a later deadline; None if it is answered,
    or if the deadline is invalid or changes nothing for the others. `fields` of the form are sent again."""
    competition = page_context.competition
    dates = extensions.opening_dates(competition, closes_at)
    if dates is None or "waits" in request.POST or team.disqualified_at is not None:
        return None
    context = {
        "page_context": page_context,
        "team": team,
        "closes_at": closes_at,
        "fields": {**fields, "closes_at": wall_text(closes_at, competition.zone)},
        "opens_for_others": dates[0],
        "is_open_for_others": dates[0] <= page_context.at,
    }
    return render(request, "classroom/ask_who_waits.html", context)


def everyone_waits(request: HttpRequest) -> bool:
    """The answer to `ask_who_waits`."""
    return request.POST.get("waits") == "everyone"


# --- for the members of a team ------------------------------------------------------------------------------------


@open_to(Audience.MEMBERS)
def team(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    membership = page_context.membership
    if membership is None:
        messages.info(request, _("You host this competition, so you have no team in it."))
        return redirect("overview", slug=page_context.competition.slug)
    action = request.POST.get("action", "")
    name = TeamNameForm(
        request.POST if action == "rename" else None,
        initial={"name": membership.team.name},
        competition=page_context.competition,
        is_on_board=not page_context.is_disqualified,
    )
    if request.method == "POST":
        try:
            if done := _change_team(request, membership, name):
                messages.success(request, done)
                return see_other("team", slug=page_context.competition.slug)
        except teams.CannotJoin as error:
            if action == "rename":
                name.add_error("name", str(error))
            else:
                messages.error(request, str(error))
                return see_other("team", slug=page_context.competition.slug)
    context = _team_facts(request, page_context, membership) | {"form": name}
    return render(request, "classroom/team.html", context, status=422 if name.errors else 200)


def _team_facts(request: HttpRequest, page_context: PageContext, membership: Membership) -> dict[str, Any]:
    competition, team = page_context.competition, membership.team
    members = list(team.memberships.select_related("user"))
    closed_reason = competition.why_teams_are_closed(page_context.at)
    if page_context.is_disqualified:
        closed_reason = closed_reason or _("Your team is disqualified. Members can't join or leave.")
    return {
        "page_context": page_context,
        "team": team,
        "members": members,
        "invitation_link": responses.absolute_url(request, "invitation", team.invitation),
        "closed_reason": closed_reason,
        "name_is_fixed": page_context.at >= competition.closes_at,
        "is_full": len(members) >= competition.limits.team_size,
    }


def _change_team(request: HttpRequest, membership: Membership, name: TeamNameForm) -> str:
    """Do the posted action; returns the message, or "" if the action is unknown or the form has errors.

    Raises `CannotJoin`.
    """
    action = request.POST.get("action", "")
    if action == "rename" and name.is_valid():
        teams.rename_team(membership=membership, name=name.cleaned_data["name"])
        return _("Team renamed.")
    if action == "renew":
        teams.renew_invitation(membership=membership)
        return _("This is your new invitation link. The old one no longer works.")
    if action == "leave":
        teams.leave_team(membership=membership)
        return _("You left the team and have a new one.")
    return ""
