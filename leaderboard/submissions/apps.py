"""App configuration: registers the hooks of submissions with the apps below."""

from __future__ import annotations

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "leaderboard.submissions"

    def ready(self) -> None:
        from leaderboard.competitions import hooks

        from . import tasks

        hooks.due_tasks.append(tasks.find_due)
