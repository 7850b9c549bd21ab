"""Hide one file, or pause everything."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other, signed_in_user

from .. import hooks
from ..access import Audience, PageContext, open_to
from ..forms.host import ReasonForm
from ..models import Submission
from ..models.competition import Split
from ..services import competitions
from .host_responses import add_refusal, posted_data


@open_to(Audience.ASSISTANTS)
def host_submission(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    """One file of a team, to hide it or show it again."""
    files = page_context.competition.submissions.filter(team__isnull=False).select_related("team", "user")
    submission = files.annotate(listed_as=hooks.roster.name_on_roster()).filter(pk=submission_id).first()
    if submission is None:
        raise Http404(_("No team of this competition handed in such a file."))
    form = ReasonForm(posted_data(request) if request.POST.get("action") == "hide" else None)
    status = 422 if request.method == "POST" else 200
    try:
        if done := _hide_or_show(request, page_context, submission, form):
            messages.success(request, done)
            return see_other("host_submission", slug=page_context.competition.slug, submission_id=submission.pk)
    except competitions.CannotHost as error:
        status = add_refusal(form, error)
    found = dict(
        submission.scores.filter(ground_truth=page_context.competition.ground_truth).values_list("split", "value")
    )
    scores = {split: found.get(split) for split in Split.values}
    context = {"page_context": page_context, "submission": submission, "form": form, "scores": scores}
    return render(request, "competitions/host_submission.html", context, status=status)


@open_to(Audience.HOSTS)
def host_pause(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Take no more files for a while, in the host's words; and end that."""
    competition = page_context.competition
    form = ReasonForm(posted_data(request) if request.POST.get("action") == "pause" else None)
    status = 422 if request.method == "POST" else 200
    try:
        if request.POST.get("action") == "resume":
            competitions.resume_competition(competition=competition, user=signed_in_user(page_context.user))
            messages.success(request, _("Files are taken again."))
            return see_other("host_pause", slug=competition.slug)
        if form.is_bound and form.is_valid():
            reason = form.cleaned_data["reason"]
            competitions.pause_competition(
                competition=competition, user=signed_in_user(page_context.user), reason=reason
            )
            messages.success(request, _("Paused: no files are taken until you end the pause."))
            return see_other("host_pause", slug=competition.slug)
    except competitions.CannotHost as error:
        status = add_refusal(form, error)
    return render(request, "competitions/host_pause.html", {"page_context": page_context, "form": form}, status=status)


def _hide_or_show(request: HttpRequest, page_context: PageContext, submission: Submission, form: ReasonForm) -> str:
    if request.POST.get("action") == "show":
        competitions.show_submission(submission=submission, user=signed_in_user(page_context.user))
        return _("The file is shown again.")
    if form.is_bound and form.is_valid():
        reason = form.cleaned_data["reason"]
        competitions.hide_submission(submission=submission, user=signed_in_user(page_context.user), reason=reason)
        return _("The file is hidden; its team reads why.")
    return ""
