"""What hosts take along: grades, the competition itself."""

from __future__ import annotations

from typing import Annotated

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from ninja import Query

from .. import hosting
from ..models.clock import database_now
from ..web.access import Visit
from ..web.answers import as_archive
from .base import Scope, Token, answers, api, bytes_of, owner
from .files import asked, hosted
from .reading import visible_competition
from .schemas import GradeKind

HOST = Token(Scope.HOST)


@api.get(
    "competitions/{slug:slug}/grades",
    response=answers(404, 409, 422),
    auth=HOST,
    openapi_extra=bytes_of("text/csv"),
    operation_id="export_grades",
    url_name="api_grades",
)
def export_grades(
    request: HttpRequest,
    slug: str,
    kind: Annotated[GradeKind, Query(description="For which learning platform.")] = "plain",
) -> HttpResponse:
    """For who exports grades: everybody's grade as CSV, by the rules that were saved."""
    user = owner(request)
    visit = Visit(visible_competition(user, slug), user, database_now())
    if not visit.grades:
        raise Http404(_("You host no competition of this name."))
    sheet = hosting.grade_sheet(visit.competition, at=visit.at)
    data = asked(lambda: hosting.grade_file(visit.competition, sheet, kind))
    answer = HttpResponse(data, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-grades-{kind}.csv"'
    return answer


@api.get(
    "competitions/{slug:slug}/export",
    response=answers(404),
    auth=HOST,
    openapi_extra=bytes_of("application/zip"),
    operation_id="export_competition",
    url_name="api_export",
)
def export_competition(request: HttpRequest, slug: str) -> HttpResponseBase:
    """For hosts: the competition as a zip of a folder, which makes a draft of it on any site. It holds the answers."""
    return as_archive(hosting.export_zip(hosted(request, slug)), f"{slug}.zip")
