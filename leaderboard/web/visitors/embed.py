"""A board within another site's page: for everybody there, so without session, cookies and anything but the board."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from ... import __version__, ranking
from ...models import Competition, Split
from ...models.clock import database_now
from .. import board_cache
from ..access import Audience, open_to
from ..board_table import board_table
from ..context import THEMES

POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
SECONDS = 15


@open_to(Audience.ANYONE, knows_reader=False)
def embed(request: HttpRequest, slug: str) -> HttpResponse:
    """The first page of the board that everybody may see now: the private one after the reveal, else the public one."""
    found = Competition.objects.select_related("ground_truth").filter(slug=slug, launched_at__isnull=False)
    competition = found.exclude(embed_sites="").first()
    if competition is None or competition.ground_truth is None:
        raise Http404(_("No board of this name may be shown on other sites."))
    at, theme = database_now(), request.GET.get("theme", "")
    theme = theme if theme in THEMES else ""
    split = Split.PRIVATE if competition.is_revealed(at) else Split.PUBLIC
    version = (competition.pk, competition.ground_truth_id, competition.board_version, competition.candidate_id)
    key = ("embed", *version, split.value, at.astimezone(UTC).date(), theme, request.get_host(), get_language())
    etag = f'"{hashlib.blake2s(repr(key).encode(), digest_size=12).hexdigest()}"'
    if etag in request.headers.get("If-None-Match", ""):
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(board_cache.pages.get(key, lambda: _page(request, competition, split, theme, at)))
    response["ETag"] = etag
    response["Cache-Control"] = f"public, max-age={SECONDS}"
    response["Content-Security-Policy"] = POLICY + " ".join(competition.embed_sites.split())
    response.xframe_options_exempt = True
    return response


def _page(request: HttpRequest, competition: Competition, split: Split, theme: str, at: datetime) -> str:
    """Without members: who looks there need not be of the class."""
    ruler = competition.ground_truth
    assert ruler is not None
    board = ranking.board(competition, split, at=at)
    rows = [replace(row, members=()) for row in board.rows]
    context = {
        "competition": competition,
        "address": request.build_absolute_uri(f"/c/{competition.slug}/leaderboard/") if competition.is_listed else "",
        "theme": theme,
        "version": __version__,
        "total": board.total,
        "at": at,
        "table": board_table(competition, split, rows, board.ladder),
        "split": split.value,
        "is_hidden": board.ladder is not None and board.ladder.is_hidden,
        "is_steady": board.ladder is not None and not board.ladder.is_hidden,
        "is_rescored": competition.candidate_id is not None,
    }
    return render_to_string("visitors/embed.html", context)
