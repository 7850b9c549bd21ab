"""API endpoints for hosts' downloads: the grades as CSV, the competition as a zip."""

from __future__ import annotations

from typing import Annotated

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from ninja import Query

from leaderboard.common.clock import database_now
from leaderboard.common.responses import streamed_zip
from leaderboard.competitions.access import PageContext
from leaderboard.grades import files, sheets
from leaderboard.ground_truths import folders

from .answers import visible_competition
from .base import Scope, Token, api, declared_answers, file_answer, token_owner
from .host import call_host_service, hosted_competition
from .schemas import GradeKind

HOST = Token(Scope.HOST)


@api.get(
    "competitions/{slug:slug}/grades",
    response=declared_answers(404, 409, 422),
    auth=HOST,
    openapi_extra=file_answer("text/csv"),
    operation_id="export_grades",
    url_name="api_grades",
)
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
    sheet = sheets.grade_sheet(page_context.competition, at=page_context.at)
    data = call_host_service(lambda: files.grade_file(page_context.competition, sheet, kind))
    answer = HttpResponse(data, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-grades-{kind}.csv"'
    return answer


@api.get(
    "competitions/{slug:slug}/export",
    response=declared_answers(404),
    auth=HOST,
    openapi_extra=file_answer("application/zip"),
    operation_id="export_competition",
    url_name="api_export",
)
def export_competition(request: HttpRequest, slug: str) -> HttpResponseBase:
    """For hosts: the competition as a zip of a folder, which makes a draft of it on any site. It holds the answers."""
    return streamed_zip(folders.export_zip(hosted_competition(request, slug)), f"{slug}.zip")
