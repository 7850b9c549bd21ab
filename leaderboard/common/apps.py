"""App configuration: finds the functions that are called at hooks."""

from __future__ import annotations

from django.apps import AppConfig

from .hooks import import_listeners


class CommonConfig(AppConfig):
    name = "leaderboard.common"

    def ready(self) -> None:
        import_listeners()
