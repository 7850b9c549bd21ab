"""`manage.py score_slow_files`: score the files that take too long for the queue, one after the other.

A worker starts it when there is such a file, and goes on with other files meanwhile.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.scoring import client
from leaderboard.submissions import claims, outside_queue


class Command(BaseCommand):
    help = "Score the files that take too long for the queue, one after the other."

    def handle(self, **options: Any) -> None:
        claims.on_lease_lost = client.stop_scorer
        outside_queue.score_slow_files()
