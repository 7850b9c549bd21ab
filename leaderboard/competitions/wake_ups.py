"""Wake-ups for workers: tasks are sent by name, so that a room can wake a worker for work of a room above.

A message is only a wake-up; the rows in the database are the queue, so a lost message is repeated by the sweep.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from kombu.exceptions import OperationalError as BrokerError

from leaderboard.celery import app
from leaderboard.common.broker import is_broker_left_alone, leave_broker_alone, queue_length

log = logging.getLogger(__name__)

ANSWER_PAGE = "leaderboard.competitions.tasks.answer_page"
SWEEP = "leaderboard.competitions.tasks.sweep"
SCORE_NEXT_SUBMISSIONS = "leaderboard.submissions.tasks.score_next_submissions"
RESCORE_CANDIDATE = "leaderboard.submissions.tasks.rescore_candidate"
SCORE_PREVIEW = "leaderboard.submissions.tasks.score_preview"
PREVIEW_CONVERSION = "leaderboard.submissions.tasks.preview_conversion"

# Version of the messages. Workers ignore messages of another version; the row is left to newer workers.
SCHEMA = 1
# Seconds until a message of the sweep expires; the next sweeps send it again. Otherwise repetitions would pile up.
SWEEP_MESSAGE_LIFETIME = 20
# With this many messages in the broker all workers are awake already.
MAX_WAKE_UPS = 32


def has_known_schema(task: Any) -> bool:
    """Whether a message has the version that this worker knows; others are ignored and logged, their rows stay."""
    schema = str((task.request.headers or {}).get("schema", SCHEMA))
    if schema == str(SCHEMA):
        return True
    log.warning("a message of another form (%r) was left alone; this worker knows %s", schema, SCHEMA)
    return False


def wake_workers(task: str, *arguments: object, expires: float | None = None) -> bool:
    """Send a wake-up for a task, by name, now; False if the broker does not take it. The sweep repeats lost ones."""
    ids = [a if isinstance(a, int) else str(a) for a in arguments]
    try:
        if is_broker_left_alone() and not expires:  # requests do not wait for the broker; the sweep may
            raise BrokerError("it gave no answer a moment ago")
        app.send_task(task, args=ids, expires=expires, headers={"schema": SCHEMA})
    except Exception as error:
        if isinstance(error, BrokerError) and not is_broker_left_alone():
            leave_broker_alone()
        log.warning("the broker took no message (%s); the sweep will find the row", error)
        return False
    return True


def are_all_workers_awake() -> bool:
    """Whether so many wake-ups wait that another one is not needed: a worker goes on until no file waits."""
    length = None if is_broker_left_alone() else queue_length()
    if length is None:
        leave_broker_alone()
    return (length or 0) >= MAX_WAKE_UPS


def wake_workers_after_commit(task: str, *arguments: object) -> None:
    """Send a wake-up after the transaction is committed."""
    transaction.on_commit(lambda: wake_workers(task, *arguments))
