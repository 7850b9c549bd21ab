"""Boards: standings, ties, final picks, the reveal. Kaggle's rules, because students know them (docs/ranking.md).

A rank is never stored: it is one more than the number of standings that are strictly better, so equal score and
equal receipt share it. Standings are derived from scores; `rebuild` makes them again from nothing.
"""

from __future__ import annotations

from .boards import (
    PAGE_SIZE,
    baselines,
    board,
    in_order,
    lines,
    names_of,
    rank_of,
    ranks_of,
    reference_scores,
)
from .courses import Course, courses
from .digits import decimals_of, number_text, rounded_end, rounded_text
from .doubts import Doubt
from .finding import Found, Sections, find, of_section, sections_on
from .ladder import (
    NO_RUNGS,
    Answer,
    Ladder,
    answers_to,
    ladder_of,
    ranked_files,
    ranked_scores,
    shown_scores,
    sign_of,
    step_of,
)
from .placings import Place, placing, placings, placings_now
from .revealing import reveal, reveal_due
from .rows import Board, Placing, Row
from .secondary import Aside, Beside, asides_of, beside, told
from .shake_up import Hindsight, Shake, ShakeUp, hindsight, shake_up
from .standings import Best, best_values, bests, decided, differences, expected, finals, note_score, rebuild
from .unpicked import Unpicked, unpicked

__all__ = [
    "NO_RUNGS",
    "PAGE_SIZE",
    "Answer",
    "Aside",
    "Beside",
    "Best",
    "Board",
    "Course",
    "Doubt",
    "Found",
    "Hindsight",
    "Ladder",
    "Place",
    "Placing",
    "Row",
    "Sections",
    "Shake",
    "ShakeUp",
    "Unpicked",
    "answers_to",
    "asides_of",
    "baselines",
    "beside",
    "best_values",
    "bests",
    "board",
    "courses",
    "decided",
    "decimals_of",
    "differences",
    "expected",
    "finals",
    "find",
    "hindsight",
    "in_order",
    "ladder_of",
    "lines",
    "names_of",
    "note_score",
    "number_text",
    "of_section",
    "placing",
    "placings",
    "placings_now",
    "rank_of",
    "ranked_files",
    "ranked_scores",
    "ranks_of",
    "rebuild",
    "reference_scores",
    "reveal",
    "reveal_due",
    "rounded_end",
    "rounded_text",
    "sections_on",
    "shake_up",
    "shown_scores",
    "sign_of",
    "step_of",
    "told",
    "unpicked",
]
