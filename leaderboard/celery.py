"""Celery carries wake-ups for workers; the database is the queue of record."""

from __future__ import annotations

import logging.config
import os

import django
from celery import Celery
from celery.signals import import_modules, setup_logging
from django.conf import settings

from leaderboard.common import child_processes

# Tasks that a page waits for go here, so that they and the scoring of files do not wait for each other.
PAGES_QUEUE = "pages"

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")


@setup_logging.connect
def _use_site_logging(**_: object) -> None:
    """Set up the site's logging. Celery sets up none while this signal has a receiver."""
    logging.config.dictConfig(settings.LOGGING)


@import_modules.connect
def _set_up_django(**_: object) -> None:
    django.setup()


# Celery's own Django fixup closes the database after every task. Closing the last connection to SQLite writes its log
# back, which took four times as long as scoring a file; connections stay open here, as they do between web requests.
app = Celery("leaderboard", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
# Tasks of `PAGES_QUEUE`, also those that wait for other servers.
FOR_PAGES = {
    "leaderboard.accounts.tasks.fetch_provider_metadata": 0,
    "leaderboard.competitions.tasks.answer_page": 6,
    "leaderboard.submissions.tasks.preview_conversion": 6,
    "leaderboard.notifications.tasks.send_due_emails": 0,
    "leaderboard.lti.tasks.ask_platforms": 0,
}
"""Tasks with their priority, 0 before 9: an e-mail goes in seconds however many forms wait."""
app.conf.task_routes = {name: {"queue": PAGES_QUEUE, "priority": FOR_PAGES[name]} for name in FOR_PAGES}
if child_processes.current_part() not in ("worker", "pages"):
    # A process that only sends wake-ups waits less for a frozen broker: it tries twice, so an upload is answered
    # within 3 s. A worker listens for a second at a time and needs more than that.
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, "socket_timeout": 1.0}
app.autodiscover_tasks(
    [
        f"leaderboard.{name}"
        for name in ("accounts", "boards", "competitions", "lti", "notifications", "operations", "submissions")
    ]
)
app.autodiscover_tasks(["leaderboard.submissions"], related_name="worker")
