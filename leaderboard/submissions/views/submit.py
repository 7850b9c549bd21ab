"""The Submit page: submit a file, follow its progress, confirm a repeated file, convert a file."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.clock import time_since_arrival
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.responses import STOP_POLLING, see_other
from leaderboard.common.storage import TooLarge, clean_name, path_of, sha256_of
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.queries import clear_counts
from leaderboard.competitions.views import answered_by_worker
from leaderboard.scoring.client import JobFailed

from .. import allowances, converting, submit_conditions, submitting
from ..forms import DuplicateForm, UploadForm
from ..queries import own_submission
from ..submission_progress import progress_of, today_card

CHUNK_BYTES = 1_048_576


class UploadRefused(Exception):
    """An upload that could not be accepted; the message is for the student, `status` for the response."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@open_to(Audience.MEMBERS)
def submit(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    if request.method != "POST":
        return _submit_page(request, page_context, UploadForm.fresh(), shown=_submission_to_show(request, page_context))
    form = UploadForm(request.POST, request.FILES)
    fresh = UploadForm.fresh(note=request.POST.get("note", ""))
    try:
        if "again" in request.POST:
            submission = _submit_again(page_context, DuplicateForm(request.POST), time_since_arrival(request))
        elif not form.is_valid():
            return _submit_page(request, page_context, form, status=422)
        else:
            submission = _submit_upload(page_context, form, time_since_arrival(request))
    except submit_conditions.DuplicateFile as same:
        question = {"earlier": same.earlier, "form": _form_to_repeat(same.earlier, form)}
        return _submit_page(request, page_context, fresh, same=question, status=409)
    except TooLarge as error:
        return _submit_page(request, page_context, fresh, not_taken=str(error), status=413)
    except UploadRefused as error:
        return _submit_page(request, page_context, fresh, not_taken=str(error), status=error.status)
    except submit_conditions.SubmissionRefused as error:
        return _submit_page(request, page_context, fresh, not_taken=error.message, status=409)
    return _see_progress(page_context.competition, submission)


def _see_progress(competition: Competition, submission: Submission) -> HttpResponse:
    clear_counts(competition)
    if submission.status == Submission.Status.INVALID:
        converting.request_preview(submission)
    address = reverse("submit", kwargs={"slug": competition.slug})
    return HttpResponseRedirect(f"{address}?submission={submission.pk}#progress", status=303)


@open_to(Audience.MEMBERS)
def submission_progress(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    """The progress of one file as a fragment for htmx: 204 if nothing has changed, 286 to stop polling when it is over.

    Without htmx a redirect to the Submit page.
    """
    submission = own_submission(page_context, submission_id)
    if not getattr(request, "htmx", False):
        return see_other("submit", query=f"?submission={submission_id}", slug=page_context.competition.slug)
    progress = progress_of(page_context, submission)
    if not progress.is_over and request.GET.get("seen") == progress.seen:
        return HttpResponse(status=204)
    context = {"page_context": page_context, "progress": progress, "is_poll": True}
    today = today_card(page_context, progress) if progress.is_over else None
    status = STOP_POLLING if progress.is_over else 200
    response = render(request, "submissions/submission_progress.html", {**context, "today": today}, status=status)
    if today and today.allowance and today.allowance.left == 1 and submission.status != Submission.Status.SCORED:
        response["HX-Refresh"] = "true"  # while the file waited, the page had no form: it held the last attempt
    return response


@open_to(Audience.MEMBERS)
@answered_by_worker(gettext_lazy("Converting your file"), is_of_student=True)
def submission_convert(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    """Submit the conversion offered for a file."""
    original = own_submission(page_context, submission_id)
    if request.method != "POST":
        return see_other("submission", slug=page_context.competition.slug, submission_id=submission_id)
    if page_context.membership is None or original.team_id != page_context.membership.team_id:
        raise Http404(_("You have no submission with this number."))
    try:
        submission = converting.submit_converted(
            submission=original, user=page_context.account, waited=time_since_arrival(request)
        )
    except submit_conditions.SubmissionRefused as error:
        message, status = error.message, 409
    except JobFailed:
        message, status = _("We couldn't convert the file. Try again in a minute."), 503
    else:
        return _see_progress(page_context.competition, submission)
    return _submit_page(request, page_context, UploadForm.fresh(), shown=original, not_taken=message, status=status)


def _submit_upload(page_context: PageContext, form: UploadForm, waited: timedelta) -> Submission:
    file: UploadedFile[Any] = form.cleaned_data["file"]
    return submitting.submit_file(
        competition=page_context.competition,
        user=page_context.account,
        file_name=file.name or "",
        chunks=file.chunks(),
        note=form.cleaned_data["note"],
        upload_key=_upload_key(form, sha256_of(file.chunks())),
        may_repeat=False,
        waited=waited,
    )


def _upload_key(form: UploadForm | DuplicateForm, sha256: str) -> str | None:
    """Idempotency key from form and content: the browser's Back button may resend an old form key with a new file."""
    key = form.cleaned_data["upload_key"]
    return f"{key}-{sha256[:16]}" if key else None


def _form_to_repeat(earlier: Submission, form: UploadForm) -> DuplicateForm:
    """The form that asks whether to submit the same file again; it refers to the earlier submission for the bytes."""
    initial = {
        "again": earlier.pk,
        "file_name": clean_name(form.cleaned_data["file"].name or ""),
        "note": form.cleaned_data["note"],
        "upload_key": form.cleaned_data["upload_key"],
    }
    return DuplicateForm(initial=initial)


def _submit_again(page_context: PageContext, form: DuplicateForm, waited: timedelta) -> Submission:
    """Submit the bytes of an earlier submission again, after a confirmation.

    Raises `UploadRefused`, `SubmissionRefused` and `Http404`.
    """
    if not form.is_valid() or page_context.membership is None:
        raise UploadRefused(_("This form is damaged. Choose your file again."), 422)
    given = form.cleaned_data
    earlier = own_submission(page_context, given["again"])
    if earlier.team_id != page_context.membership.team_id:
        raise Http404(_("You have no submission with this number."))
    try:
        file = path_of(earlier.file_key, earlier.sha256).open("rb")
    except FileNotFoundError:
        raise UploadRefused(_("The earlier file isn't on the server any more. Choose yours again."), 409) from None
    with file:
        return submitting.submit_file(
            competition=page_context.competition,
            user=page_context.account,
            file_name=given["file_name"],
            chunks=iter(partial(file.read, CHUNK_BYTES), b""),
            note=given["note"],
            upload_key=_upload_key(form, earlier.sha256),
            waited=waited,
        )


def _submission_to_show(request: HttpRequest, page_context: PageContext) -> Submission | None:
    """The file in `?submission=`, else a pending file of the viewer's team, else None. Raises `Http404`."""
    if submission_id := request.GET.get("submission"):
        try:
            return own_submission(page_context, submission_id)
        except (ValidationError, ValueError) as error:
            raise Http404(_("You have no submission with this number.")) from error
    if page_context.membership is None:
        return None
    return _waiting_file.only_row(team=page_context.membership.team_id)


@PreparedQuery
def _waiting_file(team: int) -> QuerySet[Submission]:
    waiting = Submission.objects.filter(team=team, status=Submission.Status.PENDING)
    return waiting.select_related("user", "team")[:1]


def _submit_page(
    request: HttpRequest,
    page_context: PageContext,
    form: UploadForm,
    *,
    shown: Submission | None = None,
    status: int = 200,
    **outcome: Any,
) -> HttpResponse:
    """The Submit page; `outcome` is `same` (question about a file submitted before) or `not_taken` (the refusal)."""
    competition = page_context.competition
    progress = progress_of(page_context, shown) if shown else None
    card = today_card(page_context, progress)
    context = {
        "page_context": page_context,
        "form": form,
        "today": card,
        "refusal": allowances.submit_refusal_now(competition, page_context.membership, page_context.at, card.allowance),
        "progress": progress,
        "is_result": shown is not None and not outcome,
        **outcome,
        "largest": min(competition.limits.max_bytes, settings.MAX_UPLOAD_BYTES),
        "action": reverse("submit", kwargs={"slug": competition.slug}),
    }
    return render(request, "submissions/submit.html", context, status=status)
