"""All submissions in one download."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from ... import hosting
from ..access import Audience, Visit, open_to


@open_to(Audience.HOSTS)
def host_submissions_zip(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Made while it is sent, so it begins at once however much there is."""
    pieces = hosting.submissions_zip(visit.competition, visit.at)
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{visit.competition.slug}-submissions.zip"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
