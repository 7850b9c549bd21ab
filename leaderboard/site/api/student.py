"""API endpoints for visitors and students. Everything that the token's owner may not see is a 404."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import File, Form, Header, Query, Status
from ninja.files import UploadedFile

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.common.clock import database_now, time_since_arrival
from leaderboard.common.queries import only_row
from leaderboard.common.responses import as_download
from leaderboard.common.storage import TooLarge, sha256_of
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import Competition, DataFile, Membership, PageTask, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.services import publishing
from leaderboard.ground_truths.services.data_files import SAMPLE
from leaderboard.scoring.client import JobFailed
from leaderboard.submissions import allowances, converting, submit_conditions, submitting

from .answers import (
    competition_summary,
    find_submission,
    metric_out,
    paginate_items,
    secondary_metrics_out,
    submission_out,
    submission_without_scores,
    submissions_with_scores,
    visible_competition,
    visible_competition_with_counts,
    visible_competitions,
    visible_splits,
)
from .base import ApiError, Scope, answer_later, operation, task_response, token_owner
from .schemas import (
    AnswerOut,
    BoardPage,
    BoardRowOut,
    CompetitionOut,
    CompetitionPage,
    CompetitionSummaryOut,
    ConversionOut,
    FileListOut,
    FileOut,
    SubmissionOut,
    SubmissionPage,
)

REFUSAL_STATUSES = {
    "attempts": 429,
    "one_a_minute": 429,
    "not_joined": 403,
    "rules": 403,
    "disqualified": 403,
    "gone": 404,
}
BoardName = Annotated[Literal["public", "private"], Query(description="Public unless asked otherwise.")]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000, description="From 1; a page has at most 100 items.")]


# --- competitions -----------------------------------------------------------------------------------------------


@operation("GET", "competitions", "competitions", CompetitionPage)
def list_competitions(request: HttpRequest, page: PageNumber = 1) -> CompetitionPage:
    """The competitions you may open, newest first."""
    at = database_now()
    items, pages, total = paginate_items(visible_competitions(token_owner(request)), page)
    lines = [CompetitionSummaryOut(**competition_summary(competition, at)) for competition in items]
    return CompetitionPage(page=page, pages=pages, total=total, items=lines)


@operation("GET", "competitions/{slug:slug}", "competition", CompetitionOut)
def read_competition(request: HttpRequest, slug: str) -> CompetitionOut:
    """One competition: its texts, times, limits and metric."""
    user, at = token_owner(request), database_now()
    competition = visible_competition_with_counts(user, slug)
    memberships = Membership.objects.select_related("competition", "team")
    membership = only_row(memberships.filter(competition=competition, user=user))
    ground_truth = competition.ground_truth
    allowed = allowances.allowance_of(membership, at) if membership else None
    names, limits = ("overview", "rules", "contact", "zone"), competition.limits
    return CompetitionOut(
        **competition_summary(competition, at),
        **{name: getattr(competition, name) for name in names},
        daily_attempts=limits.daily_attempts,
        final_count=limits.final_count,
        team_size=limits.team_size,
        max_bytes=min(limits.max_bytes, settings.MAX_UPLOAD_BYTES),
        allows_late=limits.allows_late,
        revealed_at=competition.revealed_at,
        scored_by=metric_out(ground_truth) if ground_truth else None,
        secondary=secondary_metrics_out(ground_truth),
        submission_columns=list(ground_truth.submission_columns) if ground_truth else [],
        public_share=ground_truth.public_share if ground_truth else None,
        hides_scores=competition.board.hides_scores,
        attempts_left=allowed.left if allowed else None,
        team_closes_at=allowed.closes_at if allowed else None,
        paused_at=limits.paused_at,
        pause_reason=limits.pause_reason,
    )


@operation("GET", "competitions/{slug:slug}/leaderboard", "leaderboard", BoardPage)
def read_leaderboard(request: HttpRequest, slug: str, board: BoardName = "public", page: PageNumber = 1) -> BoardPage:
    """A page of a board in its order, with baselines between the teams. The private board opens with the reveal."""
    user, at = token_owner(request), database_now()
    competition = visible_competition_with_counts(user, slug)
    if board == "private" and not competition.private_is_visible_to(user, at):
        raise ApiError(403, "The private board opens after the deadline, when the host reveals it.")
    if competition.is_revealed(at) and not competition.public_is_visible_to(user, at):
        raise ApiError(403, "This board opens for you when your team is in the final ranking.")
    if competition.ground_truth is None:
        raise ApiError(409, "This competition has no ground truth yet, so nothing is scored.")
    found = boards.board_page(competition, Split(board), page=page, at=at)
    if page > found.pages:
        raise ApiError(404, f"This board has {found.pages} page(s).")
    own = Membership.objects.select_related("team").filter(competition=competition, user=user).first()
    rows = [
        BoardRowOut(
            rank=row.rank,
            team=own.team.name if own and own.team_id == row.team_id else row.name,
            is_baseline=row.is_baseline,
            score=row.value,
            secondary=[one.value for one in row.secondary],
            movement=row.movement,
            submissions=row.submission_count,
            received_at=row.received_at,
        )
        for row in found.rows
    ]
    return BoardPage(
        competition=slug,
        board=board,
        ground_truth=competition.ground_truth.number,
        page=page,
        pages=found.pages,
        total=found.total,
        items=rows,
    )


# --- submissions ------------------------------------------------------------------------------------------------


@operation(
    "POST", "competitions/{slug:slug}/submissions", "submissions", SubmissionOut, statuses=(201,), scope=Scope.SUBMIT
)
def submit(
    request: HttpRequest,
    slug: str,
    file: Annotated[UploadedFile, File(description="CSV (plain, .gz or .zip), Excel (.xlsx) or Parquet.")],
    note: Annotated[str, Form(max_length=300, description="For yourself; at most 300 characters.")] = "",
    may_repeat: Annotated[
        bool,
        Form(description="“false” refuses a file that your team submitted before, with 409 “same_bytes”."),
    ] = True,
    convert: Annotated[
        bool,
        Form(description="Read a file that a spreadsheet saved in its own way as the answer’s “conversion” says."),
    ] = False,
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=40,
            description="Sending the same file again under the same key gives the first submission.",
        ),
    ] = None,
) -> Status[SubmissionOut] | HttpResponse:
    """Submit a file. It is stored and queued; poll the submission until its status is no longer “pending”."""
    user = token_owner(request)
    # Members may see a launched competition, so no further query is needed for them.
    membership = submit_conditions.membership_in(slug, user)
    is_open = membership and membership.competition.launched_at and not membership.competition.is_in_bin
    competition = membership.competition if membership and is_open else visible_competition(user, slug)
    if len(request.FILES.getlist("file")) > 1:
        raise ApiError(422, "Send one file at a time.")
    try:
        submission = submitting.submit_file(
            competition=competition,
            user=user,
            file_name=file.name or "",
            chunks=file.chunks(),
            note=note.replace("\0", ""),
            upload_key=idempotency_key,
            may_repeat=may_repeat,
            membership=membership,
            waited=time_since_arrival(request),
        )
    except submit_conditions.SubmissionRefused as refused:
        raise refusal_error(refused, competition) from refused
    except TooLarge as error:
        raise ApiError(413, str(error)) from error
    if idempotency_key and submission.sha256 != sha256_of(file.chunks()):
        raise ApiError(409, "Another file was submitted with this Idempotency-Key.")
    if convert and (offer := converting.offer_conversion(submission)) and not offer.left:
        path = reverse("api_convert", kwargs={"submission_id": submission.pk})
        return answer_later(request, path=f"{path}?or_itself=true", is_of_student=True)
    if submission.status == Submission.Status.PENDING:
        return Status(201, submission_out(submission_without_scores(submission)))
    converting.request_preview(submission)
    mine = submissions_with_scores(user).filter(pk=submission.pk).first()
    if mine is None:
        raise ApiError(409, "This Idempotency-Key was used for a team that you have left.")
    return Status(201, _submission_out_for(mine, user))


@operation(
    "POST",
    "submissions/{uuid:submission_id}/convert",
    "convert",
    SubmissionOut,
    statuses=(201,),
    scope=Scope.SUBMIT,
    by_worker=True,
)
def convert_submission(
    request: HttpRequest,
    submission_id: UUID,
    or_itself: Annotated[
        bool, Query(description="Answer the submission itself, and not 409, where its file can't be converted.")
    ] = False,
) -> Status[SubmissionOut]:
    """Submit the converted file of a submission with a “conversion”, as a new submission."""
    user = token_owner(request)
    original = submissions_with_scores(user).filter(pk=submission_id, team__memberships__user=user).first()
    if original is None:
        raise Http404("No submission of this id is yours.")
    try:
        converted = _submit_converted(original, user, time_since_arrival(request))
    except ApiError as error:
        if not (or_itself and any(problem["code"] == "not_convertible" for problem in error.errors)):
            raise
        converted = original
    return Status(201, read_submission(request, converted.pk))


@operation("GET", "competitions/{slug:slug}/submissions", "submissions", SubmissionPage)
def list_submissions(request: HttpRequest, slug: str, page: PageNumber = 1) -> SubmissionPage:
    """Your team's submissions in a competition, newest first; for its hosts and assistants, everybody's."""
    user = token_owner(request)
    competition = visible_competition_with_counts(user, slug)
    if not (competition.is_member or competition.is_run_by(user)):
        raise Http404("You are not a member of this competition.")
    items, pages, total = paginate_items(submissions_with_scores(user).filter(competition=competition), page)
    at = database_now()
    splits = visible_splits(competition, user, at)
    found = [submission_out(item, splits) for item in items]
    return SubmissionPage(page=page, pages=pages, total=total, items=found)


@operation("GET", "submissions/{uuid:submission_id}", "submission", SubmissionOut)
def read_submission(request: HttpRequest, submission_id: UUID) -> SubmissionOut:
    """One submission: its status and scores, and every problem of a file that was not scored."""
    user = token_owner(request)
    submission = find_submission(user, submission_id)
    if submission is None:
        raise Http404("No submission of this id is open to you.")
    if submission.status == Submission.Status.PENDING:  # asked for often, so that a query is saved
        return submission_out(submission)
    return _submission_out_for(submission, user)


@operation("GET", "tasks/{uuid:task_id}", "task", AnswerOut, statuses=(200, 201))
def answer_of_task(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """The answer to a request that was answered with 202; 202 again until it is done."""
    task = PageTask.objects.filter(pk=task_id, user=token_owner(request), path__startswith="/api/").first()
    if task is None:
        raise Http404("No request of this id is yours.")
    return task_response(task)


# --- files --------------------------------------------------------------------------------------------------------


@operation("GET", "competitions/{slug:slug}/files", "files", FileListOut)
def list_files(request: HttpRequest, slug: str) -> FileListOut:
    """The data files, for members who accepted the rules. The sample submission, made by the site, comes first."""
    page_context = _check_data_access(request, slug)
    found = [file_out(file) for file in page_context.competition.data_files.all()]
    if page_context.competition.ground_truth is not None and all(file.name != SAMPLE for file in found):
        words = _("A valid file without predictions.")
        found.insert(0, FileOut(name=SAMPLE, description=words, size=None, sha256=None, rows=None))
    return FileListOut(items=found)


@operation("GET", "competitions/{slug:slug}/files/{str:name}", "file", file_type="application/octet-stream")
def download_file(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """One data file, byte by byte as the host gave it."""
    page_context = _check_data_access(request, slug)
    wanted = page_context.competition.data_files.filter(name=name.replace("\0", "")).first()
    if wanted is not None:
        return as_download(wanted.file_key, wanted.name)
    if name != SAMPLE or page_context.competition.ground_truth is None:
        raise Http404(_("This competition has no such file."))
    try:
        return HttpResponse(
            publishing.sample_submission_of(page_context.competition.ground_truth),
            content_type="application/octet-stream",
        )
    except FileNotFoundError as error:
        raise ApiError(503, _("We couldn't create the sample submission. Tell your host.")) from error


# --- helpers ----------------------------------------------------------------------------------------------------


def _submit_converted(submission: Submission, user: User, waited: timedelta) -> Submission:
    try:
        return converting.submit_converted(submission=submission, user=user, waited=waited)
    except submit_conditions.SubmissionRefused as refused:
        raise refusal_error(refused, submission.competition) from refused
    except JobFailed as error:
        raise ApiError(503, _("We couldn't convert the file. Try again in a minute.")) from error


def _submission_out_for(submission: Submission, user: User) -> SubmissionOut:
    """The schema of a submission with its conversion, which is computed for single submissions only."""
    found = submission_out(submission, visible_splits(submission.competition, user, database_now()))
    offer = converting.offer_conversion(submission)
    if offer and offer.changes:
        changes = [change["message"] for change in offer.changes]
        found.conversion = ConversionOut(changes=changes, before=offer.before, after=offer.after)
    return found


def refusal_error(refused: submit_conditions.SubmissionRefused, competition: Competition) -> ApiError:
    """The `ApiError` for a refused file: 429 to try again later, 403 for missing rights, 409 otherwise."""
    status = REFUSAL_STATUSES.get(refused.code, 409)
    headers = {}
    if refused.code == "one_a_minute":
        headers["Retry-After"] = str(submit_conditions.COOLDOWN_SECONDS)
    elif status == 429:
        now = database_now()
        midnight = competition.midnight(competition.day_of(now) + timedelta(days=1))
        headers["Retry-After"] = str(int((midnight - now).total_seconds()) + 1)
    return ApiError(status, refused.message, [{"code": refused.code, "message": refused.message}], headers)


def file_out(file: DataFile) -> FileOut:
    return FileOut(name=file.name, description=file.description, size=file.size, sha256=file.sha256, rows=file.rows)


def _check_data_access(request: HttpRequest, slug: str) -> PageContext:
    user = token_owner(request)
    page_context = PageContext(visible_competition(user, slug), user, database_now())
    if page_context.has_data:
        return page_context
    if page_context.membership is None:
        code, words = "not_joined", _("Join the competition first.")
    elif page_context.at < page_context.competition.opens_at:
        code, words = "not_open", _("You can download the files when the competition opens.")
    else:
        code, words = "rules", _("Accept the rules first. You'll find them on the competition's page.")
    raise ApiError(403, words, [{"code": code, "message": words}])
