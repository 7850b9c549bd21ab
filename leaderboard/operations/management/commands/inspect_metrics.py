"""`manage.py inspect_metrics`: have the new files of METRICS_DIR loaded by sealed processes, one after the other."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.scoring.custom_metrics import inspect_sealed
from metrics.core import custom


class Command(BaseCommand):
    help = "Load the new metric files of METRICS_DIR in sealed processes and keep what they say about themselves."

    def handle(self, **options: Any) -> None:
        before = custom.set_inspector(inspect_sealed)
        try:
            custom.list_custom_files()
        finally:
            custom.set_inspector(before)
