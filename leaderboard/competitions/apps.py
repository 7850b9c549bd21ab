"""App configuration: the site's processes never inspect a metric file of the operator; sealed processes do."""

from __future__ import annotations

from django.apps import AppConfig


class CompetitionsConfig(AppConfig):
    name = "leaderboard.competitions"

    def ready(self) -> None:
        from metrics.core import custom

        custom.set_inspector(None)
