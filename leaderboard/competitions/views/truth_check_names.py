"""What a check of a ground truth looks for, in a host's words, whether or not something was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Words → codes of the findings that are about it. What is in no line blocks reading at all.
CHECK_TOPICS: tuple[tuple[Promise, frozenset[str]], ...] = (
    (_("The first line names the columns"), frozenset({"header_like_row"})),
    (_("Every id is there once"), frozenset({"repeated_ids", "blank_id", "similar_ids", "swallowed_rows"})),
    (
        _("No id changes when a spreadsheet or pandas reads it as a number or date"),
        frozenset({"leading_zeros", "ids_like_decimals", "long_ids", "ids_like_dates", "ids_like_nothing"}),
    ),
    (
        _("No blank or odd answers"),
        frozenset({"missing_value", "odd_value", "answer_like_nothing", "similar_answers", "rare_answer"}),
    ),
    (_("Each class is in both parts"), frozenset({"missing_class"})),
    (
        _("The metric can score both parts, and a perfect file gets the best value"),
        frozenset({"unscorable", "empty_split", "self_test", "constant_is_best", "unknown_usage"}),
    ),
    (_("The answers of both parts are distributed alike"), frozenset({"distribution_gap"})),
    (_("No group has rows in both parts"), frozenset({"group_in_both_parts"})),
    (_("The rows are not sorted by the answer"), frozenset({"sorted_by_answer"})),
    (_("The ids tell nothing about the answers"), frozenset({"id_tells_answer"})),
    (_("The ids are those of the files for students"), frozenset({"ids_differ", "sample_differs", "other_ids"})),
    (_("No file for students holds the answers"), frozenset({"answers_in_data", "data_unread"})),
)


@dataclass(frozen=True)
class CheckTopic:
    """One thing looked for: how many findings there are about it, and whether one blocks."""

    words: Promise
    found: int
    is_blocking: bool


def check_topics(findings: Iterable[Mapping[str, Any]]) -> list[CheckTopic]:
    """All things looked for, in the order of reading a file."""
    held = list(findings)
    looks = []
    for words, codes in CHECK_TOPICS:
        mine = [finding for finding in held if finding["code"] in codes]
        looks.append(CheckTopic(words, len(mine), any(finding["blocking"] for finding in mine)))
    return looks
