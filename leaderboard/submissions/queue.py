"""The queue of submissions to score: the order of the pending rows. Workers claim them by `claims`."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.competitions.models import Submission
from leaderboard.competitions.models.submission import waiting_since

from .claims import claimable_rows, is_held

# A file whose scorer died waits behind all others for this time.
RETRY_DELAY_AFTER_DEATH = timedelta(seconds=60)


def quick_submissions() -> QuerySet[Submission]:
    """Files that can be claimed now and are not slow."""
    return _claimable_files().filter(is_slow=False)


def next_slow_file() -> uuid.UUID | None:
    """The oldest slow file, to be scored outside the queue; None while one is being scored already."""
    if Submission.objects.filter(is_held(), is_slow=True).exists():
        return None
    return _claimable_files().filter(is_slow=True).order_by(waiting_since()).values_list("pk", flat=True).first()


def _claimable_files() -> QuerySet[Submission]:
    return claimable_rows().filter(competition__ground_truth__isnull=False)


# --- order ------------------------------------------------------------------------------------------------------


# Number of the oldest waiting files from which the order is made, and number of files in it before the next query.
MAX_WAITING_FILES, MAX_ORDERED_FILES = 2000, 64
MAX_TURN_FILES, TURN_SECONDS = 16, 0.3
"""Limits of a turn: files that are claimed together, scored one after another and written in one transaction."""

# The competition that this process served last. Each process takes the competitions in turn by itself.
_served = {"last": 0}
# Competition → teams that had a turn in the current round.
_teams_served: dict[int, set[int]] = defaultdict(set)


class _WaitingFile(NamedTuple):
    """A file that can be claimed, with the columns that decide about its turn."""

    pk: uuid.UUID
    competition_id: int
    team_id: int | None
    has_died_lately: bool


def turns_of_submissions() -> Iterator[list[Submission]]:
    """Waiting files in the order of scoring, in turns of files that are written together, until none waits.

    Competitions take turns. Within one, teams are served in rounds, oldest file first. So the first file of a team
    waits for at most one file of each other team, however many those have uploaded. Other workers may claim a file
    first.
    """
    while keys := _first_in_turn():
        by_key = {submission.pk: submission for submission in _with_scoring_fields.rows(keys=keys)}
        turn: list[Submission] = []
        for submission in (by_key[pk] for pk in keys if pk in by_key):
            if turn and not (len(turn) < MAX_TURN_FILES and _may_share_turn(submission) and _may_share_turn(turn[-1])):
                yield _served_now(turn)
                turn = []
            turn.append(submission)
        if turn:
            yield _served_now(turn)


def _may_share_turn(submission: Submission) -> bool:
    """Whether a file is scored and written together with others: not if its ground truth takes long.

    Nor if it was tried before: if the worker dies again, it is known which file was the cause. Nor a baseline, because
    a claim of several files locks their teams.
    """
    ground_truth = submission.competition.ground_truth
    quickest = ground_truth.quickest_seconds if ground_truth is not None else None
    is_quick = quickest is not None and quickest < TURN_SECONDS / 4
    return is_quick and submission.tries == 0 and submission.team_id is not None


def _served_now(turn: list[Submission]) -> list[Submission]:
    for submission in turn:
        _served["last"] = submission.competition_id
        if submission.team_id is not None:
            _teams_served[submission.competition_id].add(submission.team_id)
    return turn


def _first_in_turn() -> list[uuid.UUID]:
    """The next files: at most one per team, the competitions in turn, beginning after the one served last."""
    files = [_WaitingFile(**row) for row in _oldest_files.rows()]
    waiting = [file for file in files if not file.has_died_lately] or files
    last, of_competitions = _served["last"], defaultdict[int, list[_WaitingFile]](list)
    for file in waiting:
        of_competitions[file.competition_id].append(file)
    in_turn = sorted(of_competitions, key=lambda number: (number <= last, number))
    keys = [_one_of_each_team(of_competitions[number], _teams_served[number]) for number in in_turn]
    return [pk for pk in chain.from_iterable(zip_longest(*keys)) if pk is not None][:MAX_ORDERED_FILES]


@PreparedQuery
def _oldest_files() -> QuerySet[Submission, Any]:
    died_lately = Q(deaths__gt=0, received_at__gte=Now() - RETRY_DELAY_AFTER_DEATH)
    rows = quick_submissions().annotate(has_died_lately=died_lately).order_by("received_at")
    return rows.values("pk", "competition_id", "team_id", "has_died_lately")[:MAX_WAITING_FILES]


def _one_of_each_team(files: list[_WaitingFile], served: set[int]) -> list[uuid.UUID]:
    """The oldest file of each team without a turn in this round; if there is none, of each team in a new round."""
    unserved = [file for file in files if file.team_id not in served]
    if not unserved:
        served.clear()
        unserved = files
    first: dict[int | uuid.UUID, uuid.UUID] = {}
    for file in unserved:
        first.setdefault(file.team_id or file.pk, file.pk)
    return list(first.values())


@PreparedQuery
def _with_scoring_fields(keys: list[uuid.UUID]) -> QuerySet[Submission]:
    """The rows with the columns that scoring needs."""
    fields = ("team", "tries", "file_key", "sha256", "received_at", "competition__slug", "competition__ground_truth")
    return Submission.objects.filter(pk__in=keys).select_related("competition__ground_truth").only(*fields)


def find_submission(submission_id: uuid.UUID | str) -> Submission | None:
    """A row with the columns that scoring needs, in any state; None if it was deleted."""
    return _with_scoring_fields.only_row(keys=[uuid.UUID(str(submission_id))])
