"""Rows of a board as its table shows them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.common import numbers
from leaderboard.common.charts import interval_band, interval_text, sparkline
from leaderboard.common.library_messages import translated_message

from ..models.competition import Split
from ..ranking import ladder as ladder_module
from ..ranking import rows as rows_module
from ..ranking import secondary

MEDALS = {
    1: ("first", gettext_lazy("gold")),
    2: ("second", gettext_lazy("silver")),
    3: ("third", gettext_lazy("bronze")),
}


@dataclass(frozen=True)
class SecondaryCell:
    """A cell of a secondary metric; `digits` are all of its number, or why there is none."""

    name: str
    text: str
    digits: str


@dataclass(frozen=True)
class BoardLine:
    """A row with everything the template would have to work out."""

    row: rows_module.BoardRowData
    anchor: str
    initials: str
    medal: str
    medal_words: str
    score: str
    digits: str
    arrow: str
    arrow_kind: str
    arrow_words: str
    members: str
    trend: SafeString
    secondary: tuple[SecondaryCell, ...]
    band: SafeString | None
    """The interval of the score, drawn; None where none is known or shown."""
    tie: str
    """The best rank that this one cannot be distinguished from; "" where the next better one is clearly better."""


def anchor_of(shown_name: str) -> str:
    """What a team's row is called in the page: a number would reveal in which order teams joined, pseudonyms or not."""
    return "team-" + hashlib.blake2s(shown_name.encode(), digest_size=6).hexdigest()


def scale_of(rows: Sequence[rows_module.BoardRowData]) -> tuple[float, float]:
    """From the least to the greatest end of the intervals of a page."""
    known = [row for row in rows if row.uncertainty is not None and row.value is not None]
    ends = [
        end
        for row in known
        if row.uncertainty
        for end in (row.value, row.uncertainty.low, row.uncertainty.high)
        if end is not None
    ]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _score_text(value: float, ladder: ladder_module.Ladder | None) -> str:
    """Without digits that a rounded score does not have."""
    return numbers.number_text(value) if ladder is None else numbers.rounded_text(value)


def board_line(
    row: rows_module.BoardRowData,
    split: Split,
    ladder: ladder_module.Ladder | None,
    scale: tuple[float, float],
    sign: float,
) -> BoardLine:
    """`ladder` is that of a public board that does not show exact scores; `scale` that of its page; `sign`
    is +1 where a lower score is better, −1 where a higher one is."""
    medal, words = MEDALS.get(row.rank or 0, ("", ""))
    arrow, kind, arrow_words = ("", "", "") if row.is_baseline else movement_parts(row.movement, split)
    return BoardLine(
        row=row,
        anchor="" if row.is_baseline else anchor_of(row.name),
        initials="◆" if row.is_baseline else initials(row.name),
        medal=medal,
        medal_words=str(words),
        score="–" if row.value is None else _score_text(row.value, ladder),
        digits="" if row.value is None else repr(row.value),
        arrow=arrow,
        arrow_kind=kind,
        arrow_words=arrow_words,
        members="" if [row.real_name or row.name] == list(row.members) else ", ".join(row.members),
        trend=sparkline(row.trend, is_rounded=ladder is not None, sign=sign),
        secondary=tuple(map(_secondary_cell, row.secondary)),
        band=_band(row, scale),
        tie=str(row.uncertainty.tied_from) if row.uncertainty and row.uncertainty.tied_from else "",
    )


def _band(row: rows_module.BoardRowData, scale: tuple[float, float]) -> SafeString | None:
    uncertainty = row.uncertainty
    if uncertainty is None or row.value is None:
        return None
    words = interval_text(uncertainty.low, uncertainty.high, uncertainty.error) or _("open")
    return interval_band(
        row.value, uncertainty.low, uncertainty.high, scale, _("95 %% interval %(ends)s") % {"ends": words}
    )


def _secondary_cell(one: secondary.ShownSecondaryValue) -> SecondaryCell:
    if one.value is None:
        return SecondaryCell(one.secondary_metric.words, "–", translated_message(one.problem))
    text = numbers.rounded_text(one.value) if one.is_rounded else numbers.number_text(one.value)
    return SecondaryCell(one.secondary_metric.words, text, repr(one.value))


def initials(name: str) -> str:
    """One or two characters that stand for a team."""
    words = [word for word in name.replace("_", " ").replace("-", " ").split() if word]
    words = [word for word in words if word.lower() not in {"the", "a", "an", "and", "of"}] or words
    return "".join(word[0] for word in words[:2]).upper() or "?"


def movement_parts(gained: int | None, split: Split) -> tuple[str, str, str]:
    """Arrow with number, its kind, its words. Without an earlier rank a team is new."""
    is_public = split == Split.PUBLIC
    if gained is None:
        return "", "", ""
    if gained == 0:
        return "–", "", _("same rank since yesterday") if is_public else _("same rank as on the public board")
    number = abs(gained)
    ranks = ngettext("%(number)s rank", "%(number)s ranks", number) % {"number": number}
    if gained > 0:
        words = _("up %(ranks)s since yesterday") if is_public else _("up %(ranks)s from the public board")
        return f"▲{number}", "up", words % {"ranks": ranks}
    words = _("down %(ranks)s since yesterday") if is_public else _("down %(ranks)s from the public board")
    return f"▼{number}", "down", words % {"ranks": ranks}
