"""While a competition runs: data files, submissions, baselines, boards, the reveal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from leaderboard.common.responses import as_download, see_other, signed_in_user
from leaderboard.common.storage import TooLarge

from .. import hooks
from ..access import Audience, PageContext, open_to
from ..forms.host import BaselineForm, DataFileForm, SlugForm
from ..models import Competition, Score, Submission
from ..models.competition import Split
from ..ranking import secondary as secondary_module
from ..services import boards, competitions, data_files
from .host_responses import add_refusal, ask_first, is_confirmed, message_data_file_added, posted_data, refuse_too_large

PER_PAGE = 50
# What the lists below show of files; they need not read more.
SHOWN = (
    "competition", "file_name", "note", "received_at", "is_late", "is_selected", "hidden_at", "hidden_reason", "status",
    "problems", "failure", "host_details", "team__name", "baseline__name", "user__username",
)  # fmt: skip


class MeasuredScores(NamedTuple):
    """What stands in a score; by itself, that there is none."""

    value: float | None = None
    parts: Mapping[str, Any] = MappingProxyType({})
    secondary: Sequence[Mapping[str, Any]] = ()


@open_to(Audience.HOSTS)
def host_data(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    if request.POST.get("action") == "remove":
        wanted = get_object_or_404(competition.data_files, name=request.POST.get("name", ""))
        if not is_confirmed(request):
            return ask_first(request, page_context, str(wanted), _("Students can no longer download it."))
        data_files.remove_data_file(data_file=wanted, user=signed_in_user(page_context.user))
        messages.success(request, _("“%(name)s” is removed.") % {"name": wanted})
        return see_other("host_data", slug=competition.slug)
    form = DataFileForm(posted_data(request), request.FILES or None)
    status = 200 if request.method != "POST" else 422
    try:
        refuse_too_large(request)
        if request.method == "POST" and form.is_valid():
            file, words = form.cleaned_data["file"], form.cleaned_data["description"]
            added = data_files.add_data_file(
                competition=competition,
                file_name=file.name,
                chunks=file.chunks(),
                description=words,
                user=signed_in_user(page_context.user),
            )
            message_data_file_added(request, added)
            return see_other("host_data", slug=competition.slug)
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    context = {"page_context": page_context, "form": form, "files": competition.data_files.all()}
    return render(request, "competitions/host_data.html", context, status=status)


@open_to(Audience.ASSISTANTS)
def host_submissions(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    status, text = request.GET.get("status", ""), request.GET.get("q", "").strip()[:60]
    found = _with_names(filter_submissions(page_context.competition, status, text))
    page = Paginator(found.order_by("-received_at", "pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page_context": page_context,
        "page": page,
        "rows": _submission_rows(page_context.competition, page),
        "status": status,
        "q": text,
        "statuses": Submission.Status.choices,
    }
    return render(request, "competitions/host_submissions.html", context)


@open_to(Audience.ASSISTANTS)
def host_submission_file(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponseBase:
    submission = page_context.competition.submissions.filter(pk=submission_id).first()
    if submission is None:
        raise Http404(_("This competition has no such submission."))
    return as_download(submission.file_key, submission.file_name)


@open_to(Audience.HOSTS)
def host_baselines(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    if request.POST.get("action") == "remove":
        wanted = get_object_or_404(competition.baselines, name=request.POST.get("name", ""))
        if not is_confirmed(request):
            return ask_first(
                request, page_context, str(wanted), _("It leaves the board, with its file and its scores.")
            )
        boards.remove_baseline(baseline=wanted, user=signed_in_user(page_context.user))
        messages.success(request, _("“%(name)s” is removed from the board.") % {"name": wanted})
        return see_other("host_baselines", slug=competition.slug)
    form = BaselineForm(posted_data(request), request.FILES or None)
    status = 200 if request.method != "POST" else 422
    try:
        refuse_too_large(request)
        if request.method == "POST" and form.is_valid():
            _add_baseline(page_context, form)
            messages.success(request, _("The baseline is being scored."))
            return see_other("host_baselines", slug=competition.slug)
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    # Named from the few baselines on, because all files are many.
    files = Submission.objects.filter(baseline__in=competition.baselines.order_by().values("pk"))
    rows = _submission_rows(competition, _with_names(files).order_by("baseline__name"))
    context = {"page_context": page_context, "form": form, "rows": rows}
    return render(request, "competitions/host_baselines.html", context, status=status)


@open_to(Audience.ASSISTANTS)
def host_board_csv(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """A board as a file, exact whatever students see; the private one before the reveal as it would be revealed now."""
    split = Split.PRIVATE if request.GET.get("board") == "private" else Split.PUBLIC
    text = boards.board_csv(page_context.competition, split, is_exact=True)
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{page_context.competition.slug}-{split}.csv"'
    return response


@open_to(Audience.HOSTS)
def host_reveal(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    form = SlugForm(page_context.competition.slug, posted_data(request))
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        try:
            boards.reveal_competition(competition=page_context.competition, user=signed_in_user(page_context.user))
        except competitions.CannotHost as error:
            status = add_refusal(form, error)
        else:
            messages.success(request, _("The private board is open."))
            return see_other("leaderboard", slug=page_context.competition.slug)
    has_choice = page_context.state == "closed" and page_context.last_deadline <= page_context.at
    review = boards.review_before_reveal(page_context.competition) if has_choice else None
    context = {"page_context": page_context, "form": form, "review": review}
    return render(request, "competitions/host_reveal.html", context, status=status)


def _add_baseline(page_context: PageContext, form: BaselineForm) -> None:
    file = form.cleaned_data["file"]
    boards.add_baseline(
        competition=page_context.competition,
        user=signed_in_user(page_context.user),
        name=form.cleaned_data["name"],
        file_name=file.name,
        chunks=file.chunks(),
    )


def filter_submissions(competition: Competition, status: str, text: str) -> QuerySet[Submission]:
    """Files of teams with a status, where it is one, of teams and people with a text in their name."""
    found = competition.submissions.filter(team__isnull=False)
    if status in Submission.Status.values:
        found = found.filter(status=status)
    if text:
        found = found.filter(Q(team__name__icontains=text) | Q(user__in=hooks.roster.people_called(competition, text)))
    return found


def _with_names(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """With the names of whom they are from, and no more than the lists show."""
    return (
        submissions.select_related("team", "baseline", "user")
        .only(*SHOWN)
        .annotate(listed_as=hooks.roster.name_on_roster())
    )


def _submission_rows(competition: Competition, submissions: Iterable[Submission]) -> list[dict[str, Any]]:
    """Files with what the board's ground truth measured."""
    listed, secondary_metrics = list(submissions), secondary_module.secondary_metrics_of(competition.ground_truth)
    held = Score.objects.filter(ground_truth=competition.ground_truth_id, submission__in=[one.pk for one in listed])
    scores: dict[UUID, dict[str, MeasuredScores]] = {}
    for submission, split, *measured in held.values_list("submission", "split", "value", "parts", "secondary"):
        scores.setdefault(submission, {})[split] = MeasuredScores(*measured)
    return [_submission_row(submission, scores.get(submission.pk, {}), secondary_metrics) for submission in listed]


def _submission_row(
    submission: Submission,
    scores: Mapping[str, MeasuredScores],
    secondary_metrics: Sequence[secondary_module.SecondaryMetric],
) -> dict[str, Any]:
    public, private = (scores.get(split, MeasuredScores()) for split in (Split.PUBLIC, Split.PRIVATE))
    columns = [
        secondary_module.shown_secondary_values(secondary_metrics, measured.secondary, None)
        for measured in (public, private)
    ]
    return {
        "secondary": list(zip_longest(secondary_metrics, *columns)) if Split.PUBLIC in scores else [],
        "submission": submission,
        "public": public.value,
        "private": private.value,
        "parts": [(name, value, private.parts.get(name)) for name, value in public.parts.items()],
    }
