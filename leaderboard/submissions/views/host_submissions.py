"""Hosts' pages of submissions: the list, one file, scoring files again, baselines."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.boards import services as boards
from leaderboard.common.responses import in_order, see_other, sort_choice, zip_download
from leaderboard.common.storage import TooLarge
from leaderboard.competitions import hooks
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import BaselineForm, ReasonForm
from leaderboard.competitions.host_responses import add_refusal, ask_first, is_confirmed, posted_data
from leaderboard.competitions.models import Competition, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.views import answered_by_worker

from .. import attachments, scoring_again, services, submissions_zip
from ..queries import ShownScores, shown_scores_of

PER_PAGE = 50
NAMED_FOR_SCORING_AGAIN = 10
UNATTACHED = "unattached"
# Columns of submissions that the lists below show; no others are loaded.
SHOWN = (
    "competition", "file_name", "note", "received_at", "is_late", "is_selected", "hidden_at", "hidden_reason", "status",
    "problems", "failure", "host_details", "team__name", "baseline__name", "user__username",
)  # fmt: skip
ORDERS = {
    "file": "file_name", "team": "team__name", "received": "received_at", "status": "status",
    "public": "sorted_by", "private": "sorted_by",
}  # fmt: skip
"""Field of each column that the list can be sorted by."""


@open_to(Audience.ASSISTANTS)
def host_submissions(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    status, text = request.GET.get("status", ""), request.GET.get("q", "").strip()[:60]
    files = _with_names(_team_files(page_context.competition, status, text))
    name, is_backwards = sort_choice(request, ORDERS, "-received")
    files = _in_order(files, page_context.competition, name, is_backwards=is_backwards)
    page = Paginator(files, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page_context": page_context,
        "page": page,
        "rows": _with_scores(page_context, page),
        "status": status,
        "q": text,
        "sort": "-received",
        "statuses": Submission.Status.choices,
        "attachments": attachments.count_attachments(page_context.competition),
        "unattached": UNATTACHED,
    }
    return render(request, "submissions/host_submissions.html", context)


def _in_order(
    files: QuerySet[Submission], competition: Competition, name: str, *, is_backwards: bool
) -> QuerySet[Submission]:
    """The files sorted by a column of the list; files without a score last, newest first among equals."""
    if name in Split.values:
        scores = Score.objects.filter(submission=OuterRef("pk"), ground_truth=competition.ground_truth_id, split=name)
        files = files.annotate(sorted_by=Subquery(scores.values("value")[:1]))
    return files.order_by(in_order(ORDERS[name], is_backwards=is_backwards), "-received_at", "pk")


def _team_files(competition: Competition, status: str, text: str) -> QuerySet[Submission]:
    """Teams' files with this status, of teams or people whose name contains the text.

    Any status if unknown; `UNATTACHED` means final submissions of teams that attached nothing.
    """
    files = competition.submissions.filter(team__isnull=False)
    if status in Submission.Status.values:
        files = files.filter(status=status)
    if status == UNATTACHED:
        missing = attachments.finals_without_attachment(competition)
        files = files.filter(pk__in=[final for finals in missing.values() for final in finals])
    if text:
        files = files.filter(Q(team__name__icontains=text) | Q(user__in=hooks.roster.people_called(competition, text)))
    return files


def _with_names(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """The files with names of team and person (`listed_as` from the roster), loading only the columns `SHOWN`."""
    related = submissions.select_related("team", "baseline", "user").only(*SHOWN)
    return related.annotate(listed_as=hooks.roster.name_on_roster())


def _with_scores(page_context: PageContext, submissions: Iterable[Submission]) -> list[tuple[Submission, ShownScores]]:
    listed = list(submissions)
    scores = shown_scores_of(page_context, listed)
    return [(submission, scores[submission.pk]) for submission in listed]


@open_to(Audience.ASSISTANTS)
def host_submission(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    """One file of a team; POST hides it or shows it again."""
    competition, user = page_context.competition, page_context.account
    files = competition.submissions.filter(team__isnull=False).select_related("team", "user", "attachment__by")
    submission = files.annotate(listed_as=hooks.roster.name_on_roster()).filter(pk=submission_id).first()
    if submission is None:
        raise Http404(_("No team here has submitted such a file."))
    form = ReasonForm(request.POST if request.POST.get("action") == "hide" else None)
    status, done = 422 if request.method == "POST" else 200, ""
    try:
        if request.POST.get("action") == "show":
            services.show_submission(submission=submission, user=user)
            done = _("The submission is visible again.")
        elif form.is_valid():
            services.hide_submission(submission=submission, user=user, reason=form.cleaned_data["reason"])
            done = _("The submission is hidden; its team sees the reason.")
    except competitions.CannotHost as error:
        status = add_refusal(form, error)
    if done:
        messages.success(request, done)
        return see_other("host_submission", slug=competition.slug, submission_id=submission.pk)
    scores = shown_scores_of(page_context, [submission])[submission.pk]
    context = {"page_context": page_context, "submission": submission, "form": form, "scores": scores}
    return render(request, "submissions/host_submission.html", context, status=status)


@open_to(Audience.ASSISTANTS)
def host_score_again(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Confirmation before files without a score are scored again; POST does it."""
    parameters = request.POST if request.method == "POST" else request.GET
    files, refusal, status = _files_to_score_again(page_context.competition, parameters), "", 200
    if request.method == "POST":
        try:
            done = scoring_again.score_again(
                competition=page_context.competition, user=page_context.account, files=files
            )
        except competitions.CannotHost as error:
            refusal, status = error.message, 409
        else:
            message = ngettext(
                "%(number)d submission is being rescored.", "%(number)d submissions are being rescored.", done
            )
            messages.success(request, message % {"number": done})
            return see_other("host_submissions", slug=page_context.competition.slug)
    numbers = files.order_by().aggregate(
        failed=Count("pk", filter=Q(status=Submission.Status.FAILED)),
        invalid=Count("pk", filter=Q(status=Submission.Status.INVALID)),
    )
    context = {
        "page_context": page_context,
        "refusal": refusal,
        # Numbers by status; the number that is scored again at once; the first files.
        "numbers": numbers,
        "number": min(sum(numbers.values()), scoring_again.MAX_AT_ONCE),
        "files": list(files.select_related("team")[:NAMED_FOR_SCORING_AGAIN]),
        "asked": {name: parameters.get(name, "") for name in ("file", "status", "q")},
    }
    return render(request, "submissions/host_score_again.html", context, status=status)


def _files_to_score_again(competition: Competition, parameters: QueryDict) -> QuerySet[Submission]:
    """One file (`?file=`) or those of a filtered list, only files without a score."""
    files = _team_files(competition, parameters.get("status", ""), parameters.get("q", "").strip()[:60])
    if file_id := parameters.get("file", ""):
        try:
            files = files.filter(pk=UUID(file_id))
        except ValueError:
            files = files.none()
    return scoring_again.submissions_without_score(files)


@open_to(Audience.HOSTS)
def host_baselines(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition, user = page_context.competition, page_context.account
    if request.POST.get("action") == "remove":
        baseline = get_object_or_404(competition.baselines, name=request.POST.get("name", ""))
        if not is_confirmed(request):
            consequence = _("It leaves the leaderboard with its file and scores.")
            return ask_first(request, page_context, str(baseline), consequence)
        boards.remove_baseline(baseline=baseline, user=user)
        messages.success(request, _("“%(name)s” was removed from the leaderboard.") % {"name": baseline})
        return see_other("host_baselines", slug=competition.slug)
    form = BaselineForm(posted_data(request), request.FILES or None)
    status = 200 if request.method != "POST" else 422
    try:
        if form.is_valid():
            name, file = form.cleaned_data["name"], form.cleaned_data["file"]
            boards.add_baseline(
                competition=competition, user=user, name=name, file_name=file.name, chunks=file.chunks()
            )
            messages.success(request, _("The baseline is being scored."))
            return see_other("host_baselines", slug=competition.slug)
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    # By a subquery that starts at the few baselines, because there are many files.
    files = Submission.objects.filter(baseline__in=competition.baselines.order_by().values("pk"))
    rows = _with_scores(page_context, _with_names(files).order_by("baseline__name"))
    context = {"page_context": page_context, "form": form, "rows": rows}
    return render(request, "submissions/host_baselines.html", context, status=status)


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Collecting all submissions"))
def host_submissions_zip(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    if request.method != "POST":
        return see_other("host_submissions", slug=page_context.competition.slug)
    competition, at = page_context.competition, page_context.at
    return zip_download(
        f"{competition.slug}-submissions.zip",
        lambda archive: submissions_zip.write_submissions(archive, competition, at),
    )
