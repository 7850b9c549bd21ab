"""Hosts' pages about whole competitions: the list, the bin, the deadline, the audit log."""

from __future__ import annotations

import json
import re
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.classroom.forms import MovedDeadlineForm
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.display_time import moment_text
from leaderboard.common.models import AuditEntry
from leaderboard.common.queries import count_rows
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import CompetitionForm, wall_text
from leaderboard.competitions.host_responses import is_confirmed
from leaderboard.competitions.models import Competition, Submission, Team

AUDIT_ENTRIES_PER_PAGE = 50
NUMBERED_TEAM = re.compile(r"team #([0-9]{1,18})")


@open_page_to(SiteAudience.SIGNED_IN)
def host(request: HttpRequest) -> HttpResponse:
    """The competitions that the viewer hosts or assists in, and those in the bin; for operators all."""
    user, now = signed_in_user(request.user), timezone.now()
    binned = list(Competition.objects.in_bin_of(user))
    if not user.is_host and not binned and not Competition.objects.run_by(user).exists():
        raise PermissionDenied(_("Ask your administrator for permission to host competitions."))
    teams = Team.objects.filter(competition=OuterRef("pk"))
    waiting = Submission.objects.filter(competition=OuterRef("pk"), status=Submission.Status.PENDING)
    held = (
        Competition.objects.run_by(user)
        .with_roles_of(user)
        .annotate(team_count=count_rows(teams, "competition"), waiting_count=count_rows(waiting, "competition"))
    )
    rows = [(competition, competition.state(now)) for competition in held]
    context = {
        "rows": [row for row in rows if row[0].archive.archived_at is None],
        "archived": [row for row in rows if row[0].archive.archived_at is not None],
        "binned": binned,
        "has_demo": user.is_superuser and any(competition.is_demo for competition, _state in rows),
    }
    return render(request, "site/host.html", context)


@open_page_to(SiteAudience.SIGNED_IN)
def host_restore(request: HttpRequest, slug: str) -> HttpResponse:
    """Restore a competition from the bin."""
    user = signed_in_user(request.user)
    competition = get_object_or_404(Competition.objects.in_bin_of(user), slug=slug)
    if request.method != "POST":
        return see_other("host", fragment="#bin")
    competitions.restore_competition(competition=competition, user=user)
    messages.success(request, _("“%(title)s” was restored.") % {"title": competition})
    return see_other("host_competition", slug=competition.slug)


@open_to(Audience.HOSTS)
def host_deadline(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Move the deadline; asks first if students would lose time."""
    competition, user, change = page_context.competition, page_context.account, None
    form = MovedDeadlineForm(
        competition,
        request.POST if request.method == "POST" else None,
        initial={"closes_at": wall_text(competition.closes_at, competition.zone), "notifies": True},
    )
    if form.is_valid():
        closes_at, notifies = form.cleaned_data["closes_at"], form.cleaned_data["notifies"]
        change = competitions.deadline_change(competition, closes_at)
        if not change.is_earlier or is_confirmed(request):
            try:
                competitions.change_competition(
                    competition=competition, user=user, notifies=notifies, closes_at=closes_at
                )
            except ValidationError as error:
                form.add_error("closes_at", error.messages)
            else:
                until = moment_text(closes_at, zone=competition.zone)
                messages.success(request, _("The deadline is now %(until)s.") % {"until": until})
                return see_other("host_competition", slug=competition.slug)
    context = {"page_context": page_context, "form": form, "change": None if form.errors else change}
    return render(request, "site/host_deadline.html", context, status=422 if form.errors else 200)


def _audit_label(name: str) -> str:
    """The label of a changed field: for a setting that of the settings page, else its name in the reader's language."""
    setting = CompetitionForm.base_fields.get(name)
    return str(setting.label) if setting else capfirst(_(name.replace("_", " ")))


@open_to(Audience.HOSTS)
def host_audit(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The audit log of a competition, newest first.

    The log stores numbers of people and teams; their names are looked up here, and deleted accounts have none.
    """
    found = AuditEntry.objects.filter(competition=page_context.competition.pk)
    page = Paginator(found, AUDIT_ENTRIES_PER_PAGE).get_page(request.GET.get("page"))
    people = {number for entry in page for number in (entry.by, entry.account) if number is not None}
    accounts = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
    texts = json.dumps([[entry.about, *entry.changes] for entry in page], default=str)
    numbers = set(map(int, NUMBERED_TEAM.findall(texts)))
    teams = dict(Team.objects.filter(pk__in=numbers).values_list("pk", "name"))

    def account_name(number: int | None) -> str:
        if number is None:
            return ""
        return accounts.get(number) or _("deleted account %(number)s") % {"number": number}

    def with_names(value: Any) -> Any:
        """The value with names in place of numbers of teams, also in nested lists."""
        if isinstance(value, list | tuple):
            return [with_names(one) for one in value]
        numbered = NUMBERED_TEAM.fullmatch(value) if isinstance(value, str) else None
        if numbered is None:
            return value
        return teams.get(int(numbered[1])) or _("team %(number)s") % {"number": numbered[1]}

    rows = [
        (
            entry,
            account_name(entry.by) or _("the site itself"),
            account_name(entry.account),
            with_names(entry.about),
            with_names([(_audit_label(name), *values) for name, *values in entry.changes]),
        )
        for entry in page
    ]
    return render(request, "site/host_audit.html", {"page_context": page_context, "page": page, "rows": rows})
