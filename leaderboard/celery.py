"""The bell: Celery carries wake-ups, the database is the queue of record (design: the way of a submission)."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import beat_init, worker_process_init, worker_ready

from . import lifeline

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

app = Celery("leaderboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["leaderboard"])


@worker_process_init.connect
def _end_with_the_worker(**_: object) -> None:
    lifeline.die_with_leader()


@worker_ready.connect
@beat_init.connect
def _tell_ready(**_: object) -> None:
    lifeline.tell_ready()
