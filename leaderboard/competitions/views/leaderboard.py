"""The leaderboard. Its table is rendered once per version of the board and shared by everybody who looks at it.

A reader's own row is marked in a copy of the shared text; for readers without a session the whole page is shared.
Private standings are asked for only behind `visit.sees_private`, and their keys name the split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from leaderboard.common import display_time

from .. import hooks
from ..access import Audience, PageContext, open_to
from ..context_processors import theme_of
from ..models import Team
from ..models.competition import Split
from ..ranking import boards as boards_module
from ..ranking import rows as rows_module
from ..ranking import team_ranks as placings_module
from ..ranking import team_search
from ..services import boards
from . import board_cache
from .board_chart import BoardChart, board_chart
from .board_rows import anchor_of
from .board_table import board_table

# A reader with these cookies alone has no session and no messages, so their page is everybody's.
SHARED_COOKIES = {"theme", "csrftoken", display_time.COOKIE}


@dataclass(frozen=True)
class RenderedBoard:
    """A rendered page of a board, free of anything about its reader."""

    html: str
    page: int
    pages: int
    total: int
    placings: Mapping[int, rows_module.Placing] = field(default_factory=dict)
    """Of the teams in it; empty where some teams alone were asked for, and on a hidden board."""
    leaders: tuple[Team, ...] = ()
    within: Mapping[int, int] = field(default_factory=dict)
    """Ranks among all teams of the section that was asked for; empty where none was, and on a hidden board."""
    among: int = 0
    """Teams of the section that was asked for, whether or not their name was."""


@dataclass
class BoardQuery:
    """Which part of which board a visitor asks for."""

    page_context: PageContext
    split: Split
    page: int
    text: str
    section: str
    """Of the roster; empty where the visitor may not ask for one."""

    @classmethod
    def from_request(cls, request: HttpRequest, page_context: PageContext) -> BoardQuery:
        default = Split.PRIVATE if page_context.state == "revealed" else Split.PUBLIC
        asked = request.GET.get("board", "")
        page = request.GET.get("page", "")
        return cls(
            page_context=page_context,
            split=Split(asked) if asked in Split.values else default,
            page=int(page) if page.isascii() and page.isdecimal() and len(page) < 7 else 1,
            text=request.GET.get("q", "").strip()[:60],
            section=request.GET.get("section", "")[:200] if page_context.sees_sections else "",
        )

    @property
    def is_selection(self) -> bool:
        """Whether some teams alone are asked for."""
        return bool(self.text or self.section)

    @property
    def is_locked(self) -> bool:
        return self.split == Split.PRIVATE and not self.page_context.sees_private

    def query_string(self, **others: object) -> str:
        """The query of an address that asks for the same teams."""
        words = {"board": self.split.value, "section": self.section, "q": self.text, **others}
        return urlencode({name: value for name, value in words.items() if value})

    @cached_property
    def key(self) -> tuple[Hashable, ...]:
        """Names one state of one table; movement compares with the last UTC midnight, so the day is part of it."""
        competition = self.page_context.competition
        day = self.page_context.at.astimezone(UTC).date().toordinal()
        return (
            competition.pk,
            competition.ground_truth_id,
            competition.board_version,
            self.split.value,
            self.page,
            day,
            self.sees_names,
            get_current_timezone_name(),
        )

    @property
    def sees_names(self) -> bool:
        """Whether the viewer may know who is behind a pseudonym."""
        return self.page_context.competition.board.uses_pseudonyms and self.page_context.assists

    def table(self) -> RenderedBoard:
        competition, at = self.page_context.competition, self.page_context.at

        def make() -> RenderedBoard:
            board = boards_module.board_page(
                competition, self.split, page=self.page, at=at, sees_names=self.sees_names, people=self._people
            )
            html = self._html(board.rows)
            return RenderedBoard(html, board.page, board.pages, board.total, board.placings, board.leaders)

        return board_cache.boards.get(("table", *self.key), make)

    @cached_property
    def _classmates(self) -> team_search.BoardSections | None:
        """For members who may ask for a section."""
        ground_truth = self.page_context.competition.ground_truth
        if ground_truth is None or self.is_locked or self.page_context.assists or not self.page_context.sees_sections:
            return None
        return team_search.sections_of_board(ground_truth, self.split)

    @property
    def _people(self) -> Mapping[int, list[str]] | None:
        return self._classmates.members if self._classmates else None

    @cached_property
    def sections(self) -> Sequence[str]:
        """Those that the visitor may choose from: whoever runs the competition from all of the roster, others from
        those that have a team on this board."""
        if self._classmates is not None:
            return self._classmates.names
        return hooks.roster.section_names(self.page_context.competition) if self.page_context.assists else ()

    @property
    def own_section(self) -> str:
        """That of the visitor, who competes."""
        return self._classmates.own.get(self.page_context.user.pk or 0, "") if self._classmates else ""

    def search(self) -> RenderedBoard:
        if not self.section:
            return self._search()
        if self.section not in self.sections:
            return RenderedBoard("", 1, 1, 0)
        # Rendered once for all who may look at it; what else is typed is one reader's own.
        key = ("section", self.section, *self.key)
        return self._search() if self.text else board_cache.boards.get(key, self._search)

    def _search(self) -> RenderedBoard:
        page_context = self.page_context
        found = team_search.find_teams(
            page_context.competition,
            self.split,
            self.text,
            section=self.section,
            page=self.page,
            at=page_context.at,
            sees_names=self.sees_names,
            people=self._people,
        )
        html = self._html(found.rows)
        return RenderedBoard(html, found.page, found.pages, found.total, within=found.within, among=found.among)

    def _html(self, rows: Sequence[rows_module.BoardRowData]) -> str:
        page_context = self.page_context
        return board_table(page_context.competition, self.split, rows, page_context.ladder)

    def placing(self) -> rows_module.Placing | None:
        """Where the visitor's own team stands."""
        membership, ground_truth = self.page_context.membership, self.page_context.competition.ground_truth
        if membership is None or ground_truth is None or self.is_locked:
            return None
        team = membership.team
        if not self.is_selection and (found := self.table().placings.get(team.pk)):
            return found
        return placings_module.placing_of(team, ground_truth, self.split)

    def chart(self) -> BoardChart | None:
        """Scores over time, under the first page of the public board alone: private ones have no history that anybody
        saw."""
        if self.split == Split.PRIVATE or self.is_selection or self.table().page > 1:
            return None
        team = self.page_context.membership.team if self.page_context.membership else None
        return board_chart(self.page_context.competition, team, self.table().leaders)


@open_to(Audience.VISITORS)
def leaderboard(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    board_query = BoardQuery.from_request(request, page_context)
    etag = _etag(request, board_query)
    if etag in request.headers.get("If-None-Match", ""):
        response = HttpResponse(status=304)
    elif _is_shared_answer(request, board_query):
        response = HttpResponse(board_cache.boards.get(etag, lambda: _page(request, board_query)))
    else:
        response = HttpResponse(_page(request, board_query))
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache" if page_context.user.is_anonymous else "private, no-cache"
    patch_vary_headers(response, ["Cookie", "HX-Request"])
    return response


@open_to(Audience.VISITORS)
def leaderboard_csv(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    board_query = BoardQuery.from_request(request, page_context)
    if board_query.is_locked or page_context.competition.ground_truth is None:
        return redirect("leaderboard", slug=page_context.competition.slug)
    own = page_context.membership.team if page_context.membership else None
    text = boards.board_csv(page_context.competition, board_query.split, own=own, section=board_query.section)
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    parts = [
        page_context.competition.slug,
        board_query.split,
        *([slugify(board_query.section) or "section"] if board_query.section else []),
    ]
    response["Content-Disposition"] = f'attachment; filename="{"-".join(parts)}.csv"'
    return response


def _is_shared_answer(request: HttpRequest, board_query: BoardQuery) -> bool:
    return not board_query.is_selection and request.method == "GET" and not request.COOKIES.keys() - SHARED_COOKIES


def _etag(request: HttpRequest, board_query: BoardQuery) -> str:
    """Names the bytes of an answer: the board, who looks, and for a whole page its frame with the minute shown."""
    page_context = board_query.page_context
    parts: list[object] = [
        *board_query.key,
        page_context.state,
        page_context.competition.candidate_id,
        board_query.is_locked,
        board_query.text,
    ]
    parts += [board_query.section, page_context.sees_sections, get_language()]
    if not page_context.user.is_anonymous:
        parts += [page_context.user.pk, page_context.membership.team_id if page_context.membership else 0]
    if not _is_part(request):
        # The frame repeats the address in its links.
        parts += [
            request.get_host(),
            request.get_full_path(),
            theme_of(request),
            page_context.at.strftime("%Y%m%d%H%M"),
        ]
    return f'"{hashlib.blake2s(repr(parts).encode(), digest_size=12).hexdigest()}"'


def _is_part(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def _page(request: HttpRequest, board_query: BoardQuery) -> bytes:
    template = "competitions/board.html" if _is_part(request) else "competitions/leaderboard.html"
    return render(request, template, _context(request, board_query)).content


def _context(request: HttpRequest, board_query: BoardQuery) -> dict[str, Any]:
    page_context, ground_truth = board_query.page_context, board_query.page_context.competition.ground_truth
    context: dict[str, Any] = {
        "page_context": page_context,
        "split": board_query.split.value,
        "q": board_query.text,
        "is_locked": board_query.is_locked,
    }
    context["section"] = board_query.section
    if not _is_part(request):
        context |= {"sections": board_query.sections, "own_section": board_query.own_section}
    if ground_truth is None or board_query.is_locked:
        return context
    table = board_query.search() if board_query.is_selection else board_query.table()
    placing = board_query.placing()
    public = round(100 * ground_truth.public_share)
    return context | {
        "table": table,
        "html": _with_own_row(table.html, page_context),
        "placing": placing,
        "own_within": table.within.get(page_context.membership.team_id) if page_context.membership else None,
        "own_anchor": anchor_of(page_context.membership.team.shown_name) if page_context.membership else "",
        "own_page": _page_of_own_team(table, placing, page_context),
        "public_percent": public,
        "private_percent": 100 - public,
        "chart": None if _is_part(request) else board_query.chart(),
        "asked": board_query.query_string(),
        "poll": f"{request.path}?{board_query.query_string(page=board_query.page)}",
        "poll_etag": _etag_of_part(board_query, request),
    }


def _page_of_own_team(table: RenderedBoard, placing: rows_module.Placing | None, page_context: PageContext) -> int:
    """The page of the board, or of the section shown, that the visitor's team stands on."""
    above = placing.rank - 1 if placing else 0
    if page_context.membership and page_context.membership.team_id in table.within:
        above = list(table.within).index(page_context.membership.team_id)
    return above // boards_module.PAGE_SIZE + 1


def _etag_of_part(board_query: BoardQuery, request: HttpRequest) -> str:
    """What a poll for the table alone would be named now."""
    part = HttpRequest()
    part.META = {**request.META, "HTTP_HX_REQUEST": "true"}
    return _etag(part, board_query)


def _with_own_row(html: str, page_context: PageContext) -> SafeString:
    """The shared table with the visitor's team marked; its markers hold no person's text.

    Behind a pseudonym the team reads its own name as well.
    """
    if page_context.membership is not None:
        anchor = anchor_of(page_context.membership.team.shown_name)
        html = html.replace(f'<tr id="{anchor}"', f'<tr id="{anchor}" class="mine"', 1)
        own = format_html('<span class="own-name">{}</span>', page_context.membership.team.name)
        mark = format_html('<span class="badge">{}</span>', _("You")) + (
            own if page_context.competition.board.uses_pseudonyms else ""
        )
        html = html.replace(f"<!--you {anchor}-->", mark, 1)
    return mark_safe(html)  # noqa: S308 - rendered by our template, which escapes
