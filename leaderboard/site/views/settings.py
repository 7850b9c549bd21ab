"""The settings of a competition: four sections, each saved separately, and the actions of `ACTIONS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import see_other
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import (
    AdmissionForm,
    BoardForm,
    CloneForm,
    LimitsForm,
    PartOfCompetitionForm,
    ReasonForm,
    SlugForm,
    TextsForm,
)
from leaderboard.competitions.host_responses import REFUSALS, add_refusal, save_competition
from leaderboard.competitions.models import Archive, Competition
from leaderboard.competitions.views import answered_by_worker
from leaderboard.ground_truths.services import copying

SECTIONS: dict[str, type[PartOfCompetitionForm]] = {
    "texts": TextsForm,
    "limits": LimitsForm,
    "admission": AdmissionForm,
    "board": BoardForm,
}


def _copies_nothing(request: HttpRequest) -> bool:
    return request.POST.get("action") != "copy"


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Copying the competition"), is_quick=_copies_nothing)
def host_settings(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the page. POST: save a `section`, or do an `action` (`pause`, `resume`, `archive`, `unarchive`, `copy`,
    `delete`)."""
    competition, status = page_context.competition, 422 if request.method == "POST" else 200
    forms = _forms(request, competition)
    form = forms.get(request.POST.get("section", "") or request.POST.get("action", ""))
    try:
        if isinstance(form, PartOfCompetitionForm):
            if changed := save_competition(page_context, form):
                messages.success(request, _("Saved."))
                return see_other("host_settings", fragment=f"#{request.POST['section']}", slug=changed.slug)
        elif (act := ACTIONS.get(request.POST.get("action", ""))) and (form is None or form.is_valid()):
            return act(request, page_context, form.cleaned_data if form else {})
    except (ValidationError, *REFUSALS) as error:
        if form is None:
            messages.error(request, str(error))
            return see_other("host_settings", fragment="#archive", slug=competition.slug)
        status = add_refusal(form, error)
    context = {
        "page_context": page_context,
        "forms": forms,
        "roster_size": competition.course.roster.filter(left_at=None).count(),
        "teams": competition.teams.count(),
        "submissions": competition.submissions.filter(team__isnull=False).count(),
    }
    return render(request, "site/host_settings.html", context, status=status)


def _forms(request: HttpRequest, competition: Competition) -> dict[str, BaseForm]:
    """The forms of the page by section or action; the sent one is bound."""
    sent = request.POST.get("section") or request.POST.get("action")

    def data_of(name: str) -> Any:
        return request.POST if name == sent else None

    # Copies, because validating a form changes its instance, and the head of the page must not change.
    sections = {
        name: form(data_of(name), instance=Competition.objects.get(pk=competition.pk))
        if name == sent
        else form(instance=competition)
        for name, form in SECTIONS.items()
    }
    return {
        **sections,
        "pause": ReasonForm(data_of("pause")),
        "copy": CloneForm(data_of("copy"), initial={"title": copying.next_title(competition.title)}),
        "delete": SlugForm(competition.slug, data_of("delete")),
    }


def _pause(request: HttpRequest, page_context: PageContext, fields: dict[str, Any]) -> HttpResponse:
    competitions.pause_competition(
        competition=page_context.competition, user=page_context.account, reason=fields["reason"]
    )
    messages.success(request, _("Paused. Students can't submit until you resume."))
    return see_other("host_settings", fragment="#pause", slug=page_context.competition.slug)


def _resume(request: HttpRequest, page_context: PageContext, fields: dict[str, Any]) -> HttpResponse:
    competitions.resume_competition(competition=page_context.competition, user=page_context.account)
    messages.success(request, _("Resumed. Students can submit again."))
    return see_other("host_settings", fragment="#pause", slug=page_context.competition.slug)


def _archive(request: HttpRequest, page_context: PageContext, fields: dict[str, Any]) -> HttpResponse:
    competitions.archive_competition(competition=page_context.competition, user=page_context.account)
    messages.success(request, _("Archived. It's no longer listed; its students and hosts can still open it."))
    return see_other("host_settings", fragment="#archive", slug=page_context.competition.slug)


def _unarchive(request: HttpRequest, page_context: PageContext, fields: dict[str, Any]) -> HttpResponse:
    competitions.unarchive_competition(competition=page_context.competition, user=page_context.account)
    messages.success(request, _("Listed again."))
    return see_other("host_settings", fragment="#archive", slug=page_context.competition.slug)


def _copy(request: HttpRequest, page_context: PageContext, fields: dict[str, Any]) -> HttpResponse:
    """Copy this competition as a new draft of the viewer."""
    user = page_context.account
    if not user.is_host:
        raise PermissionDenied(_("Ask your administrator for permission to host competitions."))
    copy = copying.clone_competition(competition=page_context.competition, user=user, **fields)
    messages.success(request, _("“%(title)s” is a new draft.") % {"title": copy})
    return see_other("host_setup", slug=copy.slug)


def _delete(request: HttpRequest, page_context: PageContext, fields: dict[str, Any]) -> HttpResponse:
    competition = page_context.competition
    competitions.bin_competition(competition=competition, user=page_context.account)
    words = _("“%(title)s” was deleted. You can restore it here for %(days)s days.")
    messages.success(request, words % {"title": competition, "days": Archive.BIN_DAYS})
    return see_other("host")


ACTIONS: dict[str, Callable[[HttpRequest, PageContext, dict[str, Any]], HttpResponse]] = {
    "pause": _pause,
    "resume": _resume,
    "archive": _archive,
    "unarchive": _unarchive,
    "copy": _copy,
    "delete": _delete,
}
