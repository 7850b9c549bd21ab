"""Looking at a file without handing it in: all its problems, or what its first megabyte shows."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

import metrics
from leaderboard import scoring
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.shared_cache import count_try
from leaderboard.common.storage import path_of, remove_file, store_file
from leaderboard.scoring import jobs_for_pages

from ..models import Competition, GroundTruth
from ..scoring import measuring
from .submit_conditions import SubmissionRefused, membership_of, refusal_of_submission

HEAD_BYTES = 1_048_576
CHECKS_AT_ONCE = 16
"""Checked and waiting for it, in one web process; each holds a thread."""
CHECKS_PER_TEN_MINUTES = 30
"""Of one person, on the page and by programs together: each costs the server a process."""
SLOW_CHECK_COUNTS = 10
"""So many of these is one that took too long."""
_checking: set[int] = set()
"""Whose files are being checked, or wait for it, in this process."""
_lock = threading.Lock()


class FileCheck(NamedTuple):
    """All ``problems`` of a file, or, of one that can be scored, the ``warnings``."""

    problems: list[dict[str, Any]]
    warnings: list[dict[str, Any]]


def check_file_with_conditions(*, competition: Competition, user: User, chunks: Iterable[bytes]) -> FileCheck:
    """What is wrong with a file, spending and keeping nothing; the conditions of handing in, attempts apart.

    Raises `SubmissionRefused`, also with the code `busy` where too many files are being checked already, with `checks`
    where this person has others checked or had too many, and with `slow_check` for a file that takes too long to
    check.
    """
    refusal = refusal_of_submission(competition, membership_of(competition, user), database_now())
    if refusal and refusal.code != "attempts":
        raise refusal
    ground_truth = competition.ground_truth
    assert ground_truth is not None
    with _check_slot(user):
        if count_try("check", user.pk, seconds=600) > CHECKS_PER_TEN_MINUTES:
            words = _(
                "You checked %(number)s files within ten minutes, the maximum. Wait up to ten minutes, or submit."
            )
            raise SubmissionRefused("checks", words % {"number": CHECKS_PER_TEN_MINUTES})
        try:
            return _run_check(competition, ground_truth, chunks)
        except scoring.JobTimedOut as error:
            was_stopped_for_others = isinstance(error, scoring.NoSlowSlot)
            for _again in range(0 if was_stopped_for_others else SLOW_CHECK_COUNTS - 1):
                count_try("check", user.pk, seconds=600)
            words = _("Checking this file takes too long. No attempt was used. Submit it to get a score.")
            raise SubmissionRefused("slow_check", words) from error


@contextmanager
def _check_slot(user: User) -> Iterator[None]:
    with _lock:
        if user.pk in _checking:
            raise SubmissionRefused("checks", _("Another file of yours is being checked. Wait for its result."))
        if len(_checking) >= CHECKS_AT_ONCE:
            raise SubmissionRefused("busy", _("Many files are being checked. Try again in half a minute."))
        _checking.add(user.pk)
    try:
        yield
    finally:
        _checking.discard(user.pk)


def _run_check(competition: Competition, ground_truth: GroundTruth, chunks: Iterable[bytes]) -> FileCheck:
    stored = store_file(chunks, "checks", limit=competition.limits.max_bytes)
    try:
        problems = check_beginning(stored.key, stored.size, ground_truth)
        if problems:
            return FileCheck(problems, [])
        answer = jobs_for_pages.run_page_job(
            "check_submission",
            **measuring.scoring_arguments(ground_truth),
            submission=str(path_of(stored.key)),
        )
        return FileCheck(answer["problems"], answer["warnings"])
    finally:
        remove_file(stored.key)


def check_beginning(file_key: str, size: int, ground_truth: GroundTruth | None) -> list[dict[str, Any]]:
    """What the first megabyte already shows: container, encoding, header."""
    with path_of(file_key).open("rb") as file:
        head = file.read(HEAD_BYTES)
    columns, rows = (ground_truth.submission_columns, ground_truth.rows) if ground_truth else (None, None)
    metric = _metric_of(ground_truth)
    problems = metrics.sniff(
        head,
        size,
        columns,
        expected_rows=rows,
        may_be_empty=metric is not None and metric.format.may_miss_ids,
        longest_line=metric.longest_line if metric else HEAD_BYTES,
    )
    return [problem.as_stored() for problem in problems]


def _metric_of(ground_truth: GroundTruth | None) -> metrics.Metric | None:
    """What will measure the file; a metric whose file is gone is the scorer's affair."""
    try:
        return metrics.get(ground_truth.metric_key) if ground_truth else None
    except metrics.UnknownMetric:
        return None
