"""Pages for the projector: how to join, the live leaderboard, and the reveal rank by rank."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.common import drawings, responses
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition import Split

from .. import queries as boards
from ..charts import over_time
from ..rows import BoardRowData

SHOWN_NAMES = 24
LIVE_ROWS = 10
REVEALED_ROWS = 8
HIDDEN_ROWS = 2
MAX_STEPS = 100
"""Maximum of ranks in a reveal; with more teams it begins at this rank, and the others are only on the board."""
TOP = 10
"""Ranks of a short reveal."""
PLAY_MS = 50_000
"""Duration of a reveal that plays by itself, without its last ranks."""
SLOW_RANKS, SLOW_MS = 3, 4_000
"""First ranks with a longer pause before each, and that pause, which is the longest one before others too."""


@open_to(Audience.ASSISTANTS)
def host_projector(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """One of the screens; `?show=` is `join`, `live` or `reveal`, by default by the state of the competition."""
    usual = {"live": "live", "closed": "live", "revealed": "reveal"}.get(page_context.state, "join")
    if usual == "live" and not page_context.competition.submissions.filter(team__isnull=False).exists():
        usual = "join"
    requested = request.GET.get("show", "")
    show = requested if requested in SCREENS else usual
    context = {"page_context": page_context, "show": show, **SCREENS[show](request, page_context)}
    return render(request, f"boards/projector_{show}.html", context)


def _join_screen(request: HttpRequest, page_context: PageContext) -> dict[str, Any]:
    competition = page_context.competition
    code = competition.admission.join_code
    names, joined = _newest_names(competition), competition.memberships.count()
    return {
        "qr": drawings.qr_code(responses.absolute_url(request, "join_code", code)),
        "site": urlsplit(responses.absolute_url(request, "home")).netloc,
        "opening_command": responses.opening_command(request),
        "code": " ".join(code[begin : begin + 4] for begin in range(0, len(code), 4)),
        "names": names,
        "joined": joined,
        "more": joined - len(names) if names else 0,
    }


def _newest_names(competition: Competition) -> list[str]:
    """User names of the newest members, latest first; [] with pseudonyms, because the order would reveal these."""
    if competition.board.uses_pseudonyms:
        return []
    names = competition.memberships.order_by("-joined_at", "-pk").values_list("user__username", flat=True)
    return list(names[:SHOWN_NAMES])


def _live_screen(request: HttpRequest, page_context: PageContext) -> dict[str, Any]:
    competition = page_context.competition
    if competition.ground_truth is None:
        return {}
    board = boards.board_page(competition, Split.PUBLIC, at=page_context.at)
    rows = [row for row in board.rows if row.rank is not None]
    return {
        "rows": rows[:LIVE_ROWS],
        "latest": max(rows, key=lambda row: row.received_at, default=None),
        "race": over_time(page_context, competition.ground_truth, None),
    }


def _reveal_screen(request: HttpRequest, page_context: PageContext) -> dict[str, Any]:
    """Ranks from the last to the first, or with `?top` only the first ten; `?step=` is the number shown. Locked before
    the reveal."""
    competition = page_context.competition
    if competition.ground_truth is None or not competition.is_revealed(page_context.at):
        return {"is_locked": True}
    board = boards.board_page(competition, Split.PRIVATE, at=page_context.at)
    ranked = [row for row in board.rows if row.rank is not None]
    is_short = "top" in request.GET and len(ranked) > TOP
    rows = ranked[: TOP if is_short else MAX_STEPS]
    step = _step_number(request.GET.get("step", ""), len(rows))
    hidden, shown = rows[: len(rows) - step], rows[len(rows) - step :]
    return {
        "step": step,
        "steps": len(rows),
        "current": shown[0] if shown else None,
        "before": _public_rank(shown[0]) if shown else None,
        "shown": shown[:REVEALED_ROWS],
        "hidden": [row.rank for row in hidden[-HIDDEN_ROWS:]],
        "next": step + 1 if step < len(rows) else None,
        "previous": step - 1 if step else None,
        "plays": "play" in request.GET and step < len(rows),
        "pause_ms": SLOW_MS if len(hidden) <= SLOW_RANKS else min(SLOW_MS, PLAY_MS // len(rows)),
        "address": "?show=reveal&top" if is_short else "?show=reveal",
        "is_short": is_short,
        "has_short": len(ranked) > TOP,
        "top": TOP,
    }


def _step_number(text: str, most: int) -> int:
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def _public_rank(row: BoardRowData) -> int | None:
    return row.rank + row.movement if row.rank is not None and row.movement is not None else None


SCREENS = {"join": _join_screen, "live": _live_screen, "reveal": _reveal_screen}
