"""The ten consistency checks: queries and recomputations that look for what must never happen in the data of a site.

Every check gives sentences about what breaks it, none when it holds. A check sees the data as it lies there; what it
cannot see is stated with its result.
"""

from __future__ import annotations

from collections.abc import Iterator

from .boards import check_boards_match_scores, check_privacy, check_scores_recompute
from .submissions import (
    check_attempts,
    check_claims,
    check_deadlines,
    check_final_states,
    check_one_score_each,
    check_uploads_are_whole,
    check_waiting_times,
)
from .verdict import CheckResult, ConsistencyCheck

__all__ = ["CONSISTENCY_CHECKS", "CheckResult", "ConsistencyCheck", "run_checks"]

CONSISTENCY_CHECKS: tuple[ConsistencyCheck, ...] = (
    ConsistencyCheck(
        1,
        "Every acknowledged upload has exactly one row and a whole file whose SHA-256 matches.",
        check_uploads_are_whole,
        "an upload whose row and file are both gone leaves no trace here; its sender has the receipt",
    ),
    ConsistencyCheck(
        2,
        "No pending submission is without news for more than 2 minutes.",
        check_waiting_times,
        "this moment alone is looked at",
    ),
    ConsistencyCheck(
        3,
        "At most one score per submission, ground truth and split; scored if and only if both scores exist.",
        check_one_score_each,
    ),
    ConsistencyCheck(
        4,
        "Only the holder of the live claim can finish a submission.",
        check_claims,
        "who held the claims of the past is not kept; their traces are looked at",
    ),
    ConsistencyCheck(
        5,
        "At most 5 attempts to score; a final state changes only by rescoring, which edits no score.",
        check_final_states,
        "an edited value shows where the board or a recomputation differs from it",
    ),
    ConsistencyCheck(
        6,
        "Attempts used = submissions of that team and day that count; no race exceeds the limit.",
        check_attempts,
        "attempts of members who left their team on that day are taken as they were noted",
    ),
    ConsistencyCheck(7, "The shown board equals the board recomputed from all scores.", check_boards_match_scores),
    ConsistencyCheck(
        8,
        "A submission counts if and only if its last byte was stored before its team's deadline.",
        check_deadlines,
        "receipts are taken as stored, and deadlines as they are now",
    ),
    ConsistencyCheck(9, "Fifty scores of the last day recompute to the same bits.", check_scores_recompute),
    ConsistencyCheck(
        10,
        "No private score, no truth value and no foreign file is in any byte sent to a student before the reveal.",
        check_privacy,
        "bytes already sent and the caches inside web processes are not seen; the tests crawl every page instead",
    ),
)


def run_checks(*, seed: int | None = None, only: set[int] | None = None) -> Iterator[CheckResult]:
    """Run one check after the other; `seed` picks the scores to recompute, at random without one."""
    for check in CONSISTENCY_CHECKS:
        if only is None or check.number in only:
            yield check.run_check(seed)
