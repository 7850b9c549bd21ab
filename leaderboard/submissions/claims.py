"""Claims of submissions: taken by workers, released, and ended by the deaths of workers and scorers."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from leaderboard.common.claims import Claim, called_during_lease, claim_key, fields_of_claim, has_lease, has_no_lease
from leaderboard.common.prepared_queries import PreparedUpdate
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, DailyAttempts, Submission, Team

log = logging.getLogger(__name__)

MAX_TRIES = 5
MAX_DEATHS = 3

# Stored with a file in English; `Submission.failure_text` translates them for the reader.
OUR_FAULT = gettext_noop("Scoring failed through no fault of your file. We told the host and returned your attempt.")
TOO_LONG = gettext_noop("Scoring took longer than %(seconds)s s. We told the host and returned your attempt.")


def _ignore_lost_lease() -> None:
    """Do nothing, in processes that cannot stop the scorer: its result will be discarded."""


# Called when a process has lost its lease. Workers stop their scorer, which also ends a computation outside of Python.
on_lease_lost: Callable[[], None] = _ignore_lost_lease


def is_held() -> Q:
    """Condition for submissions that a worker is scoring now."""
    return Q(status=Submission.Status.PENDING) & has_lease()


def is_free() -> Q:
    """Condition for pending submissions that no worker is scoring."""
    return Q(status=Submission.Status.PENDING) & has_no_lease()


def is_out_of_tries() -> Q:
    """Condition for submissions that were tried, or whose scorer died, too often ("spent")."""
    return Q(tries__gte=MAX_TRIES) | Q(deaths__gte=MAX_DEATHS)


def claimable_rows() -> QuerySet[Submission]:
    """Submissions that are free and not spent, of teams of which no other file is being scored."""
    busy_teams = Submission.objects.filter(is_held(), team__isnull=False).order_by().values("team")
    return Submission.objects.filter(is_free()).exclude(team__in=busy_teams).exclude(is_out_of_tries())


# --- claim and lease --------------------------------------------------------------------------------------------


def claim_submissions(
    submissions: Sequence[Submission], wake_up_id: str | uuid.UUID | None = None
) -> dict[uuid.UUID, Claim]:
    """Claim rows of different teams that were tried equally often, by compare-and-set; returns row → claim.

    Left out are rows that are final, deleted, held, spent or were tried meanwhile, and rows whose team has another file
    being scored.
    """
    keys, tries = [submission.pk for submission in submissions], submissions[0].tries
    key = claim_key(wake_up_id or uuid.uuid4(), tries + 1)
    with transaction.atomic():
        lock_teams_of(keys)
        number = _claim.run(keys=keys, tries=tries, key=key)
    if 0 < number < len(keys):
        keys = list(Submission.objects.filter(pk__in=keys, claim=key).values_list("pk", flat=True))
    return {pk: Claim(Submission, pk, key) for pk in keys} if number else {}


def lock_teams_of(keys: Sequence[uuid.UUID]) -> None:
    """Lock the teams of files, so that two workers neither claim two files of a team at once nor wait for each other's
    files in a ring."""
    if connection.features.has_select_for_update:  # SQLite has one writer at a time anyway
        teams = Team.objects.filter(submissions__in=keys).order_by("pk")
        list(teams.select_for_update(of=("self",), no_key=True).values_list("pk"))


@PreparedUpdate
def _claim(keys: list[uuid.UUID], tries: int, key: uuid.UUID) -> tuple[QuerySet[Submission], dict[str, Any]]:
    return claimable_rows().filter(pk__in=keys, tries=tries), fields_of_claim(key)


def extended_leases(claims: Iterable[Claim]) -> AbstractContextManager[None]:
    """Extend leases while the block runs; calls `on_lease_lost` if one of them is lost."""

    def extend() -> bool:
        return all([claim.extend() for claim in claims])

    def stop_scorer() -> None:
        rows = ", ".join(str(claim.row) for claim in claims)
        log.error("submissions %s: a lease was lost, so their scorer is stopped", rows)
        on_lease_lost()

    return called_during_lease(extend, stop_scorer)


def claims_of_worker(wake_up_id: str) -> list[Claim]:
    """The claims of the worker that was woken by this message."""
    keys = [claim_key(wake_up_id, number) for number in range(1, MAX_TRIES + 1)]
    return [Claim(Submission, *row) for row in Submission.objects.filter(claim__in=keys).values_list("pk", "claim")]


# --- deaths and failures ----------------------------------------------------------------------------------------


def end_claims_of_worker(wake_up_id: str, failure: str = "") -> Submission | None:
    """End the claims of a dead worker, given the message that woke it; returns a submission to try again, or None.

    A death is counted only if the worker held a single file, which fails at once if a `failure` is given. Of several
    files the cause is unknown, so each of them is tried again in a turn alone. A second call counts no second death,
    because the claim is gone by then.
    """
    claims = claims_of_worker(wake_up_id)
    if len(claims) == 1 and failure:
        fail_submission(claims[0].row, claims[0].rows, failure)
    elif len(claims) == 1:
        count_death(claims[0])
    else:
        for claim in claims:
            claim.finish()
    pending = Submission.objects.filter(pk__in=[claim.row for claim in claims], status=Submission.Status.PENDING)
    return pending.select_related("competition").first()


def count_death(claim: Claim) -> bool:
    """End a claim whose scorer died, and count the death; True if the submission may be tried again.

    False if this death was one too many, so that the submission has failed, or if the claim was lost before.
    """
    if not claim.finish(deaths=F("deaths") + 1):
        return False
    log.error("the scorer of submission %s died", claim.row)
    return not fail_if_spent(claim.row)


def fail_spent_submissions(at_most: int = 200) -> None:
    """Fail submissions that were tried too often; attempts are returned and hosts notified."""
    for pk in Submission.objects.filter(is_out_of_tries(), is_free()).values_list("pk", flat=True)[:at_most]:
        fail_if_spent(pk)


def fail_if_spent(submission_id: uuid.UUID) -> bool:
    """Fail one submission if it is spent and free; True if that was done."""
    return fail_submission(submission_id, Submission.objects.filter(is_out_of_tries(), is_free()), OUR_FAULT)


@transaction.atomic
def fail_submission(submission_id: uuid.UUID, rows: QuerySet[Submission], failure: str) -> bool:
    """Fail a submission if it is still among `rows`, return its attempt, notify the hosts; True if that was done."""
    if not rows.filter(pk=submission_id).update(
        status=Submission.Status.FAILED, failure=failure, claim=None, lease_until=None, finished_at=Now()
    ):
        return False
    submission = Submission.objects.get(pk=submission_id)
    log.error("submission %s failed after %s tries and %s deaths", submission_id, submission.tries, submission.deaths)
    return_attempt(submission)
    notify_hosts_of_failure(submission_id)
    return True


def return_attempt(submission: Submission) -> None:
    """Return the attempt of a file that was not scored."""
    if submission.team_id is not None:
        zone = Competition.objects.filter(pk=submission.competition_id).values_list("zone", flat=True).get()
        day = submission.received_at.astimezone(ZoneInfo(zone)).date()
        DailyAttempts.return_attempt(submission.team_id, day)


def notify_hosts_of_failure(submission_id: uuid.UUID) -> None:
    transaction.on_commit(lambda: hooks.scoring_failed(submission_id=submission_id))
