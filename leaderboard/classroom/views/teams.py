"""Team by team: who needs help, who got more attempts or time, who is out."""

from __future__ import annotations

from datetime import UTC

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms.host import ReasonForm
from leaderboard.competitions.models import Extension, Membership, Team
from leaderboard.competitions.services import competitions, submitting

from .. import extensions, team_lines
from ..models.roster import people_called
from ..team_forms import ExtensionForm

PER_PAGE = 50


@open_to(Audience.ASSISTANTS)
def host_teams(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """All teams, or those that a tile of the dashboard counts."""
    show, text = request.GET.get("show", ""), request.GET.get("q", "").strip()[:60]
    below = team_lines.teams_below_baselines(page_context.competition)
    found = _filter_teams(page_context, show, below)
    if text:
        found = found.filter(
            Exists(
                Membership.objects.filter(team=OuterRef("pk"), user__in=people_called(page_context.competition, text))
            )
        ) | found.filter(_teams_by_name(page_context, text))
    page = Paginator(found.order_by("name", "pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page_context": page_context,
        "page": page,
        "lines": team_lines.team_lines(list(page), page_context.competition, page_context.at.astimezone(UTC).date()),
        "below": below,
        "show": show,
        "q": text,
    }
    return render(request, "classroom/host_teams.html", context)


def _teams_by_name(page_context: PageContext, text: str) -> Q:
    """Teams by their name, and by the one that others see: that is what a student who writes about one knows."""
    named = Q(name__icontains=text)
    return named | Q(pseudonym__icontains=text) if page_context.competition.board.uses_pseudonyms else named


@open_to(Audience.ASSISTANTS)
def host_team(request: HttpRequest, page_context: PageContext, team_id: int) -> HttpResponse:
    """One team: what it handed in, what it was granted, and the forms for more or less."""
    team = get_object_or_404(page_context.competition.teams, pk=team_id)
    action = request.POST.get("action", "")
    extension_form = ExtensionForm(page_context.competition, request.POST if action == "grant" else None)
    reason_form = ReasonForm(request.POST if action == "disqualify" else None, auto_id="out_%s")
    refusal = ""
    if request.method == "POST":
        try:
            if done := _do_action(page_context, team, request, extension_form, reason_form):
                messages.success(request, done)
                return see_other("host_team", slug=page_context.competition.slug, team_id=team.pk)
        except ValidationError as error:
            extension_form.add_error(None, error)
        except competitions.CannotHost as error:
            refusal = error.message
    context = _context(page_context, team) | {
        "extension_form": extension_form,
        "reason_form": reason_form,
        "refusal": refusal,
    }
    return render(request, "classroom/host_team.html", context, status=422 if request.method == "POST" else 200)


def _filter_teams(page_context: PageContext, show: str, below: list[team_lines.TeamsBelowBaseline]) -> QuerySet[Team]:
    competition = page_context.competition
    if show == "nothing":
        return team_lines.teams_without_valid_file(competition)
    if show == "granted":
        return competition.teams.filter(Exists(Extension.objects.active().filter(team=OuterRef("pk"))))
    if show == "disqualified":
        return competition.teams.filter(disqualified_at__isnull=False)
    for one in below:
        if show == one.key:
            return competition.teams.filter(pk__in=one.teams)
    return competition.teams.all()


def _do_action(
    page_context: PageContext, team: Team, request: HttpRequest, extension_form: ExtensionForm, reason_form: ReasonForm
) -> str:
    """Do what was asked for and say so; empty where a form has mistakes."""
    user, action = signed_in_user(page_context.user), request.POST.get("action", "")
    if action in ("disqualify", "readmit") and not page_context.is_host:
        raise competitions.CannotHost(_("Only hosts decide who is out. Ask one of them."))
    if action == "grant" and extension_form.is_valid():
        extensions.grant_extension(team=team, user=user, **extension_form.cleaned_data)
        return _("Granted to “%(team)s”.") % {"team": team}
    if action == "revoke":
        number = request.POST.get("grant", "")
        extension = get_object_or_404(team.extensions, pk=int(number) if number.isdecimal() else 0)
        extensions.revoke_extension(extension=extension, user=user)
        return _("Taken back.")
    if action == "disqualify" and reason_form.is_valid():
        extensions.disqualify_team(team=team, user=user, reason=reason_form.cleaned_data["reason"])
        return _("“%(team)s” is disqualified and stands on no board.") % {"team": team}
    if action == "readmit":
        extensions.readmit_team(team=team, user=user)
        return _("“%(team)s” takes part again.") % {"team": team}
    if action == "forgive":
        extensions.reset_failed_files(team=team, user=user)
        return _("The files of today that could not be read or scored do not count against “%(team)s”.") % {
            "team": team
        }
    return ""


def _context(page_context: PageContext, team: Team) -> dict[str, object]:
    day = page_context.at.astimezone(UTC).date()
    line = team_lines.team_lines([team], page_context.competition, day)[0]
    allowed = submitting.allowances_of_teams(
        {team.pk: page_context.competition}, page_context.at, effective_limits={team.pk: line.effective_limits}
    )
    return {
        "page_context": page_context,
        "team": team,
        "line": line,
        "allowance": allowed[team.pk] if line.memberships else None,
        "extensions": team.extensions.select_related("by"),
    }
