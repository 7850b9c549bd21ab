"""A competition from its first line to its launch, and its end."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.subqueries import count_rows

from ..access import Audience, PageContext, open_to
from ..forms.host import CompetitionForm, SlugForm
from ..models import Competition, Submission, Team
from ..services import competitions, launches
from .host_responses import posted_data

Status = Submission.Status


@open_page_to(SiteAudience.SIGNED_IN)
def host(request: HttpRequest) -> HttpResponse:
    """The viewer's own competitions; an operator sees all. Also for co-hosts and assistants who open no new ones."""
    user, now = signed_in_user(request.user), timezone.now()
    if not user.is_host and not Competition.objects.run_by(user).exists():
        raise PermissionDenied(_("Ask the operator of this site for the right to host competitions."))
    held = (
        Competition.objects.run_by(user)
        .with_roles_of(user)
        .annotate(
            team_count=_number(Team.objects.all()),
            waiting_count=_number(Submission.objects.filter(status=Status.PENDING)),
        )
    )
    rows = [(competition, competition.state(now)) for competition in held]
    lacking = launches.incomplete_launches(competition for competition, _state in rows)
    return render(request, "competitions/host.html", {"rows": rows, "lacking": lacking})


def _number(rows: QuerySet[Any]) -> Coalesce:
    return count_rows(rows.filter(competition=OuterRef("pk")), "competition")


@open_to(Audience.HOSTS)
def host_settings(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    # A copy, because filling the form in changes it and the head of the page must not.
    copy = Competition.objects.get(pk=page_context.competition.pk)
    form = CompetitionForm(posted_data(request), instance=copy)
    if request.method == "POST" and form.is_valid():
        try:
            changed = competitions.change_competition(
                competition=page_context.competition, user=signed_in_user(page_context.user), **form.fields_for_verb
            )
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, _("Saved."))
            return see_other("host_settings", slug=changed.slug)
    return render(
        request,
        "competitions/host_settings.html",
        {"page_context": page_context, "form": form},
        status=422 if form.errors else 200,
    )


@open_to(Audience.HOSTS)
def host_delete(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    form = SlugForm(page_context.competition.slug, posted_data(request))
    if request.method == "POST" and form.is_valid():
        title = str(page_context.competition)
        competitions.delete_competition(competition=page_context.competition, user=signed_in_user(page_context.user))
        messages.success(request, _("“%(title)s” is deleted.") % {"title": title})
        return see_other("host" if signed_in_user(request.user).is_host else "competitions")
    context = {"page_context": page_context, "form": form, "numbers": _competition_counts(page_context.competition)}
    return render(request, "competitions/host_delete.html", context, status=422 if form.errors else 200)


def _competition_counts(competition: Competition) -> dict[str, Any]:
    """Teams, files of teams, and how many of these are in which state."""
    counted = {status.value: Count("pk", filter=Q(status=status)) for status in Status}
    files = competition.submissions.filter(team__isnull=False).order_by()
    return {"teams": competition.teams.count(), **files.aggregate(submissions=Count("pk"), **counted)}
