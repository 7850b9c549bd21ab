"""Files of a competition, and looking at a submission without handing it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from ninja import File, Form, Status
from ninja.files import UploadedFile

from leaderboard.common.clock import database_now
from leaderboard.common.responses import as_download
from leaderboard.common.storage import TooLarge
from leaderboard.scorer.job_slots import JobFailed

from ..access import PageContext
from ..models import Competition, DataFile
from ..services import competitions, data_files, publishing, submitting
from .answers import visible_competition
from .base import Scope, Token, api, declared_answers, file_answer, token_owner
from .errors import ApiError
from .schemas import CheckedOut, FileListOut, FileOut, ProblemOut
from .student import refusal_error

SAMPLE = "sample_submission.csv"
Found = TypeVar("Found")


@api.get(
    "competitions/{slug:slug}/files",
    response=declared_answers(404, s200=FileListOut),
    operation_id="list_files",
    url_name="api_files",
)
def list_files(request: HttpRequest, slug: str) -> FileListOut:
    """The data files, for who accepted the rules; the sample submission, which the site makes, comes first."""
    page_context = _check_data_access(request, slug)
    found = [file_out(file) for file in page_context.competition.data_files.all()]
    if page_context.competition.ground_truth is not None and all(file.name != SAMPLE for file in found):
        words = _("A valid submission that knows nothing.")
        found.insert(0, FileOut(name=SAMPLE, description=words, size=None, sha256=None, rows=None))
    return FileListOut(items=found)


@api.get(
    "competitions/{slug:slug}/files/{str:name}",
    response=declared_answers(404, 503),
    openapi_extra=file_answer("application/octet-stream"),
    operation_id="download_file",
    url_name="api_file",
)
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
    except JobFailed as error:
        raise ApiError(503, _("The sample submission could not be made. Please tell your host.")) from error


@api.post(
    "competitions/{slug:slug}/files",
    response=declared_answers(400, 404, 409, 413, 422, s201=FileOut),
    auth=Token(Scope.HOST),
    operation_id="add_file",
    url_name="api_files",
)
def add_file(
    request: HttpRequest,
    slug: str,
    file: Annotated[UploadedFile, File(description="The same name again replaces the file.")],
    description: Annotated[str, Form(max_length=300)] = "",
) -> Status[FileOut]:
    """For hosts: give students a file. One that holds the answers of the ground truth is refused."""
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


@api.post(
    "competitions/{slug:slug}/check",
    response=declared_answers(400, 404, 409, 413, 422, 503, s200=CheckedOut),
    auth=Token(Scope.SUBMIT),
    operation_id="check_file",
    url_name="api_check",
)
def check_file(
    request: HttpRequest,
    slug: str,
    file: Annotated[UploadedFile, File(description="CSV, plain or as .gz or .zip.")],
) -> CheckedOut:
    """All problems of a file. Nothing is stored, no attempt is used, and no score is reported."""
    user = token_owner(request)
    competition = visible_competition(user, slug)
    try:
        found = submitting.check_file_with_conditions(competition=competition, user=user, chunks=file.chunks())
    except submitting.SubmissionRefused as refused:
        raise refusal_error(refused) from refused
    except TooLarge as error:
        raise ApiError(413, str(error)) from error
    except JobFailed as error:
        raise ApiError(503, _("The file could not be checked at this moment. Try again in a minute.")) from error
    errors, warnings = ([ProblemOut.model_validate(one) for one in some] for some in found)
    return CheckedOut(is_valid=not errors, errors=errors, warnings=warnings)


# --- shared with what hosts do ----------------------------------------------------------------------------------


def hosted_competition(request: HttpRequest, slug: str) -> Competition:
    """A competition that the token's owner hosts; it does not exist for anybody else."""
    competition = Competition.objects.select_related("ground_truth", "candidate").filter(slug=slug).first()
    if competition is None or not competition.is_hosted_by(token_owner(request)):
        raise Http404(_("You host no competition of this name."))
    return competition


def call_host_service(verb: Callable[[], Found]) -> Found:
    """What a host's verb gives; what it refuses becomes an answer with a line for each reason."""
    try:
        return verb()
    except competitions.CannotHost as error:
        problems = [{"code": "refused", "message": line} for line in error.details or [error.message]]
        raise ApiError(409, error.message, problems) from error
    except TooLarge as error:
        raise ApiError(413, str(error)) from error
    except JobFailed as error:
        raise ApiError(409, _("The check itself broke; it has been logged. Try again, or ask the operator.")) from error


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
        code, words = "not_open", _("The files come when the competition opens.")
    else:
        code, words = "rules", _("Accept the rules first; the page of the competition shows them.")
    raise ApiError(403, words, [{"code": code, "message": words}])
