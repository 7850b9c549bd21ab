"""The table of a board."""

from __future__ import annotations

from collections.abc import Sequence

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from ..models import Competition
from ..models.competition import Split
from ..ranking import ladder as ladder_module
from ..ranking import rows as rows_module
from ..ranking import secondary
from .board_rows import board_line, scale_of


def board_table(
    competition: Competition,
    split: Split,
    rows: Sequence[rows_module.BoardRowData],
    ladder: ladder_module.Ladder | None,
) -> SafeString:
    """Some rows of a board; "" for none."""
    if not rows:
        return SafeString()
    ladder = ladder if split == Split.PUBLIC else None
    ground_truth = competition.ground_truth
    scale, sign = scale_of(rows), ladder_module.sign_of(ground_truth) if ground_truth else -1.0
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
