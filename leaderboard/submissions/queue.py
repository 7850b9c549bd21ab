"""The queue of submissions to score: its order, and the claims of workers. Its items are the pending rows.

A worker scores a row while it holds a claim with a lease. A claim is derived from the ID of the message that woke the
worker and the number of the try. So the main process of a dead worker can release exactly the rows which that worker
held, and a worker that has slept through its lease cannot write over the next one. All times are the database's.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, zip_longest
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from leaderboard import __version__
from leaderboard.common.clock import database_now
from leaderboard.common.queries import only_row
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, DailyAttempts, Submission, Team, Worker
from leaderboard.competitions.models.submission import waiting_since

log = logging.getLogger(__name__)

PENDING = Submission.Status.PENDING

LEASE = timedelta(seconds=30)
MAX_TRIES = 5
MAX_DEATHS = 3
# A file whose scorer died waits behind all others for this time.
RETRY_DELAY_AFTER_DEATH = timedelta(seconds=60)

# Stored with a file in English; `Submission.failure_words` translates them for the reader.
OUR_FAULT = gettext_noop("Scoring failed through no fault of your file. We told the host and returned your attempt.")
TOO_LONG = gettext_noop("Scoring took longer than %(seconds)s s. We told the host and returned your attempt.")


def _ignore_lost_lease() -> None:
    """Do nothing, in processes that cannot stop the scorer: its result will be discarded."""


# Called when a process has lost its lease. Workers stop their scorer, which also ends a computation outside of Python.
on_lease_lost: Callable[[], None] = _ignore_lost_lease


def is_held() -> Q:
    """Condition for rows that a worker is scoring now.

    Leases that end later than `2 * LEASE` from now are ignored: the clock was set back after they were written.
    """
    return Q(status=PENDING, lease_until__gte=Now(), lease_until__lte=Now() + 2 * LEASE)


def is_free() -> Q:
    """Condition for pending rows that no worker holds."""
    is_over = Q(lease_until=None) | Q(lease_until__lt=Now()) | Q(lease_until__gt=Now() + 2 * LEASE)
    return Q(status=PENDING) & is_over


def is_out_of_tries() -> Q:
    """Condition for rows that were tried, or whose scorer died, too often ("spent")."""
    return Q(tries__gte=MAX_TRIES) | Q(deaths__gte=MAX_DEATHS)


def claimable() -> QuerySet[Submission]:
    """Rows that can be claimed now: free, not spent, not slow, and no other file of the team is being scored."""
    return _claimable().filter(is_slow=False)


def _claimable() -> QuerySet[Submission]:
    free = Submission.objects.filter(is_free(), competition__ground_truth__isnull=False)
    return _without_busy_teams(free).exclude(is_out_of_tries())


def next_slow_file() -> uuid.UUID | None:
    """The oldest slow file, to be scored outside the queue; None while one is being scored already."""
    if Submission.objects.filter(is_held(), is_slow=True).exists():
        return None
    return _claimable().filter(is_slow=True).order_by(waiting_since()).values_list("pk", flat=True).first()


def _without_busy_teams(rows: QuerySet[Submission]) -> QuerySet[Submission]:
    return rows.exclude(Exists(Submission.objects.filter(is_held(), team=OuterRef("team"))))


# --- order ------------------------------------------------------------------------------------------------------


# Number of the oldest waiting files from which the order is made, and number of files in it before the next query.
LOOKED_AT, GIVEN_OUT = 2000, 64
MAX_TURN_FILES, TURN_SECONDS = 16, 0.3
"""Limits of a turn: files that are claimed together, scored one after another and written in one transaction."""

# The competition that this process served last. Each process takes the competitions in turn by itself.
_served = {"last": 0}
# Competition → teams that had a turn in the current round.
_teams_served: dict[int, set[int]] = defaultdict(set)


@dataclass(frozen=True)
class _WaitingFile:
    """A pending file with the columns that decide about its turn."""

    pk: uuid.UUID
    competition_id: int
    team_id: int | None
    is_slow: bool
    tries: int
    deaths: int
    is_held: bool
    has_died_lately: bool

    @property
    def may_be_claimed(self) -> bool:
        return not (self.is_held or self.is_slow or self.tries >= MAX_TRIES or self.deaths >= MAX_DEATHS)


def turns_of_submissions() -> Iterator[list[Submission]]:
    """Waiting files in the order of scoring, in turns of files that are written together, until none waits.

    Competitions take turns. Within one, teams are served in rounds, oldest file first. So the first file of a team
    waits for at most one file of each other team, however many those have uploaded. Other workers may claim a file
    first.
    """
    while keys := _first_in_turn():
        rows = _with_scoring_fields(Submission.objects.filter(pk__in=keys))
        found = {submission.pk: submission for submission in rows}
        turn: list[Submission] = []
        for submission in (found[pk] for pk in keys if pk in found):
            if turn and (len(turn) == MAX_TURN_FILES or not (_is_quick(submission) and _is_quick(turn[-1]))):
                yield _served_now(turn)
                turn = []
            turn.append(submission)
        if turn:
            yield _served_now(turn)


def submissions_in_turn() -> Iterator[Submission]:
    """Waiting files in the order of scoring, one by one."""
    return (submission for turn in turns_of_submissions() for submission in turn)


def _is_quick(submission: Submission) -> bool:
    """Whether a file may share a turn with others.

    Files that were tried before get a turn alone: if the worker dies again, it is known which file was the cause.
    """
    ground_truth = submission.competition.ground_truth
    quickest = ground_truth.quickest_seconds if ground_truth is not None else None
    return submission.tries == 0 and quickest is not None and quickest < TURN_SECONDS / 4


def _served_now(turn: list[Submission]) -> list[Submission]:
    for submission in turn:
        _served["last"] = submission.competition_id
        if submission.team_id is not None:
            _teams_served[submission.competition_id].add(submission.team_id)
    return turn


def _first_in_turn() -> list[uuid.UUID]:
    """The next files: at most one per team, the competitions in turn, beginning after the one served last."""
    waiting = _claimable_files()
    waiting = [file for file in waiting if not file.has_died_lately] or waiting
    last, of_competitions = _served["last"], defaultdict[int, list[_WaitingFile]](list)
    for file in waiting:
        of_competitions[file.competition_id].append(file)
    in_turn = sorted(of_competitions, key=lambda number: (number <= last, number))
    found = [_one_of_each_team(of_competitions[number], _teams_served[number]) for number in in_turn]
    return [pk for pk in chain.from_iterable(zip_longest(*found)) if pk is not None][:GIVEN_OUT]


def _claimable_files() -> list[_WaitingFile]:
    """The oldest files that can be claimed now, by the conditions that `_claim` checks in SQL."""
    died_lately = Q(deaths__gt=0, received_at__gte=Now() - RETRY_DELAY_AFTER_DEATH)
    rows = Submission.objects.filter(status=PENDING, competition__ground_truth__isnull=False)
    rows = rows.annotate(held=is_held(), died_lately=died_lately).order_by("received_at")
    fields = ("pk", "competition_id", "team_id", "is_slow", "tries", "deaths", "held", "died_lately")
    files = [_WaitingFile(*row) for row in rows.values_list(*fields)[:LOOKED_AT]]
    busy = {file.team_id for file in files if file.is_held} - {None}
    return [file for file in files if file.may_be_claimed and file.team_id not in busy]


def _one_of_each_team(files: list[_WaitingFile], served: set[int]) -> list[uuid.UUID]:
    """The oldest file of each team without a turn in this round; if there is none, of each team in a new round."""
    found = [file for file in files if file.team_id not in served]
    if not found:
        served.clear()
        found = files
    first: dict[int | uuid.UUID, uuid.UUID] = {}
    for file in found:
        first.setdefault(file.team_id or file.pk, file.pk)
    return list(first.values())


def _with_scoring_fields(rows: QuerySet[Submission]) -> QuerySet[Submission]:
    """The rows with the columns that scoring needs."""
    fields = ("team", "tries", "file_key", "sha256", "received_at", "competition__slug", "competition__ground_truth")
    return rows.select_related("competition__ground_truth").only(*fields)


def find_submission(submission_id: uuid.UUID | str) -> Submission | None:
    """A row with the columns that scoring needs, in any state; None if it was deleted."""
    return only_row(_with_scoring_fields(Submission.objects.filter(pk=submission_id)))


# --- claim and lease --------------------------------------------------------------------------------------------


def claim_of(wake_up_id: str | uuid.UUID, number: int) -> uuid.UUID:
    """The claim of the worker that was woken by the message `wake_up_id`, for the try of this number."""
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{wake_up_id}:{number}")


def claim_submission(submission: Submission, wake_up_id: str | uuid.UUID | None = None) -> uuid.UUID | None:
    """Claim one row; None if that is not possible. See `claim_submissions`."""
    return claim_submissions([submission], wake_up_id).get(submission.pk)


def claim_submissions(
    submissions: Sequence[Submission], wake_up_id: str | uuid.UUID | None = None
) -> dict[uuid.UUID, uuid.UUID]:
    """Claim rows of different teams by compare-and-set; returns row → claim.

    Left out are rows that are final, deleted, held, spent or were tried meanwhile, and rows whose team has another file
    being scored.
    """
    wake_up, found = wake_up_id or uuid.uuid4(), {submission.pk: submission.tries for submission in submissions}
    if not connection.features.has_select_for_update:
        return _claim(found, wake_up)
    with transaction.atomic():
        # Lock the teams, so that two workers do not claim two files of a team at once. SQLite has one writer anyway.
        teams = Team.objects.filter(submissions__in=found).order_by("pk")
        list(teams.select_for_update(of=("self",)).values_list("pk"))
        return _claim(found, wake_up)


def _claim(found: Mapping[uuid.UUID, int], wake_up: str | uuid.UUID) -> dict[uuid.UUID, uuid.UUID]:
    """Compare the number of tries and set the claim; one UPDATE for each number of tries."""
    claims = {pk: claim_of(wake_up, tries + 1) for pk, tries in found.items()}
    claimed = 0
    for tries in set(found.values()):
        keys = [pk for pk in found if found[pk] == tries]
        rows = Submission.objects.filter(is_free(), pk__in=keys, tries=tries)
        free = _without_busy_teams(rows).exclude(is_out_of_tries())
        claimed += free.update(claim=claim_of(wake_up, tries + 1), lease_until=Now() + LEASE, tries=F("tries") + 1)
    if claimed in (0, len(found)):
        return claims if claimed else {}
    ours = Submission.objects.filter(pk__in=claims, claim__in=set(claims.values()), lease_until__isnull=False)
    return {pk: claims[pk] for pk, claim in ours.values_list("pk", "claim") if claim == claims[pk]}


@contextmanager
def extended_leases(claims: Mapping[uuid.UUID, uuid.UUID]) -> Iterator[None]:
    """Extend leases in a background thread while the block runs; calls `on_lease_lost` if one of them is lost."""
    done = threading.Event()

    def extend() -> None:
        while not done.wait(LEASE.total_seconds() / 3):
            are_ours = _extend_leases(claims)
            connection.close()  # the connection of this thread
            if not are_ours and not done.is_set():
                log.error("submissions %s: a lease was lost, so their scorer is stopped", ", ".join(map(str, claims)))
                on_lease_lost()
                return

    lease_thread = threading.Thread(target=extend, daemon=True)
    lease_thread.start()
    try:
        yield
    finally:
        done.set()
        lease_thread.join()


def _extend_leases(claims: Mapping[uuid.UUID, uuid.UUID]) -> bool:
    """Extend leases; False if a row is no longer held by its claim. True after an error of the database."""
    try:
        mine = Submission.objects.filter(pk__in=claims, claim__in=set(claims.values()), status=PENDING)
        return mine.update(lease_until=Now() + LEASE) == len(claims)
    except Exception:
        log.exception("the leases of submissions %s could not be extended", ", ".join(map(str, claims)))
        return True


def release_claim(submission_id: uuid.UUID, claim: uuid.UUID) -> bool:
    """Release a claim without counting a try; False if the row is held by another claim by now."""
    mine = Submission.objects.filter(pk=submission_id, claim=claim, status=PENDING)
    return bool(mine.update(claim=None, lease_until=None, tries=F("tries") - 1))


def release_claim_as_slow(submission_id: uuid.UUID, claim: uuid.UUID) -> bool:
    """Release the claim of a file that takes too long, without counting a try, and mark it as slow."""
    mine = Submission.objects.filter(pk=submission_id, claim=claim, status=PENDING)
    return bool(mine.update(claim=None, lease_until=None, tries=F("tries") - 1, is_slow=True))


def put_back_woken_by(wake_up_id: str) -> bool:
    """Release the claims of the worker woken by this message; the main process calls it before it kills the worker."""
    released = [release_claim(held.pk, held.claim) for held in _held_by(wake_up_id) if held.claim is not None]
    return any(released)


# --- deaths of workers and scorers ------------------------------------------------------------------------------


def note_worker_death(wake_up_id: str) -> Submission | None:
    """Release the claims of a dead worker, given the message that woke it; returns a submission to try again, or None.

    A death is counted only if the worker held a single file. Of several files the cause is unknown, so each of them is
    tried again in a turn alone. A second call counts no second death, because the claim is gone by then.
    """
    held = _held_by(wake_up_id)
    if len(held) == 1:
        return _note_death(held[0])
    _let_go(held)
    return held[0] if held else None


def _let_go(held: Sequence[Submission]) -> None:
    """Release claims; the try counts."""
    for one in held:
        Submission.objects.filter(pk=one.pk, claim=one.claim, status=PENDING).update(claim=None, lease_until=None)


def release_after_scorer_death(submission_id: uuid.UUID, claim: uuid.UUID) -> Submission | None:
    """Release a claim of this process whose scorer died; returns the submission to try again, None if it has failed."""
    rows = Submission.objects.filter(pk=submission_id, claim=claim, status=PENDING)
    held = rows.select_related("competition").first()
    return None if held is None else _note_death(held)


def _note_death(held: Submission) -> Submission | None:
    if not _count_death(held):
        return None
    log.error("the scorer of submission %s died (%s. time)", held.pk, held.deaths + 1)
    return None if fail_if_spent(held.pk) else held


def fail_overtime(wake_up_id: str, seconds: float) -> bool:
    """Fail the submission of a worker that was stopped for taking too long; True if that was done.

    If it held several, they are tried again, each in a turn alone.
    """
    held = _held_by(wake_up_id)
    if len(held) != 1:
        _let_go(held)
        return False
    return _count_death(held[0]) and _fail(held[0].pk, Q(), TOO_LONG % {"seconds": f"{seconds:g}"})


def _held_by(wake_up_id: str) -> list[Submission]:
    claims = [claim_of(wake_up_id, number) for number in range(1, MAX_TRIES + 1)]
    return list(Submission.objects.filter(status=PENDING, claim__in=claims).select_related("competition"))


def _count_death(held: Submission) -> bool:
    """Release the claim and count a death; False if the row is held by another claim by now."""
    mine = Submission.objects.filter(pk=held.pk, claim=held.claim, status=PENDING)
    return bool(mine.update(claim=None, lease_until=None, deaths=F("deaths") + 1))


def fail_spent_submissions(at_most: int = 200) -> None:
    """Fail submissions that were tried too often; attempts are returned and hosts notified."""
    for pk in Submission.objects.filter(is_out_of_tries(), is_free()).values_list("pk", flat=True)[:at_most]:
        fail_if_spent(pk)


def fail_if_spent(submission_id: uuid.UUID) -> bool:
    """Fail one submission if it is spent and free; True if that was done."""
    return _fail(submission_id, is_out_of_tries(), OUR_FAULT)


@transaction.atomic
def _fail(submission_id: uuid.UUID, condition: Q, failure: str) -> bool:
    gone = Submission.objects.filter(is_free() & condition, pk=submission_id)
    if not gone.update(
        status=Submission.Status.FAILED, failure=failure, claim=None, lease_until=None, finished_at=Now()
    ):
        return False
    submission = Submission.objects.get(pk=submission_id)
    log.error("submission %s failed after %s tries and %s deaths", submission_id, submission.tries, submission.deaths)
    settle_attempt(submission, is_invalid=False)
    return True


def settle_attempt(submission: Submission, *, is_invalid: bool) -> None:
    """Return the attempt of a file that was not scored; notify the hosts unless the file is invalid."""
    if submission.team_id is not None:
        zone = Competition.objects.filter(pk=submission.competition_id).values_list("zone", flat=True).get()
        day = submission.received_at.astimezone(ZoneInfo(zone)).date()
        DailyAttempts.return_attempt(submission.team_id, day)
    if not is_invalid:
        transaction.on_commit(lambda: hooks.scoring_failed(submission_id=submission.pk))


HEARD_WITHIN = timedelta(seconds=30)
FORGOTTEN_AFTER = timedelta(hours=1)
# Seconds of waiting that are logged as an error; the supervisor then restarts workers that hold no file.
PENDING_TOO_LONG = 60.0


def report_worker() -> None:
    """Store that this process is alive; a new process also deletes rows that are older than an hour."""
    fields: dict[str, Any] = {"last_seen_at": Now(), "version": __version__}
    host, process = socket.gethostname()[:200], os.getpid()
    if Worker.objects.filter(host=host, process=process).update(**fields):
        return
    with transaction.atomic():
        Worker.objects.filter(last_seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
        Worker.objects.update_or_create(host=host, process=process, defaults=fields)


@dataclass(frozen=True)
class PendingFiles:
    """Number of waiting files, seconds that the oldest has waited (None: none waits), number being scored."""

    number: int
    oldest: float | None
    in_hand: int


def pending_files() -> PendingFiles:
    """The state of the queue; one query."""
    waiting = Submission.objects.filter(status=PENDING)
    found = waiting.aggregate(
        number=Count("pk"),
        # Without slow files, which are scored outside the queue one after another.
        first=Min(waiting_since(), filter=Q(is_slow=False)),
        in_hand=Count("pk", filter=is_held()),
    )
    return PendingFiles(found["number"], seconds_since(found["first"]), found["in_hand"])


def log_stuck_queue() -> bool:
    """Log an error if files wait for long while no worker scores any; returns whether that is so."""
    queue = pending_files()
    if queue.in_hand or (queue.oldest or 0) <= PENDING_TOO_LONG:
        return False
    log.error("%s files wait, the oldest for %.0f s, and no worker has any in hand", queue.number, queue.oldest)
    return True


def seconds_since(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, round((database_now() - moment).total_seconds(), 1))
