"""Students' pages of their submissions: list, single files with download and problems, finals, rescorings."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.boards import ranking, reveal, team_ranks
from leaderboard.common import charts
from leaderboard.common.clock import time_since_arrival
from leaderboard.common.responses import as_download, see_other, spreadsheet_download
from leaderboard.common.storage import TooLarge
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import problems_csv
from leaderboard.competitions.models import (
    Attachment,
    CandidateProblem,
    GroundTruth,
    Rescoring,
    Score,
    Submission,
    Team,
)
from leaderboard.competitions.models.competition import Split

from .. import allowances, attachments, services, submit_conditions
from ..forms import AttachmentForm, NoteForm
from ..queries import own_submission, shown_scores_of
from ..submission_progress import conversion_offered

PAGE = 50
MAX_RESCORED_SHOWN = 100
TABS = (
    ("all", gettext_lazy("All")),
    ("scored", gettext_lazy("Scored")),
    ("invalid", gettext_lazy("Invalid")),
    ("finals", gettext_lazy("Finals")),
)


@open_to(Audience.MEMBERS)
def submissions(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _submissions_page(request, page_context, request.GET.get("show", "all"))


def _submissions_page(
    request: HttpRequest,
    page_context: PageContext,
    show: str,
    *,
    refused: tuple[UUID, AttachmentForm] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The list. `refused`: a submission and the form whose file could not be attached to it."""
    team = page_context.membership.team if page_context.membership else None
    mine = Submission.objects.filter(team=team).select_related("user") if team else Submission.objects.none()
    finals = _finals_context(page_context, mine)
    selected = finals["selected"]
    page = Paginator(_filter_submissions(mine, show, {*finals["picks"], *selected}), PAGE).get_page(
        request.GET.get("page")
    )
    files = list(page.object_list)
    scores = shown_scores_of(page_context, files)
    # Ticks that could not be saved are shown again.
    ticked = {pk for pk in request.GET.getlist("tick") if _is_uuid(pk)} or selected
    rows = [
        {
            "submission": file,
            "scores": scores[file.pk],
            "is_picked": str(file.pk) in finals["picks"],
            "is_ticked": str(file.pk) in ticked,
        }
        for file in files
    ]
    context = {
        "page_context": page_context,
        "show": show if show in dict(TABS) else "all",
        "tabs": TABS,
        "page": page,
        "rows": rows,
        **finals,
        **_attachments_context(page_context, mine, refused),
        # Selected files on other pages are posted as hidden fields, so that saving this page keeps them.
        "selected_elsewhere": sorted(ticked - {str(file.pk) for file in files}),
        "sees_private": page_context.sees_private,
        "offers_picks": any(file.status == "scored" and not file.is_late and not file.hidden_at for file in files),
        "chart": _history_chart(page_context, rows),
        "allowance": _allowance_today(page_context),
    }
    return render(request, "submissions/submissions.html", context, status=status)


def _attachments_context(
    page_context: PageContext, mine: QuerySet[Submission], refused: tuple[UUID, AttachmentForm] | None
) -> dict[str, Any]:
    """Context about attachments: each final submission with its form, while there is time; {} where none are taken."""
    competition, membership = page_context.competition, page_context.membership
    if membership is None or not attachments.takes_attachments(competition):
        return {}
    closes_at = attachments.attachments_close_at(competition, page_context.closes_at)
    is_open = page_context.at < closes_at and not page_context.is_disqualified
    finals = attachments.finals_of_teams(competition, membership.team).get(membership.team_id, set())
    forms = {pk: AttachmentForm(auto_id=f"{str(pk)[:8]}_%s") for pk in finals if is_open}
    forms |= dict([refused] if refused else [])
    files = mine.select_related("attachment__by").filter(pk__in=[*finals, *forms]).order_by("-received_at")
    rows = [(file, getattr(file, "attachment", None), forms.get(file.pk)) for file in files]
    return {
        "attachment_rows": rows,
        "attachments_close_at": closes_at,
        "attachments_are_open": is_open,
        "attachments_required": attachments.requires_attachment(competition),
        "has_attached": any(attachment for _file, attachment, _form in rows),
    }


def _allowance_today(page_context: PageContext) -> allowances.AttemptAllowance | None:
    """The team's attempts; None where it cannot submit ranked files now."""
    if page_context.membership is None or page_context.is_disqualified or page_context.state != "live":
        return None
    team = page_context.membership.team_id
    return allowances.allowances_of_teams({team: page_context.competition}, page_context.at)[team]


def _finals_context(page_context: PageContext, mine: QuerySet[Submission]) -> dict[str, Any]:
    """Context about final submissions.

    `picks`: the deciding files, selected by the team or picked by the system; `unpicked`: a better file that the team
    can still select; `hindsight`: after the reveal, the file that it should have selected.
    """
    membership, ground_truth = page_context.membership, page_context.competition.ground_truth
    can_pick = membership is not None and page_context.at < page_context.closes_at
    deciding, unpicked, missed = [], None, None
    if membership is not None and ground_truth is not None:
        team = membership.team
        deciding = ranking.final_submissions(ground_truth, team=team).get(team.pk, [])
        if can_pick:
            unpicked = reveal.unpicked_better_files(ground_truth, {team.pk: deciding}).get(team.pk)
        if page_context.competition.is_revealed(page_context.at):
            missed = reveal.best_possible_final(team, ground_truth)
    # Submission → whether the system picked it. The system picks by public scores, so on a hidden board only files
    # selected by the team are shown.
    picks = {
        str(best.submission_id): best.is_picked_by_system
        for best in deciding
        if page_context.sees_public or not best.is_picked_by_system
    }
    if can_pick or page_context.is_disqualified:
        # Selections of a disqualified team are kept although they decide nothing. Hidden files are left out.
        marked = mine.filter(is_selected=True, hidden_at=None)
        selected = {str(pk) for pk in marked.values_list("pk", flat=True)}
    else:
        selected = {pk for pk, is_by_system in picks.items() if not is_by_system}
    return {
        "can_pick": can_pick,
        "picks": picks,
        "selected": selected,
        "unpicked": unpicked,
        "hindsight": missed if missed and not missed.picked_the_best else None,
    }


def _filter_submissions(mine: QuerySet[Submission], show: str, picks: set[str]) -> QuerySet[Submission]:
    if show == "scored":
        return mine.filter(status=Submission.Status.SCORED)
    if show == "invalid":
        return mine.filter(status__in=[Submission.Status.INVALID, Submission.Status.FAILED])
    if show == "finals":
        return mine.filter(pk__in=list(picks))
    return mine


def _history_chart(page_context: PageContext, rows: list[dict[str, Any]]) -> SafeString:
    """Chart of the public scores of the ranked files in these rows over time; an empty chart on a hidden board."""
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None:
        return SafeString()
    ranked = [row for row in rows if not (row["submission"].is_late or row["submission"].hidden_at)]
    points = [(row["submission"].received_at, row["scores"].public.value) for row in ranked if row["scores"].public]
    return charts.draw_history(
        sorted(points),
        sign=ground_truth.sort_sign,
        axis=ground_truth.metric_title,
        decimals=page_context.competition.score_decimals,
    )


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


@open_to(Audience.MEMBERS)
def submission(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    """One submission with all facts about its score; POST saves its note."""
    file = own_submission(page_context, submission_id)
    is_own = page_context.membership is not None and page_context.membership.team_id == file.team_id
    form = NoteForm(request.POST if request.method == "POST" else None, initial={"note": file.note})
    if request.method == "POST":
        if not is_own:
            raise Http404(_("You have no submission with this number."))
        if form.is_valid():
            services.save_note(submission=file, note=form.cleaned_data["note"])
            messages.success(request, _("Note saved."))
            return see_other("submission", slug=page_context.competition.slug, submission_id=file.pk)
    ground_truth = page_context.competition.ground_truth
    shown = shown_scores_of(page_context, [file])[file.pk]
    scores = Score.objects.filter(submission=file, ground_truth=ground_truth)
    context = {
        "page_context": page_context,
        "submission": file,
        "is_being_scored": file.is_being_scored(page_context.at),
        "note_form": form if is_own else None,
        "scores": shown,
        # With all digits, for comparison with the home scorer.
        "full": {score.split: repr(score.value) for score in (shown.public, shown.private) if score},
        "conversion": conversion_offered(page_context, file),
        "ground_truth": ground_truth,
        "metric_version": scores.values_list("metric_version", flat=True).first(),
        "refusal": CandidateProblem.objects.filter(submission=file, ground_truth=ground_truth).first(),
    }
    return render(request, "submissions/submission.html", context, status=422 if form.errors else 200)


@open_to(Audience.MEMBERS)
def submission_file(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponseBase:
    file = own_submission(page_context, submission_id)
    return as_download(file.file_key, file.file_name)


@open_to(Audience.MEMBERS)
def submission_attachment(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponseBase:
    """GET: the file that is attached to a submission. POST: attach one to a submission of the viewer's team."""
    file = own_submission(page_context, submission_id)
    if request.method != "POST":
        attachment = Attachment.objects.filter(submission=file).first()
        if attachment is None:
            raise Http404(_("Nothing is attached to this submission."))
        return as_download(attachment.file_key, attachment.file_name)
    if page_context.membership is None or page_context.membership.team_id != file.team_id:
        raise Http404(_("You have no submission with this number."))
    form, status = AttachmentForm(request.POST, request.FILES, auto_id=f"{str(file.pk)[:8]}_%s"), 422
    try:
        if form.is_valid():
            upload = form.cleaned_data["file"]
            attachments.attach_file(
                submission=file,
                user=page_context.account,
                file_name=upload.name,
                chunks=upload.chunks(),
                declared=form.cleaned_data["declared"],
                waited=time_since_arrival(request),
            )
            messages.success(request, _("Attached to “%(file)s”.") % {"file": file.file_name})
            return see_other("finals", fragment="#attachments", slug=page_context.competition.slug)
    except submit_conditions.SubmissionRefused as refusal:
        form.add_error("file", refusal.message)
        status = 409
    except TooLarge as error:
        form.add_error("file", str(error))
        status = 413
    return _submissions_page(request, page_context, "finals", refused=(file.pk, form), status=status)


@open_to(Audience.MEMBERS)
def submission_problems(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    file = own_submission(page_context, submission_id)
    return spreadsheet_download(problems_csv(file.problems), f"problems-{str(file.pk)[:8]}")


@open_to(Audience.MEMBERS)
def finals(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the deciding files. POST: select final submissions."""
    if request.method != "POST":
        return _submissions_page(request, page_context, "finals")
    chosen = [pk for pk in request.POST.getlist("final") if _is_uuid(pk)]
    try:
        services.select_finals(
            competition=page_context.competition,
            user=page_context.account,
            submission_ids=chosen,
            at=page_context.at,
        )
    except submit_conditions.SubmissionRefused as refusal:
        messages.error(request, _("%(message)s Nothing changed.") % {"message": refusal.message})
        ticks = urlencode([("show", "scored"), *(("tick", pk) for pk in chosen)])
        return see_other("submissions", query=f"?{ticks}", slug=page_context.competition.slug)
    else:
        message = (
            _("Your final submissions are saved.")
            if chosen
            else _("You chose none, so your best public submissions will be used.")
        )
        messages.success(request, message)
    return see_other("finals", slug=page_context.competition.slug)


@open_to(Audience.MEMBERS)
def rescored(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Rescorings of the team's files: the last one with scores before and after, earlier ones with messages only."""
    rescorings = list(page_context.competition.rescorings.select_related("before", "after")[:20])
    last = rescorings[0] if rescorings else None
    splits = [Split.PUBLIC, Split.PRIVATE] if page_context.state == "revealed" else [Split.PUBLIC]
    context: dict[str, Any] = {"page_context": page_context, "last": last, "earlier": rescorings[1:], "splits": splits}
    if last is not None and page_context.membership is not None:
        team = page_context.membership.team
        for ground_truth in (last.before, last.after):
            ground_truth.competition = page_context.competition
        context["lines"] = _rescored_files(page_context, team, last, splits)
        # Standings of the earlier ground truth are kept as they were at the switch.
        context["ranks"] = [
            team_ranks.placing_of(team.pk, ground_truth, splits[-1]) for ground_truth in (last.before, last.after)
        ]
    return render(request, "submissions/rescored.html", context)


def _rescored_files(
    page_context: PageContext, team: Team, last: Rescoring, splits: list[Split]
) -> list[dict[str, Any]]:
    """Each scored file with its scores before and after, on these splits."""
    scored = Submission.objects.filter(team=team, status=Submission.Status.SCORED, received_at__lt=last.applied_at)
    files = list(scored.order_by("-received_at")[:MAX_RESCORED_SHOWN])
    before, after = (
        _scores_under(page_context, team, ground_truth, splits) for ground_truth in (last.before, last.after)
    )
    problems = CandidateProblem.objects.filter(ground_truth=last.after, submission__in=files)
    refusals = {problem.submission_id: problem for problem in problems}
    return [
        {
            "submission": file,
            "pairs": [(before.get((str(file.pk), split)), after.get((str(file.pk), split))) for split in splits],
            "refusal": refusals.get(file.pk),
        }
        for file in files
    ]


def _scores_under(
    page_context: PageContext, team: Team, ground_truth: GroundTruth, splits: list[Split]
) -> dict[tuple[str, str], float]:
    """(submission, split) → score under a ground truth; {} if the viewer may not see scores."""
    if not page_context.sees_public:
        return {}
    files = Submission.objects.filter(team=team).order_by().values("pk")
    rows: Any = Score.objects.filter(ground_truth=ground_truth, submission__in=files, split__in=splits)
    return {(str(key), split): value for key, split, value in rows.values_list("submission_id", "split", "value")}
