"""`manage.py score_slow_files`: score the files that take too long for the queue, one after the other.

A worker starts it when there is such a file, and goes on with other files meanwhile.
"""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard import scoring
from leaderboard.common import child_processes
from leaderboard.submissions import claims, score

NICENESS = 5
"""Added to the worker's niceness, so that quick files get the processor first."""


class Command(BaseCommand):
    help = "Score the files that take too long for the queue, one after the other."

    def handle(self, **options: Any) -> None:
        if child_processes.current_part():  # a worker started it and may be killed
            child_processes.die_with(os.getppid())
        os.nice(NICENESS)
        claims.on_lease_lost = scoring.stop_scorer
        score.score_slow_files()
