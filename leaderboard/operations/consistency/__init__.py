"""The ten promises as queries and recomputations: what must never happen, looked for in the data of a site.

Every check gives sentences about what breaks it, none when it holds. A check sees the data as it lies there; what it
cannot see is said beside its answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from .audit_log import audit_log_is_intact
from .boards import board_equals_scores, scores_recompute
from .files import every_upload_is_whole
from .limits import attempts_are_counted, deadline_decides
from .privacy import nothing_leaks
from .queue import final_stays_final, holder_alone_finishes, news_within_two_minutes, one_score_each
from .verdict import Promise, Verdict

__all__ = ["PROMISES", "Promise", "Verdict", "verdicts"]

PROMISES: tuple[Promise, ...] = (
    Promise(
        1,
        "Every acknowledged upload has exactly one row and a whole file whose SHA-256 matches.",
        every_upload_is_whole,
        "an upload whose row and file are both gone leaves no trace here; its sender has the receipt",
    ),
    Promise(
        2,
        "No pending submission is without news for more than 2 minutes.",
        news_within_two_minutes,
        "this moment alone is looked at",
    ),
    Promise(
        3,
        "At most one score per submission, ground truth and split; scored if and only if both scores exist.",
        one_score_each,
    ),
    Promise(
        4,
        "Only the holder of the live claim can finish a submission.",
        holder_alone_finishes,
        "who held the claims of the past is not kept; their traces are looked at",
    ),
    Promise(
        5,
        "At most 5 attempts to score; a final state changes only by rescoring, which edits no score.",
        final_stays_final,
        "an edited value shows where the board or a recomputation differs from it",
    ),
    Promise(
        6,
        "Attempts used = submissions of that team and day that count; no race exceeds the limit.",
        attempts_are_counted,
        "attempts of members who left their team on that day are taken as they were noted",
    ),
    Promise(7, "The shown board equals the board recomputed from all scores.", board_equals_scores),
    Promise(
        8,
        "A submission counts if and only if its last byte was stored before its team's deadline.",
        deadline_decides,
        "receipts are taken as stored, and deadlines as they are now",
    ),
    Promise(9, "Fifty random scores recompute to the same bits.", scores_recompute),
    Promise(
        10,
        "No private score, no truth value and no foreign file is in any byte sent to a student before the reveal.",
        nothing_leaks,
        "bytes already sent and the caches inside web processes are not seen; the tests crawl every page instead",
    ),
    Promise(
        11,
        "The audit trail is whole.",
        audit_log_is_intact,
        "entries cut off at its end: compare the last digest with a backup's",
    ),
)


def verdicts(*, seed: int | None = None, only: set[int] | None = None) -> Iterator[Verdict]:
    """Check one promise after the other; `seed` picks the scores to recompute, at random without one."""
    for promise in PROMISES:
        if only is None or promise.number in only:
            yield promise.checked(seed)
