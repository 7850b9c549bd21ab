"""API endpoints for hosts: import, data files, ground truths, launch, corrections, scoring files again, downloads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from ninja import File, Form, Query, Status
from ninja.files import UploadedFile

import metrics
from leaderboard.common.clock import database_now
from leaderboard.common.queries import only_row
from leaderboard.common.responses import csv_download, zip_download
from leaderboard.common.storage import TooLarge
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import Competition, GroundTruth, TruthDraft
from leaderboard.grades import files
from leaderboard.grades import queries as grade_queries
from leaderboard.ground_truths.queries import preview_candidate
from leaderboard.ground_truths.services import data_files, drafts, folders, publishing, rescoring
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.scoring.client import JobFailed
from leaderboard.submissions import scoring_again

from .answers import competition_summary, visible_competition, visible_competition_with_counts
from .base import ApiError, Scope, operation, token_owner
from .schemas import (
    CompetitionSummaryOut,
    CreatedCompetitionOut,
    FileOut,
    GradeKind,
    GroundTruthOut,
    MoveOut,
    RescoringOut,
    ScoredAgainOut,
    TruthOut,
)
from .student import file_out

Found = TypeVar("Found")
LongText = Annotated[str, Form(max_length=2000)]
StatusWithoutScore = Literal["failed", "invalid"]


def hosted_competition(request: HttpRequest, slug: str) -> Competition:
    """A competition that the token's owner hosts. Raises `Http404` for everybody else."""
    competition = only_row(Competition.objects.select_related("ground_truth", "candidate").filter(slug=slug))
    if competition is None or not competition.is_hosted_by(token_owner(request)):
        raise Http404(_("You don't host a competition with this name."))
    return competition


def call_host_service(verb: Callable[[], Found]) -> Found:
    """Call a host's service; its refusals and failures become `ApiError` with a problem for each reason."""
    try:
        return verb()
    except competitions.CannotHost as error:
        problems = [{"code": "refused", "message": line} for line in error.details or [error.message]]
        raise ApiError(409, error.message, problems) from error
    except TooLarge as error:
        raise ApiError(413, str(error)) from error
    except JobFailed as error:
        raise ApiError(409, _("The check failed and was logged. Try again, or ask your administrator.")) from error


@operation(
    "POST", "competitions", "competitions", CreatedCompetitionOut, statuses=(201,), scope=Scope.HOST, by_worker=True
)
def create_competition(
    request: HttpRequest,
    file: Annotated[UploadedFile, File(description="A zip of a folder with competition.toml, as an export writes it.")],
) -> Status[CreatedCompetitionOut]:
    """For hosts: make a draft from a zipped folder. Nothing is stored if it cannot be imported completely."""
    user = token_owner(request)
    if not user.is_host:
        raise ApiError(403, _("Ask your administrator for permission to host competitions."))
    found = call_host_service(lambda: folders.import_zip(chunks=file.chunks(), user=user))
    findings = found.ground_truth.findings if found.ground_truth else []
    made = {"slug": found.slug, "title": found.title, "join_code": found.admission.join_code, "findings": findings}
    return Status(201, CreatedCompetitionOut.model_validate(made))


@operation(
    "POST", "competitions/{slug:slug}/files", "files", FileOut, statuses=(201,), scope=Scope.HOST, by_worker=True
)
def add_file(
    request: HttpRequest,
    slug: str,
    file: Annotated[UploadedFile, File(description="The same name again replaces the file.")],
    description: Annotated[str, Form(max_length=300)] = "",
) -> Status[FileOut]:
    """For hosts: add a file for students. A file that contains answers of the ground truth is refused."""
    competition = hosted_competition(request, slug)
    added = call_host_service(
        lambda: data_files.add_data_file(
            competition=competition,
            file_name=file.name or "",
            chunks=file.chunks(),
            description=description.replace("\0", ""),
            user=token_owner(request),
        )
    )
    return Status(201, file_out(added))


@operation("POST", "competitions/{slug:slug}/truth", "truth", TruthOut, scope=Scope.HOST, by_worker=True)
def check_truth(
    request: HttpRequest,
    slug: str,
    file: Annotated[UploadedFile, File(description="The answers, with or without a column Usage.")],
    metric: Annotated[str, Form(max_length=100, description="As now, or what fits best, where it is left out.")] = "",
    params: Annotated[str, Form(max_length=10_000, description="The metric's parameters, a JSON object.")] = "",
    id_column: Annotated[str, Form(max_length=200)] = "",
    public_share: Annotated[float, Form(gt=0, lt=1, description="Of the rows, where the file has no Usage.")] = 0.3,
    seed: Annotated[int, Form(ge=0, lt=2**31)] = 0,
    group_column: Annotated[str, Form(max_length=200, description="Rows of one group stay together.")] = "",
    as_meant: Annotated[bool, Form(description="Read a spreadsheet's file as it was meant.")] = False,
) -> TruthOut:
    """For hosts: store a ground-truth file as the draft and return all findings. Nothing is published yet."""
    competition = hosted_competition(request, slug)
    spec = replace(
        _requested_metric(competition.ground_truth, metric, params),
        file_name=file.name or "",
        chunks=file.chunks(),
        converts_spreadsheet=as_meant,
        public_share=public_share,
        seed=seed,
        id_column=id_column.replace("\0", ""),
        group_column=group_column.replace("\0", ""),
    )
    try:
        draft = call_host_service(lambda: drafts.save_draft(competition=competition, spec=spec))
    except metrics.UnknownMetric as error:
        raise ApiError(422, str(error), [{"code": "metric", "message": str(error), "column": "metric"}]) from error
    except metrics.ParameterError as error:
        problems = [{"code": "params", "message": words, "column": name} for name, words in error.errors.items()]
        raise ApiError(422, _("These parameters can't be used."), problems) from error
    return _truth_out(draft)


@operation(
    "POST",
    "competitions/{slug:slug}/truth/publish",
    "truth_publish",
    GroundTruthOut,
    statuses=(201,),
    scope=Scope.HOST,
    by_worker=True,
)
def publish_truth(
    request: HttpRequest,
    slug: str,
    note: LongText = "",
    is_confirmed: Annotated[bool, Form(description="Yes to the question that a metric may ask.")] = False,
) -> Status[GroundTruthOut]:
    """For hosts: publish the draft as the next ground truth. After the launch it waits for “apply_rescoring”."""
    competition = hosted_competition(request, slug)
    words = note.replace("\0", "")
    ground_truth = call_host_service(
        lambda: publishing.publish_draft(
            competition=competition, user=token_owner(request), note=words, is_confirmed=is_confirmed
        )
    )
    return Status(201, _ground_truth_out(competition, ground_truth))


@operation("POST", "competitions/{slug:slug}/launch", "launch", CompetitionSummaryOut, scope=Scope.HOST)
def launch(request: HttpRequest, slug: str) -> CompetitionSummaryOut:
    """For hosts: launch the competition. A refusal names everything that is missing."""
    competition = hosted_competition(request, slug)
    call_host_service(lambda: publishing.launch_competition(competition=competition, user=token_owner(request)))
    return CompetitionSummaryOut(
        **competition_summary(visible_competition_with_counts(token_owner(request), slug), database_now())
    )


@operation("GET", "competitions/{slug:slug}/rescoring", "rescoring", RescoringOut, scope=Scope.HOST)
def read_rescoring(request: HttpRequest, slug: str) -> RescoringOut:
    """For hosts: the progress of scoring with the waiting ground truth, and then the teams that would move."""
    found = preview_candidate(hosted_competition(request, slug))
    if found is None:
        raise Http404(_("There is no pending correction."))
    names = ("total", "done", "waiting", "refused", "affected")
    moves = [
        MoveOut(
            team=move.team.name,
            rank_now=move.rank_now,
            rank_then=move.rank_then,
            score_now=move.value_now,
            score_then=move.value_then,
        )
        for move in found.moves
    ]
    counts = {name: getattr(found, name) for name in names}
    return RescoringOut(ground_truth=found.ground_truth.number, moves=moves, **counts)


@operation("POST", "competitions/{slug:slug}/rescoring/apply", "rescoring_apply", GroundTruthOut, scope=Scope.HOST)
def apply_rescoring(
    request: HttpRequest,
    slug: str,
    message: LongText = "",
    notifies: Annotated[bool, Form(description="Tell those whose scores or ranks change.")] = False,
) -> GroundTruthOut:
    """For hosts: make the waiting ground truth the current one. Times of receipt do not change."""
    competition = hosted_competition(request, slug)
    text = message.replace("\0", "")
    notified = call_host_service(
        lambda: rescoring.apply_candidate(
            competition=competition, user=token_owner(request), message=text, notifies=notifies
        )
    )
    return _ground_truth_out(competition, competition.ground_truth, notified)


@operation("POST", "competitions/{slug:slug}/rescoring/discard", "rescoring_discard", GroundTruthOut, scope=Scope.HOST)
def discard_rescoring(request: HttpRequest, slug: str) -> GroundTruthOut:
    """For hosts: discard the waiting ground truth; the current one stays."""
    competition = hosted_competition(request, slug)
    if competition.candidate is None:
        raise ApiError(409, _("There is no pending correction."))
    rescoring.discard_candidate(competition=competition, user=token_owner(request))
    return _ground_truth_out(competition, competition.ground_truth)


@operation("POST", "competitions/{slug:slug}/submissions/again", "again", ScoredAgainOut, scope=Scope.HOST)
def score_again(
    request: HttpRequest,
    slug: str,
    submissions: Annotated[list[UUID], Form(max_length=scoring_again.MAX_AT_ONCE, description="These alone.")] = [],  # noqa: B006
    status: Annotated[
        StatusWithoutScore | None, Form(description="All with this status, among these where some are named.")
    ] = None,
) -> ScoredAgainOut:
    """For hosts and assistants: score files that failed or were invalid again, at most 500 at once, oldest first."""
    user = token_owner(request)
    page_context = PageContext(visible_competition(user, slug), user, database_now())
    if not page_context.assists:
        raise Http404(_("You don't run a competition with this name."))
    if not submissions and status is None:
        words = _("Name submissions, or give a status.")
        raise ApiError(422, words, [{"code": "status", "message": words, "column": "status"}])
    found = page_context.competition.submissions.all()
    found = found.filter(pk__in=submissions) if submissions else found
    found = found.filter(status=status) if status else found
    done = call_host_service(
        lambda: scoring_again.score_again(competition=page_context.competition, user=user, files=found)
    )
    return ScoredAgainOut(number=done)


# --- helpers ----------------------------------------------------------------------------------------------------


def _requested_metric(current: GroundTruth | None, metric: str, params: str) -> GroundTruthSpec:
    """Metric, parameters and secondary metrics as requested, else of the current ground truth. Raises `ApiError`."""
    try:
        requested = json.loads(params or "{}")
    except (ValueError, RecursionError):
        requested = None
    if not isinstance(requested, dict):
        words = _("“params” must be a JSON object.")
        raise ApiError(422, words, [{"code": "params", "message": words, "column": "params"}])
    spec = GroundTruthSpec.from_truth(current)
    if current and metric in ("", current.metric):
        return replace(spec, params={**current.params, **requested})
    return replace(spec, metric=metric.replace("\0", ""), params=requested)


def _truth_out(draft: TruthDraft) -> TruthOut:
    changes = [change["message"] for change in draft.report["as_meant"]]
    facts = {"is_good": draft.report["ok"], "metric": draft.metric, "params": draft.params, "as_meant": changes}
    return TruthOut.model_validate({**draft.report, **facts})


def _ground_truth_out(competition: Competition, ground_truth: GroundTruth | None, notified: int = 0) -> GroundTruthOut:
    assert ground_truth is not None
    becomes: Literal["current", "candidate"] = "candidate" if competition.candidate_id == ground_truth.pk else "current"
    names = ("number", "metric", "params", "rows", "public_rows", "private_rows", "ignored_rows", "note")
    return GroundTruthOut(becomes=becomes, notified=notified, **{name: getattr(ground_truth, name) for name in names})


@operation("GET", "competitions/{slug:slug}/grades", "grades", scope=Scope.HOST, file_type="text/csv")
def export_grades(
    request: HttpRequest,
    slug: str,
    kind: Annotated[GradeKind, Query(description="For which learning platform.")] = "plain",
) -> HttpResponse:
    """For people who may export grades: everybody's grade as CSV, by the saved rules."""
    user = token_owner(request)
    page_context = PageContext(visible_competition(user, slug), user, database_now())
    if not page_context.grades:
        raise Http404(_("You don't host a competition with this name."))
    sheet = grade_queries.grade_sheet(page_context.competition, at=page_context.at)
    data = call_host_service(lambda: files.grade_file(page_context.competition, sheet, kind))
    return csv_download(data, f"{slug}-grades-{kind}")


@operation("GET", "competitions/{slug:slug}/export", "export", scope=Scope.HOST, file_type="application/zip")
def export_competition(request: HttpRequest, slug: str) -> HttpResponseBase:
    """For hosts: the competition as a zip of a folder, which makes a draft of it on any site. It holds the answers."""
    competition = hosted_competition(request, slug)
    return zip_download(f"{slug}.zip", lambda archive: folders.write_folder(archive, competition))
