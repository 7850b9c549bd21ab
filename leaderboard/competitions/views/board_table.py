"""The table of a board, with everything in its rows that the template would have to work out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from leaderboard.common import numbers
from leaderboard.common.charts import sparkline
from leaderboard.common.library_messages import translated_message
from leaderboard.common.name_drawings import colour_of, initials

from ..models import Competition
from ..models.competition import Split
from ..ranking import secondary
from ..ranking.boards import is_hidden
from ..ranking.rows import BoardRowData
from ..ranking.scores import sign_of

MEDALS = {1: "first", 2: "second", 3: "third"}


def board_table(
    competition: Competition,
    split: Split,
    rows: Sequence[BoardRowData],
    leader: float | None = None,
) -> SafeString:
    """Some rows of a board; "" for none. `leader` is the score of the first place, wherever it stands."""
    if not rows:
        return SafeString()
    ground_truth = competition.ground_truth
    sign = sign_of(ground_truth) if ground_truth else -1.0
    rails = rails_of(rows)
    context = {
        "split": split.value,
        "secondary_metrics": secondary.secondary_metrics_of(ground_truth),
        "is_section": any(row.within for row in rows),
        "is_hidden": ground_truth is not None and is_hidden(ground_truth, split),
        "lines": [board_line(row, rail, leader, sign) for row, rail in zip(rows, rails, strict=True)],
    }
    return render_to_string("competitions/board_table.html", context)


def rails_of(rows: Sequence[BoardRowData]) -> list[str]:
    """The rail at the left of each row ("" for none): it joins teams that are all too close to the first of them to
    call. Neighbouring rails differ (`a`, `b`)."""
    bands: list[list[int]] = []
    first: int | None = None
    for place, row in enumerate(rows):
        if row.is_baseline or row.rank is None:
            continue
        tied_from = row.uncertainty.tied_from if row.uncertainty else None
        if first is not None and (row.rank == first or (tied_from is not None and tied_from <= first)):
            bands[-1].append(place)
        else:
            first = row.rank
            bands.append([place])
    rails = [""] * len(rows)
    for number, band in enumerate(places for places in bands if len(places) > 1):
        for place in range(band[0], band[-1] + 1):
            ends = " top" * (place == band[0]) + " end" * (place == band[-1])
            rails[place] = f"rail {'ab'[number % 2]}{ends}"
    return rails


def board_line(row: BoardRowData, rail: str, leader: float | None, sign: float) -> dict[str, Any]:
    """One row. A `sign` of +1 says that a lower score is better."""
    return {
        # A template finds a key sooner than an attribute, and asks of each number how the reader's country writes it.
        **vars(row),
        "rank": str(row.rank),
        "attempts": str(row.attempts),
        "rail": rail,
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
        "trend": sparkline(row.trend, sign=sign),
        "secondary": [_secondary_cell(one) for one in row.secondary],
    }


def anchor_of(shown_name: str) -> str:
    """What a team's row is called in the page: a number would reveal in which order teams joined, pseudonyms or not."""
    return "team-" + hashlib.blake2s(shown_name.encode(), digest_size=4).hexdigest()


def _digits(value: float | None) -> str:
    """All digits of a score where the row does not show them."""
    return "" if value is None or repr(value) == numbers.number_text(value) else repr(value)


def gap_text(value: float | None, leader: float | None) -> str:
    """How far a score is from the first place, with three digits; "" for the first place."""
    if value is None or leader is None or value == leader:
        return ""
    gap = float(f"{value - leader:.3g}")
    return ("−" if gap < 0 else "+") + numbers.rounded_text(abs(gap))


def _secondary_cell(one: secondary.ShownSecondaryValue) -> dict[str, str]:
    """`digits` are all of its number, or why there is none."""
    name = one.secondary_metric.words
    if one.value is None:
        return {"name": name, "text": "–", "digits": translated_message(one.problem)}
    return {"name": name, "text": numbers.number_text(one.value), "digits": _digits(one.value)}
