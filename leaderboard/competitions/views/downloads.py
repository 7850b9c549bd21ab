"""All submissions in one download, and the competition itself."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase

from leaderboard.common.responses import streamed_zip

from ..access import Audience, PageContext, open_to
from ..services import folder_zips, submissions_zip


@open_to(Audience.HOSTS)
def host_submissions_zip(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    """Made while it is sent, so it begins at once however much there is."""
    pieces = submissions_zip.submissions_zip(page_context.competition, page_context.at)
    return streamed_zip(pieces, f"{page_context.competition.slug}-submissions.zip")


@open_to(Audience.HOSTS)
def host_export(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    """The competition as a folder that any site of this kind makes a draft of. It holds the answers."""
    return streamed_zip(folder_zips.export_zip(page_context.competition), f"{page_context.competition.slug}.zip")
