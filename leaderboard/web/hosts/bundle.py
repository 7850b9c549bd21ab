"""All submissions in one download, and the competition itself."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from ... import hosting
from ..access import Audience, Visit, open_to


@open_to(Audience.HOSTS)
def host_submissions_zip(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Made while it is sent, so it begins at once however much there is."""
    pieces = hosting.submissions_zip(visit.competition, visit.at)
    return _sent(pieces, f"{visit.competition.slug}-submissions.zip")


@open_to(Audience.HOSTS)
def host_export(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The competition as a folder that any site of this kind makes a draft of. It holds the answers."""
    return _sent(hosting.export_zip(visit.competition), f"{visit.competition.slug}.zip")


def _sent(pieces: Iterator[bytes], name: str) -> HttpResponseBase:
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
