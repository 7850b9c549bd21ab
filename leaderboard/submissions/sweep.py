"""Waiting files that need another wake-up, because one was lost."""

from __future__ import annotations

import uuid
from collections import defaultdict
from itertools import chain, zip_longest

from leaderboard.common.hooks import on
from leaderboard.competitions import hooks, wake_ups
from leaderboard.competitions.models import Competition

from . import claims, outside_queue, queue, tasks

SWEPT_AT_ONCE = 200


@on(hooks.due_tasks)
def find_due() -> list[tuple[object, ...]]:
    """Wake-ups for submissions, candidates and previews that wait for a score: task and IDs."""
    waiting, ground_truths = sweep_queue()
    if queue.next_slow_file():
        tasks.start_slow_scorer()
    return [
        *((wake_ups.SCORE_NEXT_SUBMISSIONS, *ids) for ids in waiting[: wake_ups.MAX_WAKE_UPS]),
        *((wake_ups.RESCORE_CANDIDATE, ground_truth) for ground_truth in ground_truths),
        *((wake_ups.SCORE_PREVIEW, ground_truth) for ground_truth in outside_queue.unfinished_previews()),
    ]


def sweep_queue() -> tuple[list[tuple[uuid.UUID, int]], list[int]]:
    """Work that needs another wake-up: (submission, ground truth) pairs to claim, candidates with files to rescore.

    Also fails submissions that were tried too often and returns their attempts. Several sweeps may run at once.
    """
    claims.fail_spent_submissions(SWEPT_AT_ONCE)
    rows = queue.quick_submissions().order_by("received_at")
    by_competition: dict[int, list[tuple[uuid.UUID, int]]] = defaultdict(list)
    for competition_id, submission_id, ground_truth_id in rows.values_list(
        "competition", "pk", "competition__ground_truth"
    )[:SWEPT_AT_ONCE]:
        by_competition[competition_id].append((submission_id, ground_truth_id))
    # One submission of each competition in turn, so that no class waits behind many files of another one.
    fair = [pair for pair in chain.from_iterable(zip_longest(*by_competition.values())) if pair is not None]
    candidates = Competition.objects.filter(candidate__isnull=False).select_related("candidate")
    ground_truths = [
        c.candidate.pk for c in candidates if c.candidate and outside_queue.without_scores(c.candidate).exists()
    ]
    return fair, ground_truths
