"""The columns of a board, and its table and CSV made of them.

To add a column, add it to `columns_of`; what it shows of a row is a field of `BoardRowData`.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from leaderboard.common import numbers
from leaderboard.common.display_time import moment
from leaderboard.common.drawings import colour_of, initials
from leaderboard.common.file_formats import safe_cell
from leaderboard.common.library_messages import translated_message
from leaderboard.competitions.models import Competition, Team
from leaderboard.competitions.models.competition import Split

from . import queries, secondary, team_search
from .rows import BoardRowData


@dataclass(frozen=True)
class BoardColumn:
    """A column of a board.

    `cell` makes the HTML of a row's cell, also for baselines; None for columns of the CSV alone. `csv_name` is its name
    in the CSV, where `csv_value` gives its values; "" for columns of the page alone.
    """

    head: str
    cell: Callable[[BoardRowData], SafeString] | None
    csv_name: str = ""
    csv_value: Callable[[BoardRowData], object] = lambda _: ""
    style: str = ""
    hint: str = ""
    shows_scores: bool = False
    """Whether the page leaves it out while the scores are hidden; the CSV keeps it, with empty cells."""


def columns_of(
    competition: Competition,
    *,
    leader: float | None = None,
    has_section: bool = False,
    has_pseudonyms: bool = False,
) -> list[BoardColumn]:
    """The columns in order. `leader`: score of the first place; `has_section`: with ranks in a section;
    `has_pseudonyms`: with real names and pseudonyms in the CSV."""
    decimals = competition.score_decimals
    hint = _("Rank within this section")
    section = BoardColumn(_("In section"), _section_cell, "rank_in_section", lambda row: row.within, "within", hint)
    pseudonym = BoardColumn("", None, "pseudonym", lambda row: safe_cell(row.name))
    return [
        BoardColumn(_("Rank"), _rank_cell, "rank", lambda row: row.rank, shows_scores=True),
        *([section] if has_section else []),
        BoardColumn(_("Team"), _team_cell, "team", lambda row: safe_cell(row.real_name or row.name)),
        *([pseudonym] if has_pseudonyms else []),
        BoardColumn(
            _("Score"),
            lambda row: _score_cell(row.value, decimals, "value"),
            "score",
            lambda row: _exact_text(row.value),
            style="value",
            shows_scores=True,
        ),
        *(
            _secondary_column(place, metric, decimals)
            for place, metric in enumerate(secondary.secondary_metrics_of(competition.ground_truth))
        ),
        BoardColumn(_("Gap"), lambda row: _table_cell(gap_text(row.value, leader, decimals)), shows_scores=True),
        BoardColumn(_("Submissions"), _submissions_cell, "submissions", lambda row: row.submission_count),
        BoardColumn(_("Last"), _last_cell, "received_at", lambda row: row.received_at.isoformat()),
    ]


def _secondary_column(place: int, metric: secondary.SecondaryMetric, decimals: int) -> BoardColumn:
    def value_of(row: BoardRowData) -> secondary.ShownSecondaryValue | None:
        return row.secondary[place] if row.secondary else None

    def cell(row: BoardRowData) -> SafeString:
        """The value, with all its digits or the reason why there is none on hover."""
        shown = value_of(row)
        if shown is None or shown.value is None:
            return _table_cell("–", "number secondary", translated_message(shown.problem) if shown else "")
        return _score_cell(shown.value, decimals, "number secondary")

    def exact(row: BoardRowData) -> str:
        shown = value_of(row)
        return _exact_text(shown.value if shown else None)

    maximizes = metric.direction == "maximize"
    return BoardColumn(
        format_html('{}<span class="visually-hidden"> {}</span>', metric.translated_name, _("(not ranked)")),
        cell,
        safe_cell(metric.name),
        exact,
        style="number secondary",
        hint=_("Not ranked; higher is better") if maximizes else _("Not ranked; lower is better"),
        shows_scores=True,
    )


def board_table(
    competition: Competition,
    split: Split,
    rows: Sequence[BoardRowData],
    leader: float | None = None,
) -> SafeString:
    """The table with these rows; "" without rows. `leader` is the score of the first place, even if not in `rows`."""
    if not rows:
        return SafeString()
    hides = competition.ground_truth is not None and queries.is_hidden(competition.ground_truth, split)
    columns = columns_of(competition, leader=leader, has_section=any(row.within for row in rows))
    columns = [column for column in columns if column.cell and not (hides and column.shows_scores)]
    cells = [column.cell for column in columns if column.cell]
    lines = [("" if row.is_baseline else anchor_of(row.name), [cell(row) for cell in cells]) for row in rows]
    ranked = [row for row in rows if not row.is_baseline]
    has_ties = not hides and any(one.value == row.value and one.rank != row.rank for one, row in pairwise(ranked))
    context = {
        "split": split.value,
        "is_hidden": hides,
        "columns": columns,
        "lines": lines,
        "has_ties": has_ties,
        "has_moves": any(row.movement for row in rows),
    }
    return render_to_string("boards/board_table.html", context)


def board_csv(
    competition: Competition, split: Split, *, is_for_hosts: bool = False, own: Team | None = None, section: str = ""
) -> str:
    """A board as CSV, scores with all digits.

    Callers must check `private_is_visible_to` for the private board, that the reader runs the competition for
    `is_for_hosts`, and that the reader may see sections for `section`. Before the reveal the private board has the rows
    that a reveal would make now. `own` is the reader's team, which gets its real name even under pseudonyms.
    """
    has_pseudonyms = is_for_hosts and competition.board.uses_pseudonyms
    columns = columns_of(competition, has_section=bool(section), has_pseudonyms=has_pseudonyms)
    columns = [column for column in columns if column.csv_name]
    if competition.revealed_at is None and (is_for_hosts or split == Split.PRIVATE):
        rows = queries.ranked_lines_now(competition, split)
    else:
        rows = queries.ranked_lines(competition, split, sees_names=is_for_hosts)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(column.csv_name for column in columns)
    for row in team_search.rows_of_section(competition, section, rows) if section else rows:
        named = replace(row, real_name=own.name) if own and own.pk == row.team_id else row
        writer.writerow(column.csv_value(named) for column in columns)
    return text.getvalue()


# --- cells ------------------------------------------------------------------------------------------------------


def _table_cell(text: str = "", style: str = "", hint: str = "") -> SafeString:
    attributes = SafeString(f' class="{style}"' if style else "")
    if hint:
        attributes += format_html(' title="{}"', hint)
    return format_html("<td{}>{}</td>", attributes, text)


def _rank_cell(row: BoardRowData) -> SafeString:
    if row.rank is None:
        return _table_cell()
    medal = format_html(' class="medal {}"', row.medal) if row.medal else ""
    if not row.movement:
        return format_html("<td><b{}>{}</b></td>", medal, row.rank)
    direction, word = ("up", _("up")) if row.movement > 0 else ("down", _("down"))
    arrow = format_html('<i class="{}"><span>{} </span>{}</i>', direction, word, abs(row.movement))
    return format_html("<td><b{}>{}</b> {}</td>", medal, row.rank, arrow)


def _section_cell(row: BoardRowData) -> SafeString:
    return _table_cell("" if row.is_baseline else str(row.within), "within")


def _team_cell(row: BoardRowData) -> SafeString:
    if row.is_baseline:
        return format_html('<th scope="row"><i aria-hidden="true">◆</i> {}</th>', row.name)
    members = "" if [row.real_name or row.name] == list(row.members) else ", ".join(row.members)
    small_texts = format_html_join("", " <small>{}</small>", [(text,) for text in (row.real_name, members) if text])
    avatar = format_html('<i class="avatar h{}" aria-hidden="true">{}</i>', colour_of(row.name), initials(row.name))
    return format_html('<th scope="row">{}{}{}</th>', avatar, row.name, small_texts)


def _score_cell(value: float | None, decimals: int, style: str) -> SafeString:
    """The score, with all its digits on hover where the text leaves some out."""
    if value is None:
        return _table_cell("–", style)
    text = numbers.number_text(value, decimals)
    return _table_cell(text, style, "" if text == repr(value) else repr(value))


def _submissions_cell(row: BoardRowData) -> SafeString:
    return _table_cell("" if row.is_baseline else str(row.submission_count))


def _last_cell(row: BoardRowData) -> SafeString:
    return _table_cell(_("Baseline") if row.is_baseline else moment(row.last_at, "short"))


def anchor_of(shown_name: str) -> str:
    """The HTML id of a team's row. Made from its shown name, because its number would reveal the order of joining."""
    return "team-" + hashlib.blake2s(shown_name.encode(), digest_size=4).hexdigest()


def _exact_text(value: float | None) -> str:
    return "" if value is None else repr(value)


def gap_text(value: float | None, leader: float | None, decimals: int) -> str:
    """Signed difference to the score of the first place; "" for the first place."""
    if value is None or leader is None or value == leader:
        return ""
    return ("−" if value < leader else "+") + numbers.difference_text(value - leader, decimals)
