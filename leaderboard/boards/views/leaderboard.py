"""The leaderboard. Its table is rendered once per version of the board and shared by all viewers.

The viewer's row is marked in a copy of the shared HTML; for viewers without a session the whole page is shared.
Private standings are read only if `page_context.sees_private`, and cache keys contain the split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from leaderboard.common import viewer
from leaderboard.common.context_processors import theme_of
from leaderboard.common.responses import spreadsheet_download
from leaderboard.competitions import hooks
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models.competition import Split

from .. import board_cache, queries, rows, team_ranks, team_search
from ..board_facts import BoardFacts, board_facts
from ..board_table import anchor_of, board_csv, board_table
from ..charts import board_charts, moves_to_final

# A viewer with no other cookies has no session and no messages, so the whole page can be shared.
SHARED_COOKIES = {"theme", "csrftoken", viewer.COOKIE}


class BoardQuery:
    """A viewer's request for a part of a board: split, view, page, text, section."""

    def __init__(self, request: HttpRequest, page_context: PageContext, *, is_renewal: bool = False) -> None:
        default = Split.PRIVATE if page_context.state == "revealed" else Split.PUBLIC
        board, page = request.GET.get("board", ""), request.GET.get("page", "")
        self.page_context = page_context
        self.competition = page_context.competition
        self.ground_truth = page_context.competition.ground_truth
        self.version = self.competition.board_version
        if is_renewal:
            self.version = board_cache.calm_versions.choose(self.competition.pk, self.version)
        self.team = page_context.membership.team if page_context.membership else None
        self.split = Split(board) if board in Split.values else default
        self.view = view if (view := request.GET.get("view", "")) in ("time", "distribution") else ""
        self.page = int(page) if page.isascii() and page.isdecimal() and len(page) < 7 else 1
        self.text = request.GET.get("q", "").strip()[:60]
        # "" if the viewer may not filter by section.
        self.section = request.GET.get("section", "")[:200] if page_context.sees_sections else ""
        # Whether only some teams are requested.
        self.is_selection = bool(self.text or self.section)
        # A board that was hidden stays closed for a team that the open final ranking still awaits.
        is_public_closed = self.competition.is_revealed(page_context.at) and not page_context.sees_public
        self.is_locked = is_public_closed if self.split == Split.PUBLIC else not page_context.sees_private
        # Whether the names behind pseudonyms are shown.
        self.sees_names = self.competition.board.uses_pseudonyms and page_context.assists

    def query_string(self, **others: object) -> str:
        """A query string for the same teams, with other parameters replaced or added."""
        parameters = {"board": self.split.value, "section": self.section, "q": self.text, **others}
        return urlencode({name: value for name, value in parameters.items() if value})

    @cached_property
    def key(self) -> tuple[Hashable, ...]:
        """Cache key of the table. It contains the day, because movements are relative to the last midnight."""
        return (
            self.competition.pk,
            self.competition.ground_truth_id,
            self.version,
            self.split.value,
            self.page,
            self.competition.day_of(self.page_context.at).toordinal(),
            self.sees_names,
            get_current_timezone_name(),
        )

    @cached_property
    def _member_sections(self) -> team_search.BoardSections | None:
        """The sections of the board, for members who may filter by section; else None."""
        is_member = self.page_context.sees_sections and not self.page_context.assists
        if self.ground_truth is None or self.is_locked or not is_member:
            return None
        return team_search.sections_of_board(self.ground_truth, self.split)

    @cached_property
    def sections(self) -> Sequence[str]:
        """Sections to choose from: for hosts and assistants all of the roster, for members those on this board."""
        if self._member_sections is not None:
            return self._member_sections.names
        return hooks.roster.section_names(self.competition) if self.page_context.assists else ()

    @property
    def own_section(self) -> str:
        """The section of the viewer, if they are a member; else ""."""
        return self._member_sections.own.get(self.page_context.user.pk or 0, "") if self._member_sections else ""

    def table(self) -> rows.BoardPageData:
        """The requested part of the board, from the cache; only searches by text are rendered for each request."""
        if not self.is_selection:
            return board_cache.boards.get(("table", *self.key), self._render_table)
        if self.section and self.section not in self.sections:
            return rows.BoardPageData()
        if self.text:
            return self._render_table()
        return board_cache.boards.get(("section", self.section, *self.key), self._render_table)

    def _render_table(self) -> rows.BoardPageData:
        facts: Any = {
            "page": self.page,
            "at": self.page_context.at,
            "sees_names": self.sees_names,
            "people": self._member_sections.members if self._member_sections else None,
        }
        if self.is_selection:
            table = team_search.find_teams(self.competition, self.split, self.text, section=self.section, **facts)
        else:
            table = queries.board_page(self.competition, self.split, **facts)
        return replace(table, html=board_table(self.competition, self.split, table.rows, table.leader))

    def placing(self, table: rows.BoardPageData) -> rows.Placing | None:
        """Rank and score of the viewer's team; without a query if it is on this page."""
        if self.team is None or self.ground_truth is None:
            return None
        ranked = () if self.is_selection else table.rows
        here = next((row for row in ranked if row.team_id == self.team.pk), None)
        if here is None or here.rank is None or here.value is None:
            return team_ranks.placing_of(self.team.pk, self.ground_truth, self.split)
        return rows.Placing(here.rank, table.total, here.value, here.submission_id)

    def etag(self, request: HttpRequest, *, is_part: bool) -> str:
        """ETag of the response, from the board and the viewer; for a whole page also from its frame and the minute."""
        parts: list[object] = [
            *self.key,
            self.page_context.state,
            self.competition.candidate_id,
            self.is_locked,
            self.text,
            self.section,
            self.page_context.sees_sections,
            get_language(),
        ]
        if not self.page_context.user.is_anonymous:
            parts += [self.page_context.user.pk, self.team.pk if self.team else 0]
        if not is_part:
            # The links of the frame contain the URL.
            minute = self.page_context.at.strftime("%Y%m%d%H%M")
            parts += [request.get_host(), request.get_full_path(), theme_of(request), minute]
        return f'"{hashlib.blake2s(repr(parts).encode(), digest_size=12).hexdigest()}"'


@open_to(Audience.VISITORS)
def leaderboard(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    is_part = request.headers.get("HX-Request") == "true"
    query = BoardQuery(request, page_context, is_renewal=is_part and "If-None-Match" in request.headers)
    etag = query.etag(request, is_part=is_part)

    def page() -> bytes:
        template = "boards/board.html" if is_part else "boards/leaderboard.html"
        return render(request, template, _board_context(request, query, is_part=is_part)).content

    is_shared = not query.is_selection and request.method == "GET" and not request.COOKIES.keys() - SHARED_COOKIES
    if etag in request.headers.get("If-None-Match", ""):
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(board_cache.boards.get(etag, page) if is_shared else page())
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache" if page_context.user.is_anonymous else "private, no-cache"
    patch_vary_headers(response, ["Cookie", "HX-Request"])
    return response


@open_to(Audience.VISITORS)
def leaderboard_csv(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    query = BoardQuery(request, page_context)
    competition = page_context.competition
    if query.is_locked or competition.ground_truth is None:
        return redirect("leaderboard", slug=competition.slug)
    text = board_csv(competition, query.split, own=query.team, section=query.section)
    section = f"-{slugify(query.section) or 'section'}" if query.section else ""
    return spreadsheet_download(text, f"{competition.slug}-{query.split}{section}")


@open_to(Audience.ASSISTANTS)
def host_board_csv(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """A board as CSV for hosts, even a hidden one; before the reveal the private one as it would be revealed now."""
    split = Split.PRIVATE if request.GET.get("board") == "private" else Split.PUBLIC
    text = board_csv(page_context.competition, split, is_for_hosts=True)
    return spreadsheet_download(text, f"{page_context.competition.slug}-{split}")


def _board_context(request: HttpRequest, query: BoardQuery, *, is_part: bool) -> dict[str, Any]:
    context: dict[str, Any] = {
        "page_context": query.page_context,
        "split": query.split.value,
        "q": query.text,
        "is_locked": query.is_locked,
        "section": query.section,
        "view": query.view,
        "is_part": is_part,
    }
    if not is_part:
        context |= {"sections": query.sections, "own_section": query.own_section}
    if query.ground_truth is None or query.is_locked:
        return context
    if query.view and not is_part:
        return context | board_charts(query.view, query.page_context, query.split, query.team)
    table = query.table()
    placing = query.placing(table)
    public = round(100 * query.ground_truth.public_share)
    podium = _podium_rows(query, table)
    return context | {
        "table": table,
        "html": _with_own_row(table.html, query),
        "placing": placing,
        "facts": BoardFacts(placing)
        if query.is_selection
        else board_facts(query.page_context, query.split, table, placing),
        "own_within": table.within.get(query.team.pk) if query.team else None,
        "podium": podium,
        "slope": moves_to_final(table.rows, query.team) if podium and not is_part else "",
        "own_address": _own_address(query, table, placing),
        "public_percent": public,
        "private_percent": 100 - public,
        "asked": query.query_string(),
        "poll": f"{request.path}?{query.query_string(page=query.page)}",
        # The ETag that a poll for only the table would get now.
        "poll_etag": query.etag(request, is_part=True),
    }


def _podium_rows(query: BoardQuery, table: rows.BoardPageData) -> list[rows.BoardRowData]:
    """Rows of the first three ranks, above the final ranking; [] on other boards and pages."""
    is_final = query.split == Split.PRIVATE and query.page_context.state == "revealed"
    ranked = table.rows if is_final and table.page == 1 and not query.is_selection else ()
    return [row for row in ranked[: 2 * len(rows.MEDALS)] if row.medal]


def _own_address(query: BoardQuery, table: rows.BoardPageData, placing: rows.Placing | None) -> str:
    """Query string and anchor of the board's or section's page with the viewer's team; "" without a rank."""
    if query.team is None or placing is None:
        return ""
    in_section = query.team.pk in table.within
    above = list(table.within).index(query.team.pk) if in_section else placing.rank - 1
    page = above // queries.PAGE_SIZE + 1
    parameters = query.query_string(page=page if page > 1 else "", **({} if in_section else {"section": "", "q": ""}))
    return f"?{parameters}#{anchor_of(query.team.shown_name)}"


def _with_own_row(html: str, query: BoardQuery) -> SafeString:
    """The shared table with the viewer's team marked, and with its real name if there are pseudonyms.

    Edits the HTML as text, which is safe because all names in it are escaped.
    """
    if query.team is not None:
        anchor = anchor_of(query.team.shown_name)
        before, begin, row = html.partition(f'<tr id="{anchor}"')
        mark = format_html(' <span class="you">{}</span>', _("You"))
        if query.competition.board.uses_pseudonyms:
            mark = format_html(" <small>{}</small>", query.team.name) + mark
        html = before + begin.replace("<tr", '<tr aria-current="true"') + row.replace("</th>", f"{mark}</th>", 1)
    return mark_safe(html)  # noqa: S308 - rendered by our template, which escapes
