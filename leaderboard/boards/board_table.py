"""The rendered table of a board; rows are prepared in Python, so that the template computes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from leaderboard.common import numbers
from leaderboard.common.drawings import colour_of, initials
from leaderboard.common.library_messages import translated_message
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition import Split

from . import secondary
from .queries import is_hidden
from .rows import BoardRowData

MEDALS = {1: "first", 2: "second", 3: "third"}


def board_table(
    competition: Competition,
    split: Split,
    rows: Sequence[BoardRowData],
    leader: float | None = None,
) -> SafeString:
    """The table with these rows; "" without rows. `leader` is the score of the first place, even if not in `rows`."""
    if not rows:
        return SafeString()
    ground_truth = competition.ground_truth
    context = {
        "split": split.value,
        "secondary_metrics": secondary.secondary_metrics_of(ground_truth),
        "is_section": any(row.within for row in rows),
        "is_hidden": ground_truth is not None and is_hidden(ground_truth, split),
        "lines": [board_line(row, leader) for row in rows],
    }
    return render_to_string("boards/board_table.html", context)


def board_line(row: BoardRowData, leader: float | None) -> dict[str, Any]:
    return {
        # As keys and strings for speed: templates look up keys before attributes, and localize each number.
        **vars(row),
        "rank": str(row.rank),
        "submission_count": str(row.submission_count),
        "anchor": "" if row.is_baseline else anchor_of(row.name),
        "colour": colour_of(row.name),
        "initials": initials(row.name),
        "medal": MEDALS.get(row.rank or 0, ""),
        "score": "–" if row.value is None else numbers.number_text(row.value),
        "digits": _digits(row.value),
        "gap": gap_text(row.value, leader),
        "move": "" if not row.movement else "up" if row.movement > 0 else "down",
        "moved": str(abs(row.movement or 0)),
        "members": "" if [row.real_name or row.name] == list(row.members) else ", ".join(row.members),
        "secondary": [_secondary_cell(one) for one in row.secondary],
    }


def anchor_of(shown_name: str) -> str:
    """The HTML id of a team's row. Made from its shown name, because its number would reveal the order of joining."""
    return "team-" + hashlib.blake2s(shown_name.encode(), digest_size=4).hexdigest()


def _digits(value: float | None) -> str:
    """All digits of a score; "" if the row shows them already."""
    return "" if value is None or repr(value) == numbers.number_text(value) else repr(value)


def gap_text(value: float | None, leader: float | None) -> str:
    """Signed difference to the score of the first place, with three digits; "" for the first place."""
    if value is None or leader is None or value == leader:
        return ""
    gap = float(f"{value - leader:.3g}")
    return ("−" if gap < 0 else "+") + numbers.rounded_text(abs(gap))


def _secondary_cell(one: secondary.ShownSecondaryValue) -> dict[str, str]:
    """A cell of a secondary metric; `digits` is the exact value, or the reason why there is none."""
    name = one.secondary_metric.translated_name
    if one.value is None:
        return {"name": name, "text": "–", "digits": translated_message(one.problem)}
    return {"name": name, "text": numbers.number_text(one.value), "digits": _digits(one.value)}
