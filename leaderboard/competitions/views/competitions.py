"""What hosts manage of a competition as a whole: the list of theirs, settings, team changes, audit log, deletion."""

from __future__ import annotations

import json
import re
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.models import AuditEntry
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.subqueries import count_rows

from ..access import Audience, PageContext, open_to
from ..forms.host import CompetitionForm, SlugForm, TeamChangesForm
from ..models import Competition, Submission, Team
from ..services import competitions, launches
from .host_responses import posted_data, save_competition

AUDIT_ENTRIES_PER_PAGE = 50
NUMBERED = re.compile(r"(team|account) #([0-9]{1,18})")


@open_page_to(SiteAudience.SIGNED_IN)
def host(request: HttpRequest) -> HttpResponse:
    """The viewer's own competitions; an operator sees all. Also for co-hosts and assistants who open no new ones."""
    user, now = signed_in_user(request.user), timezone.now()
    if not user.is_host and not Competition.objects.run_by(user).exists():
        raise PermissionDenied(_("Ask the operator of this site for the right to host competitions."))
    teams = Team.objects.filter(competition=OuterRef("pk"))
    waiting = Submission.objects.filter(competition=OuterRef("pk"), status=Submission.Status.PENDING)
    held = (
        Competition.objects.run_by(user)
        .with_roles_of(user)
        .annotate(team_count=count_rows(teams, "competition"), waiting_count=count_rows(waiting, "competition"))
    )
    rows = [(competition, competition.state(now)) for competition in held]
    lacking = launches.incomplete_launches(competition for competition, _state in rows)
    return render(request, "competitions/host.html", {"rows": rows, "lacking": lacking})


@open_to(Audience.HOSTS)
def host_settings(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    # A copy, because filling the form in changes it and the head of the page must not.
    copy = Competition.objects.get(pk=page_context.competition.pk)
    form = CompetitionForm(posted_data(request), instance=copy)
    if changed := save_competition(page_context, form):
        messages.success(request, _("Saved."))
        return see_other("host_settings", slug=changed.slug)
    context = {"page_context": page_context, "form": form}
    return render(request, "competitions/host_settings.html", context, status=422 if form.errors else 200)


@open_to(Audience.HOSTS)
def host_board(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """How long teams can change."""
    competition = page_context.competition
    form = TeamChangesForm(competition, posted_data(request))
    if request.method == "POST" and form.is_valid():
        competitions.change_competition(
            competition=competition, user=signed_in_user(page_context.user), **form.cleaned_data
        )
        messages.success(request, _("Saved."))
        return see_other("host_board", slug=competition.slug)
    context = {"page_context": page_context, "form": form}
    return render(request, "competitions/host_board.html", context, status=422 if form.errors else 200)


@open_to(Audience.HOSTS)
def host_delete(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    form = SlugForm(competition.slug, posted_data(request))
    if request.method == "POST" and form.is_valid():
        title = str(competition)
        competitions.delete_competition(competition=competition, user=signed_in_user(page_context.user))
        messages.success(request, _("“%(title)s” is deleted.") % {"title": title})
        return see_other("host" if signed_in_user(request.user).is_host else "competitions")
    counted = {status.value: Count("pk", filter=Q(status=status)) for status in Submission.Status}
    files = competition.submissions.filter(team__isnull=False).order_by()
    numbers = {"teams": competition.teams.count(), **files.aggregate(submissions=Count("pk"), **counted)}
    context = {"page_context": page_context, "form": form, "numbers": numbers}
    return render(request, "competitions/host_delete.html", context, status=422 if form.errors else 200)


@open_to(Audience.HOSTS)
def host_audit(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Lists who changed what, newest first. People and teams are numbers in the audit log; deleted accounts have no
    name any more."""
    found = AuditEntry.objects.filter(competition=page_context.competition.pk).order_by("-number")
    page = Paginator(found, AUDIT_ENTRIES_PER_PAGE).get_page(request.GET.get("page"))
    numbers: dict[str, set[int]] = {"account": set(), "team": set()}
    for entry in page:
        numbers["account"] |= {number for number in (entry.by, entry.account) if number is not None}
        for kind, number in NUMBERED.findall(json.dumps([entry.about, *entry.changes], default=str)):
            numbers[kind].add(int(number))
    accounts = dict(User.objects.filter(pk__in=numbers["account"]).values_list("pk", "username"))
    teams = dict(Team.objects.filter(pk__in=numbers["team"]).values_list("pk", "name"))

    def account_name(number: int | None) -> str:
        if number is None:
            return ""
        return accounts.get(number) or _("deleted account %(number)s") % {"number": number}

    def with_names(value: Any) -> Any:
        """The value with names for its numbers, however deep in it."""
        if isinstance(value, list | tuple):
            return [with_names(one) for one in value]
        numbered = NUMBERED.fullmatch(value) if isinstance(value, str) else None
        if numbered is None:
            return value
        number = int(numbered[2])
        if numbered[1] == "account":
            return account_name(number)
        return teams.get(number) or _("team %(number)s") % {"number": number}

    rows = [
        (
            entry,
            account_name(entry.by) or _("the site itself"),
            account_name(entry.account),
            with_names(entry.about),
            with_names(entry.changes),
        )
        for entry in page
    ]
    return render(request, "competitions/host_audit.html", {"page_context": page_context, "page": page, "rows": rows})
