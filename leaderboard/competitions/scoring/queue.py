"""Which submission a worker measures next, and which worker holds which submission. The rows of the database are the
queue.

A claim with a lease says who measures a row. Each claim is made of the id of the message that woke the worker and the
number of the try. So the main process of a dead worker can release exactly what that worker held, and a worker that
slept through its lease cannot be mistaken for the next one. All times are those of the database's clock.
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

from .. import hooks
from ..models import Competition, DailyAttempts, Submission, Team, Worker
from ..models.submission import waiting_since

log = logging.getLogger(__name__)

PENDING = Submission.Status.PENDING

LEASE = timedelta(seconds=30)
MAX_TRIES = 5
MAX_DEATHS = 3
# A file that killed a scorer lets all others go first, for so long.
RETRY_DELAY_AFTER_DEATH = timedelta(seconds=60)

# Stored with a file; `Submission.failure_words` says them in the reader's language.
OUR_FAULT = gettext_noop("Scoring failed through no fault of your file. We told the host and returned your attempt.")
TOO_LONG = gettext_noop("Scoring took longer than %(seconds)s s. We told the host and returned your attempt.")


def _ignore_lost_lease() -> None:
    """The default where the process has no way to stop: the result of the scorer will be discarded."""


# What a process does when it finds that it lost its lease; workers end themselves, which also stops what is not Python.
on_lease_lost: Callable[[], None] = _ignore_lost_lease


def is_held() -> Q:
    """Rows that a worker measures now. No lease reaches further than `LEASE`: one that seems to was written before the
    clock was set back, and is ignored."""
    return Q(status=PENDING, lease_until__gte=Now(), lease_until__lte=Now() + 2 * LEASE)


def is_free() -> Q:
    """Pending rows that no worker holds."""
    is_over = Q(lease_until=None) | Q(lease_until__lt=Now()) | Q(lease_until__gt=Now() + 2 * LEASE)
    return Q(status=PENDING) & is_over


def is_out_of_tries() -> Q:
    """Rows that were tried, or died on, too often."""
    return Q(tries__gte=MAX_TRIES) | Q(deaths__gte=MAX_DEATHS)


def claimable() -> QuerySet[Submission]:
    """What can be claimed now: free, not spent, not slow, and no other file of the same team being measured."""
    return _claimable().filter(is_slow=False)


def _claimable() -> QuerySet[Submission]:
    free = Submission.objects.filter(is_free(), competition__ground_truth__isnull=False)
    return _without_busy_teams(free).exclude(is_out_of_tries())


def next_slow_file() -> uuid.UUID | None:
    """The slow file to measure outside the queue: the oldest one, unless one is being measured already."""
    if Submission.objects.filter(is_held(), is_slow=True).exists():
        return None
    return _claimable().filter(is_slow=True).order_by(waiting_since()).values_list("pk", flat=True).first()


def _without_busy_teams(rows: QuerySet[Submission]) -> QuerySet[Submission]:
    return rows.exclude(Exists(Submission.objects.filter(is_held(), team=OuterRef("team"))))


# --- whose turn it is -------------------------------------------------------------------------------------------


# So many of the oldest waiting files are looked at, and so many are given out before the next look.
LOOKED_AT, GIVEN_OUT = 2000, 64
MAX_TURN_FILES, TURN_SECONDS = 16, 0.3
"""What one turn may have: files that are claimed together, scored one after another and written in one transaction."""

# The competition that this process served last: each process goes round by itself, so all together do.
_served = {"last": 0}
# The teams of each competition that had a turn in the present round.
_teams_served: dict[int, set[int]] = defaultdict(set)


@dataclass(frozen=True)
class _WaitingFile:
    """What decides whose turn it is."""

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
    """What waits, in the order in which it is to be scored, in turns of files to be written together, until nothing
    does.

    Competitions take turns. Within one, teams are served in rounds, oldest file first, so however many files some of
    them have waiting, nobody's first one waits for more than a file of each. Others may claim a file meanwhile.
    """
    while keys := _first_in_turn():
        found = {submission.pk: submission for submission in _to_measure(Submission.objects.filter(pk__in=keys))}
        turn: list[Submission] = []
        for submission in (found[pk] for pk in keys if pk in found):
            if turn and (len(turn) == MAX_TURN_FILES or not (_is_quick(submission) and _is_quick(turn[-1]))):
                yield _served_now(turn)
                turn = []
            turn.append(submission)
        if turn:
            yield _served_now(turn)


def submissions_in_turn() -> Iterator[Submission]:
    """What waits, one by one."""
    return (submission for turn in turns_of_submissions() for submission in turn)


def _is_quick(submission: Submission) -> bool:
    """Whether others may wait for this file to be scored before theirs are written. One that was tried before has a
    turn to itself: what it does to its worker is then known to be its own doing."""
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
    """What comes next: a file of each competition in turn, from the one on that follows the last; of each of its teams
    one."""
    waiting = _claimable_files()
    waiting = [file for file in waiting if not file.has_died_lately] or waiting
    last, of_competitions = _served["last"], defaultdict[int, list[_WaitingFile]](list)
    for file in waiting:
        of_competitions[file.competition_id].append(file)
    in_turn = sorted(of_competitions, key=lambda number: (number <= last, number))
    found = [_one_of_each_team(of_competitions[number], _teams_served[number]) for number in in_turn]
    return [pk for pk in chain.from_iterable(zip_longest(*found)) if pk is not None][:GIVEN_OUT]


def _claimable_files() -> list[_WaitingFile]:
    """The oldest files that can be claimed now, as `_claim` says it in SQL."""
    died_lately = Q(deaths__gt=0, received_at__gte=Now() - RETRY_DELAY_AFTER_DEATH)
    rows = Submission.objects.filter(status=PENDING, competition__ground_truth__isnull=False)
    rows = rows.annotate(held=is_held(), died_lately=died_lately).order_by("received_at")
    fields = ("pk", "competition_id", "team_id", "is_slow", "tries", "deaths", "held", "died_lately")
    files = [_WaitingFile(*row) for row in rows.values_list(*fields)[:LOOKED_AT]]
    busy = {file.team_id for file in files if file.is_held} - {None}
    return [file for file in files if file.may_be_claimed and file.team_id not in busy]


def _one_of_each_team(files: list[_WaitingFile], served: set[int]) -> list[uuid.UUID]:
    """The oldest file of each team that had no turn in this round; where there is none, the next round begins."""
    found = [file for file in files if file.team_id not in served]
    if not found:
        served.clear()
        found = files
    first: dict[int | uuid.UUID, uuid.UUID] = {}
    for file in found:
        first.setdefault(file.team_id or file.pk, file.pk)
    return list(first.values())


def _to_measure(rows: QuerySet[Submission]) -> QuerySet[Submission]:
    """With what a measurement needs of a row."""
    fields = ("team", "tries", "file_key", "sha256", "received_at", "competition__slug", "competition__ground_truth")
    return rows.select_related("competition__ground_truth").only(*fields)


def find_submission(submission_id: uuid.UUID | str) -> Submission | None:
    """A row as `submissions_in_turn` gives it, whatever became of it."""
    return only_row(_to_measure(Submission.objects.filter(pk=submission_id)))


# --- claim and lease --------------------------------------------------------------------------------------------


def claim_of(wake_up_id: str | uuid.UUID, number: int) -> uuid.UUID:
    """The claim of the worker that `wake_up_id` woke, for the try of that number."""
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{wake_up_id}:{number}")


def claim_submission(submission: Submission, wake_up_id: str | uuid.UUID | None = None) -> uuid.UUID | None:
    """Claim one row; see `claim_submissions`."""
    return claim_submissions([submission], wake_up_id).get(submission.pk)


def claim_submissions(
    submissions: Sequence[Submission], wake_up_id: str | uuid.UUID | None = None
) -> dict[uuid.UUID, uuid.UUID]:
    """Claim rows of different teams, as they were found, by compare-and-set; the claims by row, without those that are
    final, gone, held, spent, were tried meanwhile, or whose team is busy."""
    wake_up, found = wake_up_id or uuid.uuid4(), {submission.pk: submission.tries for submission in submissions}
    if not connection.features.has_select_for_update:
        return _claim(found, wake_up)
    with transaction.atomic():
        # Two files of a team must not be claimed at the same moment, which one writer alone could not do anyway.
        teams = Team.objects.filter(submissions__in=found).order_by("pk")
        list(teams.select_for_update(of=("self",)).values_list("pk"))
        return _claim(found, wake_up)


def _claim(found: Mapping[uuid.UUID, int], wake_up: str | uuid.UUID) -> dict[uuid.UUID, uuid.UUID]:
    """Compare the number of tries and set the claim in one statement for each number."""
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
    """Extend leases in the background for as long as the block runs; `on_lease_lost` is called once one is not ours."""
    done = threading.Event()

    def extend() -> None:
        while not done.wait(LEASE.total_seconds() / 3):
            are_ours = _extend_leases(claims)
            connection.close()  # that of this thread
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
    """False only where the database said that a row is not ours any more."""
    try:
        mine = Submission.objects.filter(pk__in=claims, claim__in=set(claims.values()), status=PENDING)
        return mine.update(lease_until=Now() + LEASE) == len(claims)
    except Exception:
        log.exception("the leases of submissions %s could not be extended", ", ".join(map(str, claims)))
        return True


def release_claim(submission_id: uuid.UUID, claim: uuid.UUID) -> bool:
    """Release a claim without counting a try; False where the claim is not the live one."""
    mine = Submission.objects.filter(pk=submission_id, claim=claim, status=PENDING)
    return bool(mine.update(claim=None, lease_until=None, tries=F("tries") - 1))


def release_claim_as_slow(submission_id: uuid.UUID, claim: uuid.UUID) -> bool:
    """Release the claim of a file that takes too long, without counting a try; it is measured outside of the queue."""
    mine = Submission.objects.filter(pk=submission_id, claim=claim, status=PENDING)
    return bool(mine.update(claim=None, lease_until=None, tries=F("tries") - 1, is_slow=True))


def put_back_woken_by(wake_up_id: str) -> bool:
    """Release the claims of the worker that this message woke; the main process calls it before it ends the worker."""
    released = [release_claim(held.pk, held.claim) for held in _held_by(wake_up_id) if held.claim is not None]
    return any(released)


# --- what dies --------------------------------------------------------------------------------------------------


def note_worker_death(wake_up_id: str) -> Submission | None:
    """Release the claims of a dead worker, known by the message that woke it. Gives a submission to try again, if any.

    Of several files nobody knows which one it died of: no death is counted, and each is tried again in a turn of its
    own. A second call counts no second death, because the claim is gone by then.
    """
    held = _held_by(wake_up_id)
    if len(held) == 1:
        return _note_death(held[0])
    _let_go(held)
    return held[0] if held else None


def _let_go(held: Sequence[Submission]) -> None:
    """Release claims with the try counted."""
    for one in held:
        Submission.objects.filter(pk=one.pk, claim=one.claim, status=PENDING).update(claim=None, lease_until=None)


def release_after_scorer_death(submission_id: uuid.UUID, claim: uuid.UUID) -> Submission | None:
    """Release the claim that this process holds itself, when its scorer died. Gives the submission to try again."""
    rows = Submission.objects.filter(pk=submission_id, claim=claim, status=PENDING)
    held = rows.select_related("competition").first()
    return None if held is None else _note_death(held)


def _note_death(held: Submission) -> Submission | None:
    if not _count_death(held):
        return None
    log.error("the scorer of submission %s died (%s. time)", held.pk, held.deaths + 1)
    return None if fail_if_spent(held.pk) else held


def fail_overtime(wake_up_id: str, seconds: float) -> bool:
    """End the submission whose scorer was stopped for taking too long; trying again would take as long. Of several
    each is tried again in a turn of its own."""
    held = _held_by(wake_up_id)
    if len(held) != 1:
        _let_go(held)
        return False
    return _count_death(held[0]) and _fail(held[0].pk, Q(), TOO_LONG % {"seconds": f"{seconds:g}"})


def _held_by(wake_up_id: str) -> list[Submission]:
    claims = [claim_of(wake_up_id, number) for number in range(1, MAX_TRIES + 1)]
    return list(Submission.objects.filter(status=PENDING, claim__in=claims).select_related("competition"))


def _count_death(held: Submission) -> bool:
    """Release the claim of what died, with one death more."""
    mine = Submission.objects.filter(pk=held.pk, claim=held.claim, status=PENDING)
    return bool(mine.update(claim=None, lease_until=None, deaths=F("deaths") + 1))


def fail_spent_submissions(at_most: int = 200) -> None:
    """End what was tried too often: *failed*, attempt given back, hosts notified."""
    for pk in Submission.objects.filter(is_out_of_tries(), is_free()).values_list("pk", flat=True)[:at_most]:
        fail_if_spent(pk)


def fail_if_spent(submission_id: uuid.UUID) -> bool:
    """End one row if it is spent and free."""
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
    """Return the attempt of a file that did not count; where that is our fault (not `is_invalid`), notify its hosts."""
    if submission.team_id is not None:
        zone = Competition.objects.filter(pk=submission.competition_id).values_list("zone", flat=True).get()
        day = submission.received_at.astimezone(ZoneInfo(zone)).date()
        DailyAttempts.return_attempt(submission.team_id, day)
    if not is_invalid:
        transaction.on_commit(lambda: hooks.scoring_failed(submission_id=submission.pk))


HEARD_WITHIN = timedelta(seconds=30)
FORGOTTEN_AFTER = timedelta(hours=1)
# From here on somebody should look; a supervisor restarts workers that hold nothing meanwhile.
PENDING_TOO_LONG = 60.0


def report_worker() -> None:
    """Say that this process is at work; forget those who have been silent for long."""
    fields: dict[str, Any] = {"last_seen_at": Now(), "version": __version__}
    host, process = socket.gethostname()[:200], os.getpid()
    if Worker.objects.filter(host=host, process=process).update(**fields):
        return
    with transaction.atomic():
        Worker.objects.filter(last_seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
        Worker.objects.update_or_create(host=host, process=process, defaults=fields)


@dataclass(frozen=True)
class PendingFiles:
    """How many files wait, for how many seconds the oldest does, and how many are being measured."""

    number: int
    oldest: float | None
    in_hand: int


def pending_files() -> PendingFiles:
    """One query."""
    waiting = Submission.objects.filter(status=PENDING)
    found = waiting.aggregate(
        number=Count("pk"),
        # Slow files wait for each other; that they are measured is checked on its own.
        first=Min(waiting_since(), filter=Q(is_slow=False)),
        in_hand=Count("pk", filter=is_held()),
    )
    return PendingFiles(found["number"], seconds_since(found["first"]), found["in_hand"])


def log_stuck_queue() -> bool:
    """Write into the log that files wait while nobody measures any; for machines where nobody restarts a worker."""
    queue = pending_files()
    if queue.in_hand or (queue.oldest or 0) <= PENDING_TOO_LONG:
        return False
    log.error("%s files wait, the oldest for %.0f s, and no worker has any in hand", queue.number, queue.oldest)
    return True


def seconds_since(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, round((database_now() - moment).total_seconds(), 1))
