"""Settings without which files are lost, locked out or run as code: each was measured, so each is held to."""

from __future__ import annotations

import gc

import pytest
from celery.signals import worker_init
from django.conf import LazySettings
from kombu.transport import redis as broker
from kombu.transport import virtual

import leaderboard.operations.worker_processes  # noqa: F401 - listens to signals of workers
from leaderboard.celery import app
from leaderboard.submissions import score


def test_messages_are_ids_in_json_and_nothing_else_is_read(settings: LazySettings) -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == app.conf.result_serializer == "json"
    assert app.conf.task_ignore_result


def test_a_worker_takes_one_message_at_a_time() -> None:
    assert app.conf.worker_prefetch_multiplier == 1


def test_a_wake_up_without_a_noted_receipt_does_not_count_as_in_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a worker that takes one at a time would take none any more."""
    monkeypatch.setattr(broker.Channel, "QoS", broker.QoS)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    worker_init.send(None)

    class Gone:
        do_restore = False

        def conn_or_acquire(self, client: object) -> None:
            raise ConnectionError

    hands = broker.Channel.QoS(Gone(), prefetch_count=1)
    virtual.QoS.append(hands, object(), "wake-up")
    assert not hands.can_consume()
    with pytest.raises(ConnectionError):
        hands.ack("wake-up")
    assert hands.can_consume()


def test_a_task_ends_half_a_minute_after_the_time_of_its_metric(settings: LazySettings) -> None:
    assert score.FINISH_SECONDS < settings.CELERY_TASK_TIME_LIMIT == settings.SCORING_TIME_LIMIT + 30


def test_what_is_loaded_before_the_first_fork_is_left_alone_by_the_collector() -> None:
    """A collection would write into each object, and worker and pool would no longer share any of those pages."""
    worker_init.send(sender=None)
    try:
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
