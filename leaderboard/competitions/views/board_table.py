"""The table of a board, with everything in its rows that the template would have to work out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.common import numbers
from leaderboard.common.charts import interval_band, interval_text, sparkline
from leaderboard.common.library_messages import translated_message

from ..models import Competition
from ..models.competition import Split
from ..ranking import secondary
from ..ranking.ladder import Ladder, sign_of
from ..ranking.rows import BoardRowData

MEDALS = {
    1: ("first", gettext_lazy("gold")),
    2: ("second", gettext_lazy("silver")),
    3: ("third", gettext_lazy("bronze")),
}


def board_table(
    competition: Competition, split: Split, rows: Sequence[BoardRowData], ladder: Ladder | None
) -> SafeString:
    """Some rows of a board; "" for none. `ladder` is that of a public board that does not show exact scores."""
    if not rows:
        return SafeString()
    ladder = ladder if split == Split.PUBLIC else None
    ground_truth = competition.ground_truth
    sign = sign_of(ground_truth) if ground_truth else -1.0
    scale = _scale_of(rows)
    context = {
        "split": split.value,
        "secondary_metrics": secondary.secondary_metrics_of(ground_truth),
        "has_bands": any(row.uncertainty and row.value is not None for row in rows),
        "is_section": any(row.within for row in rows),
        "is_hidden": ladder is not None and ladder.is_hidden,
        "lines": [board_line(row, split, ladder, scale, sign) for row in rows],
        "has_ties": any(row.uncertainty and row.uncertainty.tied_from for row in rows),
    }
    return render_to_string("competitions/board_table.html", context)


def _scale_of(rows: Sequence[BoardRowData]) -> tuple[float, float]:
    """From the least to the greatest end of the intervals of a page."""
    ends = [
        end
        for row in rows
        if row.uncertainty is not None and row.value is not None
        for end in (row.value, row.uncertainty.low, row.uncertainty.high)
        if end is not None
    ]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def board_line(
    row: BoardRowData, split: Split, ladder: Ladder | None, scale: tuple[float, float], sign: float
) -> dict[str, Any]:
    """One row. `scale` is that of the intervals of its page; a `sign` of +1 says that a lower score is better."""
    medal, medal_words = MEDALS.get(row.rank or 0, ("", ""))
    arrow, arrow_kind, arrow_words = ("", "", "") if row.is_baseline else movement_parts(row.movement, split)
    uncertainty = row.uncertainty
    return {
        "row": row,
        "anchor": "" if row.is_baseline else anchor_of(row.name),
        "initials": "◆" if row.is_baseline else initials(row.name),
        "medal": medal,
        "medal_words": medal_words,
        "score": "–" if row.value is None else _score_text(row.value, is_rounded=ladder is not None),
        "digits": "" if row.value is None else repr(row.value),
        "arrow": arrow,
        "arrow_kind": arrow_kind,
        "arrow_words": arrow_words,
        "members": "" if [row.real_name or row.name] == list(row.members) else ", ".join(row.members),
        "trend": sparkline(row.trend, is_rounded=ladder is not None, sign=sign),
        "secondary": [_secondary_cell(one) for one in row.secondary],
        "band": _interval_band(row, scale),
        # The best rank that this one cannot be distinguished from; none where the next better one is clearly better.
        "tie": str(uncertainty.tied_from) if uncertainty and uncertainty.tied_from else "",
    }


def anchor_of(shown_name: str) -> str:
    """What a team's row is called in the page: a number would reveal in which order teams joined, pseudonyms or not."""
    return "team-" + hashlib.blake2s(shown_name.encode(), digest_size=6).hexdigest()


def _score_text(value: float, *, is_rounded: bool) -> str:
    return numbers.rounded_text(value) if is_rounded else numbers.number_text(value)


def _interval_band(row: BoardRowData, scale: tuple[float, float]) -> SafeString | None:
    uncertainty = row.uncertainty
    if uncertainty is None or row.value is None:
        return None
    ends = interval_text(uncertainty.low, uncertainty.high, uncertainty.error) or _("open")
    words = _("95 %% interval %(ends)s") % {"ends": ends}
    return interval_band(row.value, uncertainty.low, uncertainty.high, scale, words)


def _secondary_cell(one: secondary.ShownSecondaryValue) -> dict[str, str]:
    """`digits` are all of its number, or why there is none."""
    name = one.secondary_metric.words
    if one.value is None:
        return {"name": name, "text": "–", "digits": translated_message(one.problem)}
    return {"name": name, "text": _score_text(one.value, is_rounded=one.is_rounded), "digits": repr(one.value)}


def initials(name: str) -> str:
    """One or two characters that stand for a team."""
    words = name.replace("_", " ").replace("-", " ").split()
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
