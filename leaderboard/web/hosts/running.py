"""While a competition runs: data files, submissions, baselines, boards, the reveal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from ... import hosting, ranking
from ...models import Competition, Score, Split, Submission, name_on_roster, people_called
from ...storage import TooLarge
from ..access import Audience, Visit, open_to
from ..answers import as_download, person, see_other
from ._answers import add_refusal, ask_first, is_meant, posted, refuse_too_large
from .forms import BaselineForm, DataFileForm, SlugForm
from .kept import kept

PER_PAGE = 50


@open_to(Audience.HOSTS)
def host_data(request: HttpRequest, visit: Visit) -> HttpResponse:
    competition = visit.competition
    if request.POST.get("action") == "remove":
        wanted = get_object_or_404(competition.data_files, name=request.POST.get("name", ""))
        if not is_meant(request):
            return ask_first(request, visit, str(wanted), _("Students can no longer download it."))
        hosting.remove_data_file(data_file=wanted, user=person(visit.user))
        messages.success(request, _("“%(name)s” is removed.") % {"name": wanted})
        return see_other("host_data", slug=competition.slug)
    form = DataFileForm(posted(request), request.FILES or None)
    status = 200 if request.method != "POST" else 422
    try:
        refuse_too_large(request)
        if request.method == "POST" and form.is_valid():
            file, words = form.cleaned_data["file"], form.cleaned_data["description"]
            added = hosting.add_data_file(
                competition=competition,
                file_name=file.name,
                chunks=file.chunks(),
                description=words,
                user=person(visit.user),
            )
            messages.success(request, _("“%(name)s” is there for students.") % {"name": added})
            return see_other("host_data", slug=competition.slug)
    except (hosting.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    context = {"visit": visit, "form": form, "files": competition.data_files.all()}
    return render(request, "hosts/host_data.html", context, status=status)


@open_to(Audience.ASSISTANTS)
def host_submissions(request: HttpRequest, visit: Visit) -> HttpResponse:
    status, text = request.GET.get("status", ""), request.GET.get("q", "").strip()[:60]
    found = _with_scores(visit.competition, files_of(visit.competition, status, text))
    asides = ranking.asides_of(visit.competition.ground_truth)
    page = Paginator(found.order_by("-received_at", "pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "visit": visit,
        "page": page,
        "rows": [_row(submission, asides) for submission in page],
        "status": status,
        "q": text,
        "statuses": Submission.Status.choices,
    }
    return render(request, "hosts/host_submissions.html", context)


@open_to(Audience.ASSISTANTS)
def host_submission_file(request: HttpRequest, visit: Visit, submission_id: UUID) -> HttpResponseBase:
    submission = visit.competition.submissions.filter(pk=submission_id).first()
    if submission is None:
        raise Http404(_("This competition has no such submission."))
    return as_download(submission.file_key, submission.file_name)


@open_to(Audience.HOSTS)
def host_baselines(request: HttpRequest, visit: Visit) -> HttpResponse:
    competition = visit.competition
    if request.POST.get("action") == "remove":
        wanted = get_object_or_404(competition.baselines, name=request.POST.get("name", ""))
        if not is_meant(request):
            return ask_first(request, visit, str(wanted), _("It leaves the board, with its file and its scores."))
        hosting.remove_baseline(baseline=wanted, user=person(visit.user))
        messages.success(request, _("“%(name)s” is removed from the board.") % {"name": wanted})
        return see_other("host_baselines", slug=competition.slug)
    form = BaselineForm(posted(request), request.FILES or None)
    status = 200 if request.method != "POST" else 422
    try:
        refuse_too_large(request)
        if request.method == "POST" and form.is_valid():
            _add_baseline(visit, form)
            messages.success(request, _("The baseline is being scored."))
            return see_other("host_baselines", slug=competition.slug)
    except (hosting.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    # Named from the few baselines on, because all files are many.
    files = Submission.objects.filter(baseline__in=competition.baselines.order_by().values("pk"))
    found = _with_scores(competition, files)
    asides = ranking.asides_of(competition.ground_truth)
    rows = [_row(submission, asides) for submission in found.order_by("baseline__name")]
    context = {"visit": visit, "form": form, "rows": rows}
    return render(request, "hosts/host_baselines.html", context, status=status)


@open_to(Audience.ASSISTANTS)
def host_board_csv(request: HttpRequest, visit: Visit) -> HttpResponse:
    """A board as a file, exact whatever students see; the private one before the reveal as it would be revealed now."""
    split = Split.PRIVATE if request.GET.get("board") == "private" else Split.PUBLIC
    text = hosting.board_csv(visit.competition, split, is_exact=True)
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{visit.competition.slug}-{split}.csv"'
    return response


@open_to(Audience.HOSTS)
def host_reveal(request: HttpRequest, visit: Visit) -> HttpResponse:
    form = SlugForm(visit.competition.slug, posted(request))
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        try:
            hosting.reveal(competition=visit.competition, user=person(visit.user))
        except hosting.CannotHost as error:
            status = add_refusal(form, error)
        else:
            messages.success(request, _("The private board is open."))
            return see_other("leaderboard", slug=visit.competition.slug)
    has_choice = visit.state == "closed" and visit.last_deadline <= visit.at
    review = hosting.review(visit.competition, kept(visit.competition)) if has_choice else None
    context = {"visit": visit, "form": form, "review": review}
    return render(request, "hosts/host_reveal.html", context, status=status)


def _add_baseline(visit: Visit, form: BaselineForm) -> None:
    file = form.cleaned_data["file"]
    hosting.add_baseline(
        competition=visit.competition,
        user=person(visit.user),
        name=form.cleaned_data["name"],
        file_name=file.name,
        chunks=file.chunks(),
    )


def files_of(competition: Competition, status: str, text: str) -> QuerySet[Submission]:
    """Files of teams with a status, where it is one, of teams and people with a text in their name."""
    found = competition.submissions.filter(team__isnull=False)
    if status in Submission.Status.values:
        found = found.filter(status=status)
    if text:
        found = found.filter(Q(team__name__icontains=text) | Q(user__in=people_called(competition, text)))
    return found


def _with_scores(competition: Competition, submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """With people and the scores under the board's ground truth."""
    scores = Score.objects.filter(ground_truth=competition.ground_truth_id)
    known = submissions.select_related("team", "baseline", "user").annotate(listed_as=name_on_roster())
    return known.prefetch_related(Prefetch("scores", queryset=scores, to_attr="now"))


def _row(submission: Submission, asides: Sequence[ranking.Aside]) -> dict[str, Any]:
    scores: dict[str, Score] = {score.split: score for score in submission.now}  # type: ignore[attr-defined]
    public, private = scores.get(Split.PUBLIC), scores.get(Split.PRIVATE)
    its, other = public.parts if public else {}, private.parts if private else {}
    parts = [(name, value, other.get(name)) for name, value in its.items()]
    told = [ranking.told(asides, score.secondary, None) if score else () for score in (public, private)]
    return {
        "beside": list(zip_longest(asides, *told)) if public else [],
        "submission": submission,
        "public": public.value if public else None,
        "private": private.value if private else None,
        "parts": parts,
    }
