"""What operations add to the apps below."""

from __future__ import annotations

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "leaderboard.operations"

    def ready(self) -> None:
        from leaderboard.competitions import hooks

        from . import tasks

        hooks.demo_looked_at.append(tasks.move_demo)
