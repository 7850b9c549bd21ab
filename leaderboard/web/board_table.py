"""The table of a board. A new score moves few of its hundred rows: a row that looks as it did is not written again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone_name

from .. import ranking
from ..models import Competition, Split
from . import board_cache
from .board_lines import line_of, scale_of

# No text of a person holds it, because those are escaped.
END = SafeString("<!--end of row-->")


@dataclass(frozen=True)
class Look:
    """What the rows of a table have in common; together with a row and a language, all that
    its text depends on."""

    split: Split
    ladder: ranking.Ladder | None
    """That of a public board that does not show exact scores."""
    scale: tuple[float, float]
    sign: float
    asides: tuple[ranking.Aside, ...]
    has_bands: bool
    is_section: bool
    zone: str

    @property
    def is_hidden(self) -> bool:
        return self.ladder is not None and self.ladder.is_hidden


def board_table(
    competition: Competition,
    split: Split,
    rows: Sequence[ranking.Row],
    ladder: ranking.Ladder | None,
) -> SafeString:
    """Some rows of a board; "" for none."""
    if not rows:
        return SafeString()
    ladder = ladder if split == Split.PUBLIC else None
    ruler = competition.ground_truth
    look = Look(
        split=split,
        ladder=ladder,
        scale=scale_of(rows),
        sign=ranking.sign_of(ruler) if ruler else -1.0,
        asides=ranking.asides_of(ruler),
        has_bands=any(row.doubt and row.value is not None for row in rows),
        is_section=any(row.within for row in rows),
        zone=get_current_timezone_name(),
    )
    context = {
        **_shared(look),
        "body": mark_safe("".join(_texts(rows, look))),  # noqa: S308
        "has_ties": any(row.doubt and row.doubt.tied_from for row in rows),
    }
    return render_to_string("visitors/board_table.html", context)


def _texts(rows: Sequence[ranking.Row], look: Look) -> list[str]:
    def write(missing: list[ranking.Row]) -> list[str]:
        lines = [line_of(row, look.split, look.ladder, look.scale, look.sign) for row in missing]
        text = render_to_string("visitors/board_rows.html", {"lines": lines, "end": END, **_shared(look)})
        return text.split(END)[:-1]

    return board_cache.rows.get_all([(look, row) for row in rows], lambda keys: write([row for _look, row in keys]))


def _shared(look: Look) -> dict[str, object]:
    return {
        "split": look.split.value,
        "asides": look.asides,
        "has_bands": look.has_bands,
        "is_section": look.is_section,
        "is_hidden": look.is_hidden,
    }
